"""What library.db holds besides the library itself: marks of a person, history, crawled sites."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappush, heappushpop

import msgspec
import xxhash

from analecta.model import FoundBy
from analecta.store.library import HistoryPoint, LibraryFolder
from analecta.store.schema import (
    CRAWLED_SITES_TABLE,
    FEEDBACK_TABLE,
    FEEDBACK_TEXT_COLUMN,
    SHOWABLE,
    MetaKey,
    unpack_topics,
)
from analecta.store.sqlite import columns_of, has_table

MARK = "+"  # in what MetaKey.TAUGHT holds it parts the digest of the examples from that of what was said
GOOD, BAD, DROP = "good", "bad", "drop"


class Mark(msgspec.Struct, frozen=True):
    """One thing said of one page.

    "good": it is an example of the topic. "bad": it is not of the topic, or of none where no topic is named; where
    `away` is set, it is an example of what is not meant. "drop": nothing is learnt from it. Where there is a `text`,
    that is learnt from instead of the page's: a person has trimmed it.
    """

    page: int  # its id
    url: str
    says: str
    topic: str = ""
    away: bool = False
    note: str = ""
    text: str = ""
    at: float = 0.0
    step: int = 0  # what was said by one command has one number, and is taken back together


def say(library: LibraryFolder, words: Sequence[Mark]) -> list[Mark]:
    """Write down what a person says, as one step."""
    now = time.time()
    with library.database() as db, db:  # all of it or nothing
        db.execute("BEGIN IMMEDIATE")
        db.execute(FEEDBACK_TABLE)
        if "text" not in columns_of(db, "feedback"):
            db.execute(FEEDBACK_TEXT_COLUMN)
        step = db.execute("SELECT coalesce(max(step), 0) + 1 FROM feedback").fetchone()[0]
        said = [msgspec.structs.replace(word, at=now, step=step) for word in words]
        insert = "INSERT INTO feedback (page, url, says, topic, away, note, text, at, step) VALUES (?,?,?,?,?,?,?,?,?)"
        db.executemany(insert, map(msgspec.structs.astuple, said))
    return said


def said(library: LibraryFolder) -> list[Mark]:
    """All that was said and not taken back, oldest first."""
    with library.database(readonly=True) as db:
        if not (columns := columns_of(db, "feedback")):
            return []
        text = "text" if "text" in columns else "''"
        rows = db.execute(f"SELECT page, url, says, topic, away, note, {text}, at, step FROM feedback ORDER BY n")
        return [Mark(page, url, says, topic, bool(away), *more) for page, url, says, topic, away, *more in rows]


def take_back(library: LibraryFolder) -> list[Mark]:
    """Take the last step back: what was said by it; nothing where no more is left."""
    words = said(library)
    gone = [word for word in words if word.step == words[-1].step]
    if gone:
        with library.database() as db:
            db.execute("DELETE FROM feedback WHERE step = ?", (gone[0].step,))
    return gone


def mark(words: Sequence[Mark]) -> str:
    """A digest of what was said; "" where nothing was."""
    spoken = [(word.page, word.says, word.topic, word.away, *filter(None, [word.text])) for word in words]
    return xxhash.xxh3_64_hexdigest(msgspec.json.encode(spoken)) if spoken else ""


def learnt(library: LibraryFolder) -> bool:
    """Whether the library's model has learnt from all that was said, and from nothing that was taken back."""
    return str(library.get(MetaKey.TAUGHT, "")).partition(MARK)[2] == mark(said(library))


def want_lesson(library: LibraryFolder) -> None:
    """Ask a crawl that runs to learn now."""
    library.put(MetaKey.LESSON_WANTED, time.time())


def lesson_wanted(library: LibraryFolder) -> float:
    """When somebody asked for a lesson that was not held yet; 0 where nobody did."""
    return float(library.get(MetaKey.LESSON_WANTED, 0.0))


def lesson_held(library: LibraryFolder, wanted: float) -> None:
    """It was held; what was asked for since stays asked for."""
    with library.database() as db:
        db.execute("DELETE FROM meta WHERE key = ? AND value <= ?", (MetaKey.LESSON_WANTED, wanted))


# --- models ----------------------------------------------------------------------------------------------------------


def adopt_model(
    library: LibraryFolder, model: str, kind: str, about: str, taught: str, also: Mapping[str, str] = {}
) -> None:
    """Make a model the one in use, in one transaction; `taught` is a digest of what it learned from.

    `also` are values of the meta table that become true with it.
    """
    values = {MetaKey.MODEL: model, MetaKey.TAUGHT: taught, **also}
    with library.database() as db, db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT OR IGNORE INTO models VALUES (?, ?, ?, ?)", (model, time.time(), kind, about))
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


def forget_topics(library: LibraryFolder, gone: Sequence[int]) -> None:
    """Take topics off the list, with the history of their collections; the judge that knew them learns again."""
    with library.database() as db:
        db.execute("BEGIN")
        db.executemany("DELETE FROM topics WHERE n = ?", [(n,) for n in gone])
        if has_table(db, "history"):
            db.executemany("DELETE FROM history WHERE topic = ?", [(n,) for n in gone])
        db.execute("DELETE FROM meta WHERE key = ?", (MetaKey.TAUGHT,))
        db.execute("COMMIT")


# --- The collector: while a crawl runs it writes down how good each topic's best items are (S12) ---------------------
# Items are pages that the crawl found: no seeds, no copies, nothing that says noindex or only looks like a page; one
# with several topics is an item of each. These are the pages that views/collections.py ranks.


# In place of the join of SHOWN, by which every page would be looked up among the URLs: half the time.
_ITEMS = f"""SELECT p.topic, coalesce(p.confidence, 0), p.topics FROM pages p WHERE p.topic >= 0 AND {SHOWABLE}
  AND p.seq IN (SELECT page FROM urls) AND p.id NOT IN (SELECT id FROM urls WHERE found = {int(FoundBy.SEED)})"""


def record(
    library: LibraryFolder, pages: int, best: int = 50, wall: Callable[[], float] = time.time
) -> list[HistoryPoint]:
    """Write down how good the `best` items of every topic that has items are, now that so many pages are fetched."""
    items: dict[int, int] = defaultdict(int)
    heaps: dict[int, list[float]] = defaultdict(list)
    with library.shards() as shards:
        for shard in shards:
            for first, sure, packed in shard.execute(_ITEMS):
                for topic, confidence in unpack_topics(packed) if packed else ((first, sure),):
                    items[topic] += 1
                    heap = heaps[topic]
                    if len(heap) < best:
                        heappush(heap, confidence)
                    elif confidence > heap[0]:
                        heappushpop(heap, confidence)
    run, now = library.last_run(), wall()
    found = [
        HistoryPoint(run.n if run else 0, now, pages, topic, items[topic], heap[0], sum(heap) / len(heap), max(heap))
        for topic, heap in sorted(heaps.items())
    ]
    if found:
        library.remember(found)
    return found


# --- crawled sites ---------------------------------------------------------------------------------------------------
# The sites that were crawled to the end, in the order in which they were, by a crawl that goes from site to site.
#
# Together with the links that the shards have counted this is all that such a crawl needs to go on.


_ADD = "INSERT INTO crawled_sites (site, most) VALUES (?, ?) ON CONFLICT (site) DO UPDATE SET most = excluded.most"


def add_crawled(library: LibraryFolder, sites: Iterable[str], most: int) -> None:
    """Note that sites were crawled, and how many pages of each might be taken (0: all)."""
    with library.database() as db:
        db.execute(CRAWLED_SITES_TABLE)
        db.execute("BEGIN")
        db.executemany(_ADD, ((site, most) for site in sites))
        db.execute("COMMIT")


def crawled_sites(library: LibraryFolder) -> dict[str, int]:
    """The sites with that number, the first first; empty where no such crawl has been."""
    with library.database(readonly=True) as db:
        if not has_table(db, "crawled_sites"):
            return {}
        return dict(db.execute("SELECT site, most FROM crawled_sites ORDER BY n").fetchall())
