"""Which shards belong to a library: each carries a random id, and library.db lists the id of each by name.

A shard that is missing, empty, swapped with another or taken from another library is named before anything is opened
for writing: a crawl would otherwise start again from nothing. Libraries that are older than the list get it when they
are next locked for writing.
"""

import contextlib
import secrets
import sqlite3
from pathlib import Path

import msgspec

from analecta.errors import ResourceError
from analecta.store.checksums import log_of
from analecta.store.partition import Shard
from analecta.store.schema import SHARDS_TABLE, MetaKey
from analecta.store.sqlite import connect, has_table, meta_value


class ShardEntry(msgspec.Struct, frozen=True):
    """What library.db says of a shard; `made` is set once the shard itself carries the id."""

    id: str
    made: bool


def shard_name(partition: int) -> str:
    """The file name of a partition's shard."""
    return f"p{partition:02d}.db"


def claim(folder: Path, make: bool = False) -> None:
    """Give every shard that has none an id and list it; `make` creates those that were never made."""
    names, listed = _listed(folder)
    if all(name in listed and listed[name].made for name in names):
        return
    with contextlib.closing(connect(folder / "library.db")) as db:
        db.execute(SHARDS_TABLE)
        for name in names:
            path = folder / "shards" / name
            if (name not in listed or not listed[name].made) and (make or path.exists()):
                # The list comes first: a kill in between leaves a shard without its id, which is then given it.
                db.execute("INSERT OR IGNORE INTO shards VALUES (?, ?, 0)", (name, secrets.token_hex(16)))
                with contextlib.closing(Shard(path)) as shard:
                    shard.put(MetaKey.SHARD, db.execute("SELECT id FROM shards WHERE name = ?", (name,)).fetchone()[0])
                    shard.commit()
                db.execute("UPDATE shards SET made = 1 WHERE name = ?", (name,))


def restore_id(folder: Path, name: str, shard: sqlite3.Connection) -> None:
    """Give a rebuilt shard the id that library.db lists for it."""
    if known := _listed(folder)[1].get(name):
        shard.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (MetaKey.SHARD, known.id))


def restore_list(folder: Path) -> None:
    """List the shards that are there again, where library.db had to be rebuilt and lost part of its list."""
    names = sorted(path.name for path in (folder / "shards").glob("p*.db"))
    with contextlib.closing(connect(folder / "library.db")) as db:
        db.execute(SHARDS_TABLE)
        db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (MetaKey.PARTITIONS, len(names)))
        for name in names:
            if id := _id_of(folder / "shards" / name):
                db.execute("INSERT OR IGNORE INTO shards VALUES (?, ?, 1)", (name, id))


def check(folder: Path) -> None:
    """Raise, in a sentence, what is missing from a library or does not belong to it."""
    if found := problems(folder):
        more = f" (and {len(found) - 1} more: {'; '.join(found[1:])})" if len(found) > 1 else ""
        raise ResourceError(f"{found[0]}{more}. Nothing was changed")


def problems(folder: Path, strict: bool = True) -> list[str]:
    """What is missing or foreign, a sentence each; not `strict`: only what `verify --repair` cannot rebuild."""
    shards = folder / "shards"
    there = sorted(path.name for path in shards.glob("p*.db"))
    if not (folder / "library.db").exists():
        kept = f"its shards are still there ({', '.join(there)})" if there else "it has no shards either"
        return [f"{folder}/library.db is missing, and {kept}: put library.db back from a copy of this library"]
    names, listed = _listed(folder)
    found = [_extra(shards / name, len(names)) for name in there if name not in names]
    for name in names:
        if said := _gone(shards / name, listed.get(name), folder / "archive"):
            found += [said] * strict
        elif name in listed and (shards / name).exists():
            with contextlib.nullcontext() if strict else contextlib.suppress(ResourceError):
                found += _foreign(shards / name, listed)
    if not (folder / "archive").is_dir() and any(_has_records(shards / name) for name in there):
        found.append(f"{folder}/archive is missing, where the WARC files of {len(there)} shards are: put it back")
    return found


def lost(folder: Path) -> dict[str, str]:
    """The shards that are missing or empty and should not be, by name, each with a sentence."""
    names, listed = _listed(folder)
    found = {name: _gone(folder / "shards" / name, listed.get(name), folder / "archive") for name in names}
    return {name: words for name, words in found.items() if words}


def _listed(folder: Path) -> tuple[list[str], dict[str, ShardEntry]]:
    """The names of the shards, and the list of them in library.db; empty where the library is older than that."""
    with contextlib.closing(connect(folder / "library.db", readonly=True)) as db:
        names = [shard_name(n) for n in range(int(meta_value(db, MetaKey.PARTITIONS, 0)))]
        rows = db.execute("SELECT name, id, made FROM shards").fetchall() if has_table(db, "shards") else []
    return names, {name: ShardEntry(id, bool(made)) for name, id, made in rows}


def _extra(path: Path, partitions: int) -> str:
    return (
        f"{path} does not belong to this library, which has {partitions} shard{'' if partitions == 1 else 's'}: "
        "move it away"
    )


def _gone(path: Path, listed: ShardEntry | None, archive: Path) -> str:
    """What is wrong with a shard that is missing or empty; "" where it is there, or was never made."""
    was_made = listed.made if listed else any(archive.glob(f"{path.stem}-*.warc.gz"))
    if not was_made or (path.exists() and (path.stat().st_size or log_of(path))):
        return ""
    what = "is empty" if path.exists() else "is missing"
    return (
        f"{path} {what}: put it back from a copy of this library, or, where there is no copy, let "
        f"`analecta verify {path.parents[1]} --repair` rebuild it from the archive"
    )


def _foreign(path: Path, listed: dict[str, ShardEntry]) -> list[str]:
    expected, id = listed[path.name], _id_of(path)
    if id == expected.id or (not id and not expected.made):
        return []
    wanted = f"expected the shard with id {expected.id[:8]}, found {id[:8] if id else 'one without id'}"
    for name, other in listed.items():
        if other.id == id:
            return [f"{path} is {name} of this library ({wanted}): give each shard its own name back"]
    return [f"{path} is from another library ({wanted}): put this library's own {path.name} back"]


def _id_of(path: Path) -> str:
    """The id that a shard carries; "" where it has none."""
    return str(_ask(path, "meta", f"SELECT value FROM meta WHERE key = '{MetaKey.SHARD}'") or "")


def _has_records(path: Path) -> bool:
    return bool(_ask(path, "files", "SELECT sum(length) FROM files"))


def _ask(path: Path, table: str, query: str) -> object:
    """The value that a query finds; None where there is none, or the file has no such table yet."""
    with contextlib.closing(connect(path, readonly=True)) as db:
        try:
            row = db.execute(query).fetchone() if has_table(db, table) else None
        except sqlite3.DatabaseError as error:
            repair = f"`analecta verify {path.parents[1]} --repair`"
            raise ResourceError(f"{path} is damaged ({error}): put it back from a copy, or run {repair}") from error
    return row[0] if row else None
