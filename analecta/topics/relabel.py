"""Pages, URLs and examples that follow the topics when a person splits one or takes that back.

What a crawl has written down names topics by number. When a topic is split or a split is undone, the pages move with
it at once, and so do the examples (learning/examples.py). The next crawl learns anew, and its judge looks at the pages
again.
"""

import sqlite3
from collections.abc import Mapping, Sequence, Set

import msgspec

from analecta.learning.examples import follow, writing
from analecta.model import BELOW, OTHERS
from analecta.settings.schema import Settings
from analecta.store.library import Library
from analecta.store.partition import Shard

_topics_of = msgspec.msgpack.Decoder(tuple[tuple[int, float], ...]).decode


def replant(library: Library, settings: Settings, moved: Mapping[int, tuple[str, str]]) -> None:
    """Let what was crawled agree with the topics of the settings; `moved` are pages by id: from which topic to which.

    Pages of a topic that is gone go to the nearest one above it. The caller holds the library.
    """
    names = library.topic_names(tuple(topic.name for topic in settings.topics))
    homes = _homes(names, {topic.name for topic in settings.topics})
    number = {name: n for n, name in enumerate(names)}
    ways = {id: (number[old], number[new]) for id, (old, new) in moved.items()}
    with writing(library) as shards:
        for shard in shards:
            _move_home(shard.db, homes)
            _move_pages(shard.db, ways)
        follow(shards, settings, names)
        gone = [] if any(_letters(shard.db) for shard in shards) else _unused(shards, names, homes)
        for shard in shards:
            shard.commit()
    _forget(library, gone)


def page_counts(library: Library) -> dict[str, int]:
    """How many pages each topic has, also such as the settings no longer name."""
    with library.snapshot() as snapshot:
        return {topic.name: topic.pages for topic in snapshot.topics()}


def pages_on(library: Library, topic: str, ids: Set[int]) -> list[int]:
    """Those of some pages that are on a topic now."""
    number = library.topic_names((topic,)).index(topic)
    with library.snapshot() as snapshot:
        return [id for id in snapshot.page_ids(number) if id in ids]


def _homes(names: Sequence[str], wanted: set[str]) -> dict[int, int]:
    """Of topics that are gone, the number of the nearest topic above; OTHERS where there is none."""
    numbers = {name: n for n, name in enumerate(names)}
    found = {}
    for name, n in numbers.items():
        above = name
        while above and above not in wanted:
            above = above.rpartition(BELOW)[0]
        if above != name:
            found[n] = numbers[above] if above else OTHERS
    return found


def _move_home(db: sqlite3.Connection, homes: Mapping[int, int]) -> None:
    """Pages and URLs of topics that are gone; where there is nothing above, they stay as they are."""
    known = {old: new for old, new in homes.items() if new != OTHERS}
    if not known:
        return
    rows = db.execute("SELECT seq, topics FROM pages WHERE topics IS NOT NULL").fetchall()
    db.executemany("UPDATE pages SET topics = ? WHERE seq = ?", [(_renumbered(b, known), seq) for seq, b in rows])
    for table in ("pages", "urls"):
        db.executemany(f"UPDATE {table} SET topic = ? WHERE topic = ?", [(new, old) for old, new in known.items()])


def _renumbered(packed: bytes, numbers: Mapping[int, int]) -> bytes | None:
    """The topics of a page by other numbers; None where they have become one."""
    sure: dict[int, float] = {}
    for topic, confidence in _topics_of(packed):
        sure.setdefault(numbers.get(topic, topic), confidence)
    return msgspec.msgpack.encode(tuple(sure.items())) if len(sure) > 1 else None


def _move_pages(db: sqlite3.Connection, ways: Mapping[int, tuple[int, int]]) -> None:
    """Pages go from a topic to one below it, or back; what the judge has put elsewhere since stays there."""
    for id, (old, new) in ways.items():
        row = db.execute("SELECT seq, topics FROM pages WHERE id = ? AND topic = ?", (id, old)).fetchone()
        if row:
            packed = _renumbered(row[1], {old: new}) if row[1] else None
            db.execute("UPDATE pages SET topic = ?, topics = ? WHERE seq = ?", (new, packed, row[0]))


# --- topics that are gone --------------------------------------------------------------------------------------------


def _letters(db: sqlite3.Connection) -> bool:
    """Whether links to other partitions are on their way, with numbers of topics in them."""
    return db.execute("SELECT 1 FROM outbox").fetchone() is not None


def _unused(shards: Sequence[Shard], names: Sequence[str], homes: Mapping[int, int]) -> list[int]:
    """Topics at the end of the list that are gone and to which nothing refers: their numbers may be given anew."""
    gone: list[int] = []
    for n in reversed(range(len(names))):
        if n not in homes or any(_refers(shard.db, n) for shard in shards):
            break
        gone.append(n)
    return gone


def _refers(db: sqlite3.Connection, topic: int) -> bool:
    """Whether a URL is of a topic, or a page, and be it besides others."""
    query = "SELECT 1 FROM pages WHERE topic = ? UNION ALL SELECT 1 FROM urls WHERE topic = ?"
    if db.execute(query, (topic, topic)).fetchone():
        return True
    rows = db.execute("SELECT topics FROM pages WHERE topics IS NOT NULL")
    return any(topic == one for (packed,) in rows for one, _ in _topics_of(packed))


def _forget(library: Library, gone: Sequence[int]) -> None:
    """Take topics off the list, with the history of their collections; the judge that knew them learns anew."""
    if not gone:
        return
    with library.database() as db:
        db.execute("BEGIN")
        db.executemany("DELETE FROM topics WHERE n = ?", [(n,) for n in gone])
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'history'").fetchone():
            db.executemany("DELETE FROM history WHERE topic = ?", [(n,) for n in gone])
        db.execute("DELETE FROM meta WHERE key = 'taught'")
        db.execute("COMMIT")
