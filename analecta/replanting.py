"""Pages, URLs and examples that follow the topics when a person changes the tree.

What a crawl has written down names topics by number. When a topic is split or a split is undone, the pages move with
it at once; whoever holds an example in the settings holds it here too, and nobody else does. The next crawl learns
anew, and its judge looks at the pages again.
"""

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from analecta.frontier.policy import SEED_PRIORITY
from analecta.model import OTHERS, Found
from analecta.seed.gathering import BELOW
from analecta.settings import Settings
from analecta.store.library import Library
from analecta.store.shard import Shard
from analecta.urls import canonical

_ORDINARY = 0.5  # what a URL is worth of which nothing is known any more
_EXAMPLES = "SELECT id, found, parent, topic FROM urls WHERE priority >= ?"
_topics_of = msgspec.msgpack.Decoder(tuple[tuple[int, float], ...]).decode


def replant(library: Library, settings: Settings, moved: Mapping[int, str] = {}) -> None:
    """Let what was crawled agree with the topics of the settings; `moved` are pages by id, with their new topics.

    Pages of a topic that is gone go to the nearest one above it. The caller holds the library.
    """
    names = library.topic_names(tuple(topic.name for topic in settings.topics))
    homes = _homes(names, {topic.name for topic in settings.topics})
    numbers = {id: names.index(name) for id, name in moved.items()}
    with _shards(library) as shards:
        wanted = _wanted(settings, names)
        examples = {row[0]: row for shard in shards for row in shard.db.execute(_EXAMPLES, (SEED_PRIORITY,))}
        for shard in shards:
            _move_home(shard.db, homes)
            _move_pages(shard.db, numbers, names)
            _agree(shard.db, examples, wanted)
            queued = shard.db.execute("SELECT topic, count(*) FROM urls WHERE state = 0 GROUP BY topic").fetchall()
            shard.put("queued", msgspec.json.encode(dict(queued)))
        gone = [] if any(_letters(shard.db) for shard in shards) else _unused(shards, names, homes)
        for shard in shards:
            shard.commit()
    _forget(library, gone)


def page_counts(library: Library) -> dict[str, int]:
    """How many pages each topic has, also such as the settings no longer name."""
    counts = dict.fromkeys(library.topic_names(), 0)
    names = list(counts)
    with library.shards() as shards:
        for shard in shards:
            for topic, count in shard.execute("SELECT topic, count(*) FROM pages WHERE topic >= 0 GROUP BY topic"):
                if topic < len(names):
                    counts[names[topic]] += count
    return counts


@contextlib.contextmanager
def _shards(library: Library) -> Iterator[list[Shard]]:
    """The partitions, to be written to."""
    with contextlib.ExitStack() as stack:
        paths = (library.shard_path(n) for n in range(library.partitions))
        yield [stack.enter_context(contextlib.closing(Shard(path))) for path in paths if path.exists()]


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


def _move_pages(db: sqlite3.Connection, moved: Mapping[int, int], names: Sequence[str]) -> None:
    """Pages go from a topic to one below it; what the judge has put elsewhere since stays there."""
    above = {n: _above(names, n) for n in set(moved.values())}
    for id, new in moved.items():
        row = db.execute("SELECT seq, topics FROM pages WHERE id = ? AND topic = ?", (id, above[new])).fetchone()
        if row:
            packed = _renumbered(row[1], {above[new]: new}) if row[1] else None
            db.execute("UPDATE pages SET topic = ?, topics = ? WHERE seq = ?", (new, packed, row[0]))


def _above(names: Sequence[str], number: int) -> int:
    name = names[number].rpartition(BELOW)[0]
    return names.index(name) if name in names else OTHERS


# --- examples --------------------------------------------------------------------------------------------------------


def _wanted(settings: Settings, names: Sequence[str]) -> dict[int, int]:
    """The topic of each page that the settings call an example, by its id."""
    given = [(url, OTHERS) for url in settings.others.seeds]
    given += [(url, names.index(topic.name)) for topic in settings.topics for url in topic.seeds]
    return {target.id: topic for url, topic in given if (target := canonical(url)) is not None}


def _agree(
    db: sqlite3.Connection, examples: Mapping[int, tuple[int, int, int, int]], wanted: Mapping[int, int]
) -> None:
    """Examples are of the topic that the settings say, and those that they do not name are pages like others."""
    for id, _, _, topic in db.execute(_EXAMPLES, (SEED_PRIORITY,)).fetchall():
        new = wanted.get(id, wanted.get(_origin(id, examples)))
        if new is None:
            db.execute("UPDATE urls SET priority = ? WHERE id = ?", (_ORDINARY, id))
        elif new != topic:
            db.execute("UPDATE urls SET topic = ? WHERE id = ?", (new, id))
            if new >= 0:  # an example is on topic because a person says so
                change = "UPDATE pages SET topic = ?, topics = NULL WHERE id = ? AND topic >= 0"
                db.execute(change, (new, id))


def _origin(id: int, examples: Mapping[int, tuple[int, int, int, int]]) -> int:
    """The address that a person gave for a page, of which redirects led to it."""
    seen: set[int] = set()
    while id in examples and examples[id][1] == Found.REDIRECT and id not in seen:
        seen.add(id)
        id = examples[id][2]
    return id


# --- topics that are gone --------------------------------------------------------------------------------------------


def _letters(db: sqlite3.Connection) -> bool:
    """Whether links to other partitions are on their way, with numbers of topics in them."""
    return db.execute("SELECT 1 FROM outbox").fetchone() is not None


def _unused(shards: Sequence[Shard], names: Sequence[str], homes: Mapping[int, int]) -> list[int]:
    """Topics at the end of the list that are gone and to which nothing refers: their numbers may be given anew."""
    gone: list[int] = []
    for n in reversed(range(len(names))):
        query = "SELECT 1 FROM pages WHERE topic = ? UNION ALL SELECT 1 FROM urls WHERE topic = ?"
        if n not in homes or any(shard.db.execute(query, (n, n)).fetchone() for shard in shards):
            break
        gone.append(n)
    return gone


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
