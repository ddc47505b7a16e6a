"""Firefox' compressed backups, `bookmarks-….jsonlz4`: the word mozLz40, the size, then one block of LZ4."""

from pathlib import Path

from analecta.errors import BadUse
from analecta.sources.files import MAX_BYTES

MAGIC = b"mozLz40\0"


def unpacked(data: bytes, path: Path) -> bytes:
    """The bytes of a backup; other bytes as they are."""
    if not data.startswith(MAGIC):
        return data
    size = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "little")
    if size > MAX_BYTES:
        raise BadUse(f"{path} unpacks to more than {MAX_BYTES // 1_000_000} MB")
    # pyarrow, which we have for Parquet, brings LZ4; it takes 0.2 s to import: only who has a backup pays for it.
    import pyarrow as pa

    try:
        return bytes(pa.Codec("lz4_raw").decompress(data[len(MAGIC) + 4 :], size, asbytes=True))
    except (OSError, ValueError) as error:
        raise BadUse(f"{path} is a damaged Firefox backup: {error}") from error
