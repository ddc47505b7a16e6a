"""A crawl under a person's eyes: its progress is shown, Ctrl-C ends it, and its result is told."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.console import Console, Group, RenderableType
from rich.text import Text

from analecta.cli.health_table import tell
from analecta.cli.progress import asked_again, progress, queued, ran_dry, share, waiting, why
from analecta.crawl.coordinator import Crawl
from analecta.errors import Environment
from analecta.judge.health import Health
from analecta.judge.health import health as health_of
from analecta.publish.refresh import Refresher, publishing
from analecta.publish.site import check_site
from analecta.settings.schema import Settings
from analecta.signals import INTERRUPTED, stop_handler
from analecta.store.library import Library
from analecta.store.revisits import revisits
from analecta.text.display import many, plain
from analecta.views.health import GOOD, advice, verdict
from analecta.views.reasons import NO_REFUSALS

_REFRESH = 60.0  # seconds between two makings of published pages


class Result(msgspec.Struct):
    """How a crawl ended; `analecta crawl --json` prints it."""

    library: str
    reason: str
    code: int
    pages: int
    on_topic: int
    failed: int
    refused: int
    reasons: dict[str, int]
    topics: dict[str, int]
    hosts: int
    queued: int
    unread: int  # documents that the next crawl reads
    bytes: int
    seconds: float
    pages_per_second: float
    again: dict[str, int]  # pages that were asked for again, by what became of them
    advice: str
    notes: list[str]


def watch(
    library: Library, settings: Settings, console: Console, health: bool = True, publish: Path | None = None
) -> Result:
    """Crawl with progress on `console` until a rule, a signal or the end of the web says stop.

    With `health`, what the examples are like is told once they are there (S14). With `publish`, collection pages are
    kept in that folder and made anew now and then (S13).
    """
    if publish is not None:
        check_site(publish)
    crawl = Crawl(library, settings)
    started, known = time.time(), revisits(library)
    with stop_handler(crawl.interrupt), progress(console) as show, _refreshing(library, publish) as refresh:

        def look(crawl: Crawl) -> None:
            nonlocal health
            if health and crawl.lessons.first_held:
                health = False
                console.print(_told_health(crawl))
            show(crawl)
            if refresh is not None:
                refresh()

        ending = crawl.run(look)
        seconds = crawl.clock() - crawl.began
        if refresh is not None and crawl.interrupts < 2:
            refresh.finish()
    tally = ending.tally
    return Result(
        library=str(library.folder),
        reason=ending.reason,
        code=ending.code,
        pages=tally.pages,
        on_topic=tally.on_topic,
        failed=tally.failed,
        refused=tally.refused,
        reasons={word: count for word, count in tally.reasons.items() if word not in NO_REFUSALS},
        topics={name: tally.topics.get(n, 0) for n, name in enumerate(crawl.topics)},
        hosts=_hosts(library),
        queued=queued(crawl),
        unread=waiting(crawl),
        bytes=tally.bytes,
        seconds=round(seconds, 3),
        pages_per_second=round(tally.pages / seconds, 2) if seconds else 0.0,
        again=dict(revisits(library) - known),
        advice=ran_dry(library, settings, tally.pages),
        notes=[note for _, note in library.notes(since=started)],
    )


def _hosts(library: Library) -> int:
    """Hosts of which an address is known: `status` tells the same number."""
    with library.snapshot() as snapshot:
        return snapshot.host_count()


@contextlib.contextmanager
def _refreshing(library: Library, folder: Path | None) -> Iterator[Refresher | None]:
    """Makes published pages anew, if there is a folder for them."""
    if folder is None:
        yield None
        return
    make = publishing("publish", library.folder, "-o", folder)
    with contextlib.closing(Refresher(library, _REFRESH, time.monotonic, make)) as refresh:
        yield refresh


def examine(library: Library, settings: Settings, console: Console) -> Health:
    """How the topics are shown by their examples; those that are not here yet are fetched, and nothing else."""
    crawl = Crawl(library, settings, only_examples=True)
    with stop_handler(crawl.interrupt), progress(console) as show:
        ending = crawl.run(show)
    if ending.code == INTERRUPTED:
        raise KeyboardInterrupt
    if ending.code:
        raise Environment(f"the examples were not fetched: {ending.reason}")
    return _health(crawl)


def _health(crawl: Crawl) -> Health:
    """Of the topics that the settings name: those that they do not name any more have no examples."""
    named = [topic.name for topic in crawl.settings.topics]
    numbers = {crawl.topics.index(name): n for n, name in enumerate(named)}
    examples = [
        msgspec.structs.replace(one, topic=numbers.get(one.topic, one.topic))
        for one in crawl.lessons.examples()
        if one.topic < 0 or one.topic in numbers
    ]
    return health_of(examples, named)


def _told_health(crawl: Crawl) -> RenderableType:
    """In one line where all is well."""
    found = _health(crawl)
    if all(verdict(found, topic)[1] == GOOD for topic in found.topics):
        words = f"{many(len(found.topics), 'topic')}, {many(sum(t.examples for t in found.topics), 'example')}"
        return Text(f"{words}. {' '.join(advice(found))}")
    return tell(found)


def told(result: Result) -> RenderableType:
    """The result for a person."""
    speed = f"{result.seconds:.1f} s ({result.pages_per_second:.1f} a second)"
    on_topic = share(result.on_topic, result.pages)
    lines = [f"{many(result.pages, 'page')} in {speed}, {on_topic} on topic when fetched"]
    if any(result.topics.values()):
        lines.append(" · ".join(f"{plain(name)} {count:,}" for name, count in result.topics.items()))
    if result.reasons:
        lines.append(f"{result.refused:,} refused, {result.failed:,} failed: {why(result.reasons)}")
    if result.again:
        lines.append(asked_again(result.again))
    lines.append(f"{many(result.queued, 'URL')} left in the queue; {many(result.hosts, 'host')} known")
    if result.unread:
        lines.append(f"{many(result.unread, 'document')} kept and not yet read: the next crawl reads them")
    if result.code == 3:
        lines.append("More seeds in analecta.toml give it more to do; --refresh DAYS asks for old pages again")
    if result.advice:
        lines.append(result.advice)
    lines += [f"Note: {plain(note)}" for note in result.notes]
    end = "Interrupted; nothing is lost, the next crawl goes on from here" if result.code == 130 else result.reason
    return Group(
        Text(f"{plain(end[:1].upper() + end[1:])}.", style="bold green" if result.code == 0 else "bold yellow"),
        *(Text(f"  {line}") for line in lines),
    )
