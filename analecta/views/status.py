"""How a library stands: figures read from its databases, also while a crawl writes to them."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import orjson

from analecta.errors import UsageError
from analecta.model import UrlState
from analecta.settings.load import load
from analecta.store.library import LibraryFolder
from analecta.store.library_db import learnt, said
from analecta.store.partition import NOINDEX, SOFT404
from analecta.store.rows import LibraryCounts, ModelRow
from analecta.store.schema import MetaKey
from analecta.text.display import iso
from analecta.views.reasons import NO_REFUSALS
from analecta.views.rows import LeftOut, Row, history

_MOST_LIMITS = 10


class RunSummary(msgspec.Struct):
    """A crawl that was started: when, how it ended, and what it counted."""

    began: str
    ended: str
    reason: str
    pages: int


class CollectionSize(msgspec.Struct):
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
    collections: dict[str, CollectionSize]  # of topics that had items when it was last looked
    hosts: int
    queue: int
    archive_files: int
    archive_bytes: int
    partitions: int
    memory: dict[str, int]  # bytes of bodies: used now, the most in the last run (peak), allowed (limit)
    run: RunSummary | None
    model: str  # the one in use; "" before the first lesson
    models: list[dict[str, str]]  # all that there were, oldest first
    feedback: int  # things that a person said of pages
    learnt: bool  # whether the model has learnt from all of them
    history: list[Row]  # oldest first, as `analecta export LIB history` gives it
    notes: list[str]
    settings: str  # what is wrong with them, so that they cannot be read; "" where all is well


def status(library: LibraryFolder) -> Status:
    """Look at a library."""
    with library.snapshot() as snapshot:
        listed, names, models = snapshot.listed_topics(), snapshot.topic_names(), snapshot.models()
        counts = snapshot.counts()
    urls, reasons = _count_urls(counts)
    topics = {names[n]: 0 for n in listed}
    figures = _count_pages(counts, names, topics)
    memory = {"used": 0, "peak": 0, "limit": 0} | counts.memory
    past = list(history(library, LeftOut()))
    latest = {row["topic"]: row for row in past if row["topic"] in topics}  # the last one stays
    files = sorted(library.archive.glob("*.warc.gz"))
    return Status(
        library=str(library.folder),
        crawling=library.holder(),
        urls=dict(urls),
        reasons=dict(reasons.most_common()),
        on_topic=sum(topics.values()),
        limits=dict(Counter(counts.limits).most_common(_MOST_LIMITS)),
        topics=topics,
        collections={topic: msgspec.convert(row, CollectionSize) for topic, row in latest.items()},
        hosts=counts.hosts,
        queue=urls["queued"] + urls["leased"],
        archive_files=len(files),
        archive_bytes=sum(file.stat().st_size for file in files),
        partitions=library.partitions,
        memory=memory if library.holder() else {**memory, "used": 0},
        run=_run(library),
        model=str(library.get(MetaKey.MODEL, "")),
        models=_models(models),
        feedback=len(said(library)),
        learnt=learnt(library),
        history=past,
        notes=[f"{iso(at)} {note}" for at, note in library.notes()],
        settings=_wrong_settings(library),
        **figures,
    )


def _count_urls(counts: LibraryCounts) -> tuple[Counter[str], Counter[str]]:
    """URLs by state, and by the reason of those that were refused or failed."""
    urls: Counter[str] = Counter({state.word: 0 for state in UrlState})
    reasons: Counter[str] = Counter()
    for state, reason, count in counts.urls:
        urls[UrlState(state).word] += count
        if state in (UrlState.FAILED, UrlState.REFUSED) and reason not in NO_REFUSALS:
            reasons[reason or ""] += count
    return urls, reasons


def _count_pages(counts: LibraryCounts, names: Sequence[str], topics: dict[str, int]) -> Counter[str]:
    """Pages in all and by what is special about them; those of each topic are added to `topics`."""
    figures: Counter[str] = Counter(dict.fromkeys(("pages", "duplicates", "reserved", "noindex", "soft404"), 0))
    for topic, flags, copies, reserved, count in counts.pages:
        figures["pages"] += count
        figures["duplicates"] += count * copies
        figures["reserved"] += count * reserved
        figures["noindex"] += count * bool(flags & NOINDEX)
        figures["soft404"] += count * bool(flags & SOFT404)
        if 0 <= topic < len(names):
            topics[names[topic]] = topics.get(names[topic], 0) + count  # one that has pages since a moment
    return figures


def _run(library: LibraryFolder) -> RunSummary | None:
    run = library.last_run()
    if run is None:
        return None
    tally: dict[str, Any] = orjson.loads(run.tally) if run.tally else {}
    return RunSummary(iso(run.began), iso(run.ended) if run.ended else "", run.reason or "", tally.get("pages", 0))


def _wrong_settings(library: LibraryFolder) -> str:
    try:
        load(library.settings_path)
    except UsageError as error:
        return str(error)
    return ""


def _models(models: Sequence[ModelRow]) -> list[dict[str, str]]:
    return [{"hash": one.hash, "kind": one.kind, "about": one.about, "made_at": iso(one.made_at)} for one in models]
