"""How much of each type may come (B2): by the server's word on type and length, and by what really comes."""

from collections.abc import Mapping, Sequence


class Sizes:
    """Limits in bytes by MIME type or family ("video/*"); 0 = not wanted at all. All other types have `most`."""

    def __init__(self, most: int, types: Mapping[str, int] = {}) -> None:
        self.most = most
        self.types = types

    def of(self, mime: str) -> int | None:
        """The limit of a type that has one of its own."""
        own = self.types.get(mime)
        return self.types.get(f"{mime.partition('/')[0]}/*") if own is None else own

    def look(self, lines: Sequence[bytes]) -> tuple[str, int | None, int]:
        """What the lines of a head say: the type, its own limit if it has one, and the length (0 = not told)."""
        mime, length = "", 0
        if self.types:
            for line in lines:
                name = line[:15].lower()
                if name.startswith(b"content-type:"):
                    mime = line[13:].partition(b";")[0].decode("latin-1").strip().lower()
                elif name.startswith(b"content-length:"):
                    told = line[15:].strip()
                    length = int(told) if told.isdigit() else 0
        return mime, self.of(mime), length
