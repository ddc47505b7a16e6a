"""The command that crawls: its progress is shown, Ctrl-C ends it, and its result is told."""

import shlex
import time
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console, Group, RenderableType
from rich.text import Text

from analecta.cli.app import Lib, app
from analecta.cli.health_table import health_of_crawl, load_settings, tell
from analecta.cli.progress import asked_again, progress, ran_dry, share, why
from analecta.cli.render import console, next_steps, print_json
from analecta.communities.view import deeper
from analecta.crawl.coordinator import CrawlStatus
from analecta.crawl.run import Crawl
from analecta.publish.refresh import Refresher, publishing
from analecta.publish.site_folder import check_site
from analecta.settings.schema import Settings
from analecta.signals import stop_handler
from analecta.store.library import LibraryFolder
from analecta.store.revisits import revisits
from analecta.text.display import many, plain
from analecta.views.health import GOOD, advice, verdict
from analecta.views.reasons import NO_REFUSALS
from analecta.views.rows import row_of

_REFRESH = 60.0  # seconds between two makings of published pages


@app.command()
def crawl(
    context: typer.Context,
    lib: Lib,
    pages: Annotated[int | None, typer.Option(metavar="N", min=1, help="Stop after N pages of this run.")] = None,
    minutes: Annotated[float | None, typer.Option(metavar="M", min=0.01, help="Stop after M minutes.")] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="P", min=1, help="Processes; fixed by the first crawl (default: one a core).")
    ] = None,
    connect_to: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Send every request there, as curl's --connect-to does.")
    ] = "",
    delay: Annotated[
        float | None, typer.Option(metavar="S", min=0, help="Seconds between two requests to one host.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="INT", help="Take answers in order: the same web gives the same crawl.")
    ] = None,
    refresh: Annotated[
        float | None, typer.Option(metavar="DAYS", min=0, help="Ask again for pages kept longer ago than DAYS.")
    ] = None,
    community: Annotated[
        str, typer.Option(metavar="C", help="Only inside this community, and all of it: its number, name or a site.")
    ] = "",
    publish: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep collection pages there, made anew as the crawl goes on.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object at the end.")] = False,
) -> None:
    """Start a crawl, or go on with it. Ctrl-C once ends it cleanly, twice at once.

    Exit codes: 0 stopped by a rule, 2 bad use, 3 nothing to do, 4 disk or network, 130 interrupted.
    """
    library = LibraryFolder(lib)
    asked: dict[str, dict[str, Any]] = {
        "stop": {"pages": pages, "minutes": minutes},
        "fetch": {"connect_to": connect_to or None, "delay": delay},
        "crawl": {"workers": workers, "seed": seed, "ordered": None if seed is None else True, "refresh": refresh},
    }
    settings = load_settings(library.settings_path, asked | (deeper(library, community) if community else {}))
    result = watch(library, settings, console(stderr=True), health=not json, publish=publish)
    if json:
        print_json(result)
    else:
        screen = console()
        screen.print(told(result))
        screen.print(next_steps(lib, *_steps(settings, result.code, _given(context))), soft_wrap=True)
    raise typer.Exit(result.code)


def _given(context: typer.Context) -> str:
    """The options of this run, for the one that goes on with it; what --refresh queued is queued already."""
    given = [(name, value) for name, value in context.params.items() if value is not None and value != ""]
    kept = [(name, value) for name, value in given if name not in ("lib", "refresh", "json")]
    return "".join(f" --{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in kept)


def _steps(settings: Settings, code: int, given: str = "") -> list[str]:
    """Where to go from a crawl; one that was interrupted is gone on with by the options that were `given`."""
    on = [f"crawl LIB{given}"] if code == 130 else []
    sites = ["communities LIB"] if settings.communities.grow else []
    looks = ["status LIB", "collection LIB", "search LIB WORDS", "feedback LIB URL --good"]
    return [*on, *looks, *sites, "analyse LIB", "publish LIB -o site"]


class CrawlOutput(msgspec.Struct):
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
    library: LibraryFolder, settings: Settings, console: Console, health: bool = True, publish: Path | None = None
) -> CrawlOutput:
    """Crawl with progress on `console` until a rule, a signal or the end of the web says stop.

    With `health`, what the examples are like is told once they are there (S14). With `publish`, collection pages are
    kept in that folder and made anew now and then (S13).
    """
    if publish is not None:
        check_site(publish)
    began, crawl = time.monotonic(), Crawl(library, settings)
    started, known = time.time(), revisits(library)
    name = library.folder.name
    with stop_handler(crawl.interrupt), progress(console, name) as show, _refreshing(library, publish) as refresh:

        def look(status: CrawlStatus) -> None:
            nonlocal health
            if health and crawl.training.first_held:
                health = False
                console.print(_told_health(crawl))
            show(status)
            if refresh is not None:
                refresh()

        ending = crawl.run(look)
        seconds = time.monotonic() - began
        if refresh is not None and crawl.interrupts < 2:
            refresh.finish()
    tally = ending.tally
    with library.snapshot() as snapshot:
        hosts = snapshot.host_count()  # of which an address is known: `status` tells the same number
    return CrawlOutput(
        library=str(library.folder),
        reasons={word: count for word, count in tally.reasons.items() if word not in NO_REFUSALS},
        topics={name: tally.topics.get(n, 0) for n, name in enumerate(crawl.topics)},
        hosts=hosts,
        seconds=round(seconds, 3),
        pages_per_second=round(tally.pages / seconds, 2) if seconds else 0.0,
        again=dict(revisits(library) - known),
        advice=ran_dry(library, settings, tally.pages),
        notes=[note for _, note in library.notes(since=started)],
        **row_of(("reason", "code", "queued", "unread"), ending),
        **row_of(("pages", "on_topic", "failed", "refused", "bytes"), tally),
    )


def _refreshing(library: LibraryFolder, folder: Path | None) -> AbstractContextManager[Refresher | None]:
    """Makes published pages anew, if there is a folder for them."""
    if folder is None:
        return nullcontext()
    make = publishing("publish", library.folder, "-o", folder)
    return closing(Refresher(library, _REFRESH, time.monotonic, make))


def _told_health(crawl: Crawl) -> RenderableType:
    """In one line where all is well."""
    found = health_of_crawl(crawl)
    if all(verdict(found, topic)[1] == GOOD for topic in found.topics):
        words = f"{many(len(found.topics), 'topic')}, {many(sum(t.examples for t in found.topics), 'example')}"
        return Text(f"{words}. {' '.join(advice(found))}")
    return tell(found)


def told(result: CrawlOutput) -> RenderableType:
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
