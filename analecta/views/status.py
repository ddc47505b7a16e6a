"""How a library stands: figures read from its databases, also while a crawl writes to them."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import orjson

from analecta.errors import BadUse
from analecta.model import State
from analecta.settings.load import load
from analecta.store.library import Library
from analecta.store.library_db import learnt, said
from analecta.store.partition import NOINDEX, SOFT404
from analecta.store.topic_names import shown_topics
from analecta.text.display import iso
from analecta.views.reasons import NO_REFUSALS
from analecta.views.rows import Left, Row, history

_MOST_LIMITS = 10
_LIMITS = "SELECT limits, count(*) FROM pages WHERE limits IS NOT NULL GROUP BY 1"


class Run(msgspec.Struct):
    """A crawl that was started: when, how it ended, and what it counted."""

    began: str
    ended: str
    reason: str
    pages: int


class Collection(msgspec.Struct):
    """How many items a topic has, and how sure the judge is of the best of them."""

    items: int
    least: float
    mean: float
    most: float


class Status(msgspec.Struct):
    """What `analecta status` tells."""

    library: str
    crawling: str  # who holds the library now; "" where nobody does
    urls: dict[str, int]  # by state
    reasons: dict[str, int]  # of refusals and failures, most frequent first
    pages: int
    on_topic: int
    duplicates: int
    limits: dict[str, int]  # why pages could not be read, or not wholly, most frequent first
    noindex: int
    soft404: int
    reserved: int
    topics: dict[str, int]
    collections: dict[str, Collection]  # of topics that had items when it was last looked
    hosts: int
    queue: int
    archive_files: int
    archive_bytes: int
    partitions: int
    memory: dict[str, int]  # bytes of bodies: used now, the most in the last run (peak), allowed (limit)
    run: Run | None
    model: str  # the one in use; "" before the first lesson
    models: list[dict[str, str]]  # all that there were, oldest first
    feedback: int  # things that a person said of pages
    learnt: bool  # whether the model has learnt from all of them
    history: list[Row]  # oldest first, as `analecta export LIB history` gives it
    notes: list[str]
    settings: str  # what is wrong with them, so that they cannot be read; "" where all is well


def status(library: Library) -> Status:
    """Look at a library."""
    listed, names = shown_topics(library), library.topic_names()
    urls: Counter[str] = Counter({state.name.lower(): 0 for state in State})
    reasons: Counter[str] = Counter()
    topics = {names[n]: 0 for n in listed}
    figures: Counter[str] = Counter()
    limits: Counter[str] = Counter()
    memory = Counter({"used": 0, "peak": 0, "limit": 0})
    with library.shards() as shards:
        for shard in shards:
            _count_urls(shard, urls, reasons)
            _count_pages(shard, names, topics, figures)
            limits.update(dict(shard.execute(_LIMITS)))
            memory.update(_memory(shard))
    past = list(history(library, Left()))
    latest = {row["topic"]: row for row in past if row["topic"] in topics}  # the last one stays
    files = sorted(library.archive.glob("*.warc.gz"))
    return Status(
        library=str(library.folder),
        crawling=library.holder(),
        urls=dict(urls),
        reasons=dict(reasons.most_common()),
        pages=figures["pages"],
        on_topic=sum(topics.values()),
        duplicates=figures["duplicates"],
        limits=dict(limits.most_common(_MOST_LIMITS)),
        noindex=figures["noindex"],
        soft404=figures["soft404"],
        reserved=figures["reserved"],
        topics=topics,
        collections={topic: msgspec.convert(row, Collection) for topic, row in latest.items()},
        hosts=figures["hosts"],
        queue=urls["queued"] + urls["leased"],
        archive_files=len(files),
        archive_bytes=sum(file.stat().st_size for file in files),
        partitions=library.partitions,
        memory=dict(memory) if library.holder() else {**memory, "used": 0},
        run=_run(library),
        model=str(library.get("model", "")),
        models=_models(library),
        feedback=len(said(library)),
        learnt=learnt(library),
        history=past,
        notes=[f"{iso(at)} {note}" for at, note in library.notes()],
        settings=_wrong_settings(library),
    )


def _count_urls(shard: sqlite3.Connection, urls: Counter[str], reasons: Counter[str]) -> None:
    for state, reason, count in shard.execute("SELECT state, reason, count(*) FROM urls GROUP BY state, reason"):
        urls[State(state).name.lower()] += count
        if state in (State.FAILED, State.REFUSED) and reason not in NO_REFUSALS:
            reasons[reason or ""] += count


def _memory(shard: sqlite3.Connection) -> dict[str, int]:
    """What a partition last told of its budget for bodies."""
    row = shard.execute("SELECT value FROM meta WHERE key = 'memory'").fetchone()
    return dict(orjson.loads(row[0])) if row else {}


def _count_pages(
    shard: sqlite3.Connection, names: Sequence[str], topics: dict[str, int], figures: Counter[str]
) -> None:
    rows = shard.execute(
        "SELECT p.topic, p.flags, p.duplicate_of IS NOT NULL, coalesce(p.reserved, h.reserved) IS NOT NULL, count(*)"
        " FROM pages p JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host GROUP BY 1, 2, 3, 4"
    )
    for topic, flags, duplicate, reserved, count in rows:
        figures["pages"] += count
        figures["duplicates"] += count * duplicate
        figures["reserved"] += count * reserved
        figures["noindex"] += count * bool(flags & NOINDEX)
        figures["soft404"] += count * bool(flags & SOFT404)
        if 0 <= topic < len(names):
            topics[names[topic]] = topics.get(names[topic], 0) + count  # one that has pages since a moment, too
    figures["hosts"] += shard.execute("SELECT count(*) FROM hosts").fetchone()[0]


def _run(library: Library) -> Run | None:
    run = library.last_run()
    if run is None:
        return None
    tally: dict[str, Any] = orjson.loads(run["tally"]) if run["tally"] else {}
    ended = iso(run["ended"]) if run["ended"] else ""
    return Run(iso(run["began"]), ended, run["reason"] or "", tally.get("pages", 0))


def _wrong_settings(library: Library) -> str:
    try:
        load(library.settings_path)
    except BadUse as error:
        return str(error)
    return ""


def _models(library: Library) -> list[dict[str, str]]:
    with library.database(readonly=True) as db:
        rows = db.execute("SELECT hash, kind, about, made_at FROM models ORDER BY made_at").fetchall()
    return [{"hash": hash, "kind": kind, "about": about, "made_at": iso(at)} for hash, kind, about, at in rows]
