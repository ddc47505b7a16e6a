"""The command line. A command reads its arguments, calls the part that does the work, and shows what came of it.

Imports of that part are inside the commands: all together they take 0.9 s (numpy, scipy, curl), and `--help`, a typing
error or a file that is not there should be answered at once.
"""

import os
import sqlite3
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analecta.errors import AnalectaError, BadUse, Environment

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from analecta.seed.adding import Added
    from analecta.seed.reading import Reading
    from analecta.settings import Settings

app = typer.Typer(
    name="analecta",
    help="Grow a library on any topic from the web: give it pages you like, and it finds more of their kind.",
    epilog="Start with: analecta demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Lib = Annotated[Path, typer.Argument(metavar="LIB", help="The library's folder.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Files = list[Path] | None
Seeds = Annotated[
    Files, typer.Option("--seeds", metavar="FILE", help="Addresses of pages you like, one a line.", show_default=False)
]
Examples = Annotated[
    Files, typer.Option("--examples", metavar="DIR", help="A folder for each topic, with pages and texts that show it.")
]
Bookmarks = Annotated[
    Files, typer.Option("--bookmarks", metavar="FILE", help="A browser's bookmarks, as HTML or as it keeps them.")
]
Outline = Annotated[
    Files, typer.Option("--outline", metavar="FILE", help="Topics: indented text, Markdown, TOML, JSON or OPML.")
]
Feed = Annotated[
    list[str] | None,
    typer.Option("--feed", metavar="URL|FILE", help="A feed, or one you saved: RSS, Atom, JSON Feed."),
]
Papers = Annotated[
    Files, typer.Option("--paper", metavar="FILE", help="A research paper: PDF, or our TOML of one, corrected.")
]
Query = Annotated[
    list[str] | None,
    typer.Option("--query", metavar="TEXT", help="A question: a topic whose first pages are searched."),
]
Engine = Annotated[
    list[str] | None,
    typer.Option("--engine", metavar="NAME[=URL]", help="Search engine for topics without pages; see search.engines."),
]
Sites = Annotated[Files, typer.Option("--sites", metavar="FILE", help="Sites to begin with, a host a line.")]


class Kind(StrEnum):
    """What can be exported."""

    PAGES = "pages"
    LINKS = "links"
    REFUSALS = "refusals"
    HISTORY = "history"


class Format(StrEnum):
    """How it can be written."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


def main() -> None:
    """Run the command; what goes wrong on purpose is one sentence on stderr and an exit code (errors.py)."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # idle helpers of BLAS spin, on cores that partitions need
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a title must not end the program where the terminal has no letter for it
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except AnalectaError as error:
        sys.exit(_complain(str(error), error.exit_code))
    except (OSError, sqlite3.Error) as error:
        sys.exit(_complain(f"the disk or the network does not allow it: {error}", 4))


def _complain(words: str, code: int) -> int:
    from analecta.publish.plain import plain

    print(f"analecta: {plain(words)}", file=sys.stderr)
    return code


def _console(stderr: bool = False) -> "Console":
    """Text as it is: nothing that comes from the web is read as markup, and no URL is cut where nobody looks on."""
    from rich.console import Console

    on_screen = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, width=None if on_screen else 1000)


def _busy(what: str) -> "Status":
    """Shows that something takes a while."""
    return _console(stderr=True).status(what)


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if version:
        from importlib.metadata import version as installed

        print(f"analecta {installed('analecta')}")
        raise typer.Exit


@app.command()
def new(
    lib: Annotated[Path, typer.Argument(metavar="LIB", help="The folder to make.", show_default=False)],
    seeds: Seeds = None,
    examples: Examples = None,
    bookmarks: Bookmarks = None,
    outline: Outline = None,
    feed: Feed = None,
    sites: Sites = None,
    paper: Papers = None,
    query: Query = None,
    engine: Engine = None,
    topic: Annotated[
        str, typer.Option(metavar="NAME", help="What pages are about that stand below no name (default: LIB's name).")
    ] = "",
    recipe: Annotated[str, typer.Option(metavar="NAME", help="How to crawl; see `analecta recipes`.")] = "adaptive",
    contact: Annotated[str, typer.Option(metavar="WHO", help="Your e-mail address or page, for site owners.")] = "",
    grobid: Annotated[str, typer.Option(metavar="URL", help="A GROBID server that reads papers instead of us.")] = "",
    json: Json = False,
) -> None:
    """Make a library from what you have: pages you like, files, bookmarks, an outline, feeds, sites, a question.

    Each may be given more than once, and with the others; topics of the same name become one. Topics without pages,
    and questions, get theirs from a search engine: --engine searxng=http://127.0.0.1:8080/search, for one.
    """
    from analecta.publish.plain import next_steps
    from analecta.seed.first_settings import first_settings
    from analecta.seed.placing import place
    from analecta.settings import parse, recipe_text, with_recipe
    from analecta.starting import engines_of, make, paper_files, read_papers, start
    from analecta.store.library import Library

    recipe_text(recipe)
    named = topic.strip() or lib.resolve().name or "library"
    Library.check_new(lib)
    engines = engines_of(engine or ())
    papers = read_papers(paper or (), engines, grobid, _busy)
    files = {
        "seeds": seeds,
        "examples": examples,
        "bookmarks": bookmarks,
        "outline": outline,
        "feed": feed,
        "sites": sites,
    }
    settings = with_recipe(recipe, {"contact": contact})
    reading, troubles = start(named, files, query or (), papers, engines, settings, _busy)
    reading = place(reading, lib)
    text = first_settings(reading.topics, recipe, contact, engines, reading.others)
    parse(text, "the new settings")
    make(lib, text, reading, paper_files(papers))
    if json:
        following = str(next_steps(lib, "crawl LIB --pages 1000")).strip()
        found = {"library": str(lib), "recipe": recipe, "reading": reading, "troubles": troubles, "next": following}
        _print_json(found)
    else:
        _tell_new(lib, reading, troubles, recipe, contact)


def _tell_new(lib: Path, reading: "Reading", troubles: list[str], recipe: str, contact: str) -> None:
    from analecta.publish.plain import next_steps, plain
    from analecta.seed.telling import tell_reading

    console = _console()
    console.print(f"The library {plain(str(lib))} is made, with the recipe {recipe}.", style="bold green")
    for line in (*tell_reading(reading), *(f"  {trouble}" for trouble in troubles)):
        console.print(plain(line), soft_wrap=True)
    if not contact:
        console.print(f"Say who you are: set contact in {plain(str(lib / 'analecta.toml'))}. Then:")
    else:
        console.print("Next:")
    console.print(next_steps(lib, "health LIB", "crawl LIB --pages 1000"), soft_wrap=True)


@app.command()
def add(
    lib: Lib,
    seeds: Seeds = None,
    examples: Examples = None,
    bookmarks: Bookmarks = None,
    outline: Outline = None,
    feed: Feed = None,
    sites: Sites = None,
    query: Query = None,
    engine: Engine = None,
    topic: Annotated[
        str,
        typer.Option(metavar="NAME", help="What pages are about that stand below no name (default: the one topic)."),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be new.")] = False,
    json: Json = False,
) -> None:
    """Add topics and examples to a library; your comments in its settings stay.

    Exit codes: 0 added, 2 bad use, 3 nothing new, 4 disk, or a crawl holds the library.
    """
    from contextlib import nullcontext

    from analecta.seed.adding import add
    from analecta.seed.files import read_bytes, text_of
    from analecta.seed.placing import place
    from analecta.settings import load
    from analecta.starting import engines_of, start, write
    from analecta.store.library import Library

    library = Library(lib)
    named = topic.strip() or _only_topic(library.settings_path) or lib.resolve().name
    settings = load(library.settings_path)
    engines = engines_of(engine or ()) or {name: settings.search.url.get(name, "") for name in settings.search.engines}
    files = {
        "seeds": seeds,
        "examples": examples,
        "bookmarks": bookmarks,
        "outline": outline,
        "feed": feed,
        "sites": sites,
    }
    reading, troubles = start(named, files, query or (), [], engines, settings, _busy)
    path = library.settings_path
    with nullcontext() if dry_run else library.lock():
        reading = place(reading, lib)
        added = add(text_of(read_bytes(path), path), reading.topics, str(path), reading.others)
        before = write(library, added, reading.files) if added and not dry_run else None
    if json:
        found = {"library": str(lib), "topics": added.topics, "more": added.more, "known": added.known}
        found |= {"others": added.others}
        _print_json(found | {"written": before is not None, "reading": reading, "troubles": troubles})
    else:
        _tell_added(lib, added, reading, troubles, before)
    raise typer.Exit(0 if added else 3)


def _only_topic(path: Path) -> str:
    from analecta.settings import load

    topics = load(path).topics
    return topics[0].name if len(topics) == 1 else ""


def _tell_added(lib: Path, added: "Added", reading: "Reading", troubles: list[str], before: Path | None) -> None:
    from analecta.publish.plain import next_steps, plain
    from analecta.seed.telling import tell_added, tell_odd

    console = _console()
    for line in (*tell_added(added), *tell_odd(reading), *(f"  {trouble}" for trouble in troubles)):
        console.print(plain(line), soft_wrap=True)
    if before is not None:
        console.print(f"Added. The settings as they were: {plain(str(before))}; move them back to undo it. Next:")
        console.print(next_steps(lib, "crawl LIB --pages 1000"), soft_wrap=True)
    else:
        console.print("Nothing is written: --dry-run only shows it." if added else "Nothing is new.")


@app.command()
def crawl(
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
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object at the end.")] = False,
) -> None:
    """Start a crawl, or go on with it. Ctrl-C once ends it cleanly, twice at once.

    Exit codes: 0 stopped by a rule, 2 bad use, 3 nothing to do, 4 disk or network, 130 interrupted.
    """
    from analecta.publish.plain import next_steps
    from analecta.store.library import Library
    from analecta.watch import told, watch

    library = Library(lib)
    settings = _settings(library.settings_path, _override(pages, minutes, workers, connect_to, delay, seed, refresh))
    result = watch(library, settings, _console(stderr=True), health=not json)
    if json:
        _print_json(result)
    else:
        console = _console()
        console.print(told(result))
        console.print(next_steps(lib, "status LIB", "explain LIB URL", "export LIB pages"), soft_wrap=True)
    raise typer.Exit(result.code)


def _override(
    pages: int | None,
    minutes: float | None,
    workers: int | None,
    connect_to: str,
    delay: float | None,
    seed: int | None,
    refresh: float | None,
) -> dict[str, Any]:
    """The layer of settings that the command line is."""
    asked: dict[str, dict[str, Any]] = {
        "stop": {"pages": pages, "minutes": minutes},
        "fetch": {"connect_to": connect_to or None, "delay": delay},
        "crawl": {"workers": workers, "seed": seed, "ordered": None if seed is None else True, "refresh": refresh},
    }
    return {table: {k: v for k, v in values.items() if v is not None} for table, values in asked.items()}


def _settings(path: Path, override: dict[str, Any]) -> "Settings":
    from analecta.settings import load

    settings = load(path, override)
    if not settings.topics:
        raise BadUse(f"{path} names no topic: it needs [[topics]] with seeds")
    return settings


@app.command()
def status(lib: Lib, json: Json = False) -> None:
    """Show how a library stands; works while a crawl runs."""
    from analecta.publish.status import show, status
    from analecta.store.library import Library

    found = status(Library(lib))
    _print_json(found) if json else _console().print(show(found))


@app.command()
def health(
    lib: Lib,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.html", help="Also write a page with a drawing.")
    ] = None,
    connect_to: Annotated[str, typer.Option(metavar="HOST:PORT", help="As for crawl.")] = "",
    delay: Annotated[float | None, typer.Option(metavar="S", min=0, help="As for crawl.")] = None,
    json: Json = False,
) -> None:
    """Look at the examples before a crawl: topics that are too close, pages that look wrong.

    Examples that are not here yet are fetched, and nothing else.
    """
    from analecta.publish.health import tell
    from analecta.publish.health_page import health_page
    from analecta.store.library import Library
    from analecta.watch import examine

    library = Library(lib)
    settings = _settings(library.settings_path, _override(None, None, None, connect_to, delay, None, None))
    found = examine(library, settings, _console(stderr=True))
    if output is not None:
        _write(output, health_page(found, lib.resolve().name))
    _print_json(found) if json else _console().print(tell(found))
    if output is not None and not json:
        _console().print(f"The drawing is in {output}.")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Environment(f"cannot write {path}: {error.strerror}") from error


@app.command()
def explain(
    lib: Lib,
    url: Annotated[str, typer.Argument(metavar="URL", help="An address, in any form.", show_default=False)],
    json: Json = False,
) -> None:
    """Tell why a page is in, out, refused, failed, waiting or was never seen."""
    from analecta.publish.explain import explain
    from analecta.publish.telling import tell
    from analecta.store.library import Library

    found = explain(Library(lib), url)
    _print_json(found) if json else _console().print(tell(found))


@app.command()
def export(
    lib: Lib,
    what: Annotated[
        Kind, typer.Argument(metavar="pages|links|refusals|history", help="What to write.", show_default=False)
    ],
    format: Annotated[Format, typer.Option("--format", help="Lines of JSON, a table, or Parquet.")] = Format.JSONL,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to (default: standard output).")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also pages that say noindex.")] = False,
    for_training: Annotated[
        bool, typer.Option("--for-training", help="Leave out pages whose owners reserve them against AI training.")
    ] = False,
) -> None:
    """Write pages, links, refusals or the history of collections as a table."""
    from analecta.publish.rows import COLUMNS, KINDS, Left
    from analecta.publish.tables import write
    from analecta.store.library import Library

    if what != Kind.PAGES and (everything or for_training):
        raise BadUse(f"--all and --for-training are about pages, not {what}")
    left = Left()
    options = {"everything": everything, "for_training": for_training} if what == Kind.PAGES else {}
    rows = KINDS[what](Library(lib), left, **options)
    try:
        count = write(rows, COLUMNS[what], format, output)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as `head` has
        sys.stderr.close()
        raise typer.Exit from None
    _tell_left(what, count, left, for_training)


def _tell_left(what: str, count: int, left: Any, for_training: bool) -> None:
    console = _console(stderr=True)
    console.print(f"{count:,} {'moments' if what == Kind.HISTORY else what}.")
    if left.noindex:
        console.print(f"Left out: {left.noindex:,} pages that say noindex (--all has them).")
    if for_training:
        console.print(f"Left out: {left.reserved:,} pages whose owners reserve them against use for training.")
    if left.unknown:
        console.print(f"Left out: {left.unknown:,} links that were not followed, so that their targets are not known.")


@app.command()
def replay(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="WARC files, or folders of such.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen on 127.0.0.1; 0 takes a free one.")],
    search: Annotated[bool, typer.Option("--search", help="Also answer /search?q=WORDS.")] = False,
    delay: Annotated[float, typer.Option(metavar="S", min=0, help="Seconds before each answer.")] = 0.0,
    error_rate: Annotated[float, typer.Option(metavar="X", min=0, max=1, help="Share of answers that fail.")] = 0.0,
    processes: Annotated[int, typer.Option(metavar="N", min=1, help="Processes that serve.")] = 1,
) -> None:
    """Serve archived pages as a web on this machine, under their own host names."""
    from analecta.testweb.replay import replay

    replay(paths, port, delay, error_rate, search, processes)


@app.command()
def evaluate(
    web: Annotated[
        str, typer.Option(metavar="FILE", help="WARC file or folder; or pocket[:SIZE].", show_default=False)
    ],
    recipes: Annotated[str, typer.Option(metavar="A,B,...", help="What to compare; also settings files (.toml).")],
    labels: Annotated[
        Path | None, typer.Option(metavar="TSV", help="URL<TAB>subject|subject..., or host<TAB>subject.")
    ] = None,
    topics: Annotated[
        list[str] | None, typer.Option(metavar="PREFIX...", help="Which subjects (default: those of level two).")
    ] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="[PREFIX]...", hidden=True)] = None,
    examples: Annotated[
        list[str] | None, typer.Option(metavar="TOPIC=FILE", help="On-topic URLs, for a web without labels.")
    ] = None,
    together: Annotated[bool, typer.Option("--together", help="All topics in one crawl.")] = False,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Pages to start and to learn from.")] = 10,
    draws: Annotated[int, typer.Option(metavar="N", min=1, help="How often seeds are drawn.")] = 3,
    budget: Annotated[str, typer.Option(metavar="4R|N", help="Pages a crawl may fetch.")] = "4R",
    seed_hosts: Annotated[int, typer.Option(metavar="N", min=0, help="Draw seeds from N hosts only; 0: all.")] = 0,
    min_pages: Annotated[int, typer.Option(metavar="N", min=1, help="Pages that a topic must have.")] = 40,
    jobs: Annotated[int, typer.Option(metavar="N", min=0, help="Processes (default: one a core).")] = 0,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting for all crawls.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where to write.")] = Path("evaluation"),
    json: Json = False,
) -> None:
    """Measure how well recipes find a topic, by whole crawls over an archived web.

    Writes evaluation.json, evaluation.md and pictures into DIR.
    """
    from analecta.evaluate.crawls import setting
    from analecta.evaluate.evaluation import Plan, evaluate
    from analecta.evaluate.report import progress, show, write
    from analecta.settings import merge

    settings: dict[str, Any] = {}
    for one in set_ or ():
        settings = merge(settings, setting(one))
    plan = Plan(
        web=web,
        recipes=_listed(recipes),
        labels=str(labels or ""),
        examples=dict(_example(text) for text in examples or ()),
        topics=_listed(*(topics or ()), *(more or ())),
        together=together,
        seeds=seeds,
        draws=draws,
        budget=budget,
        seed_hosts=seed_hosts,
        min_pages=min_pages,
        jobs=jobs,
        settings=settings,
    )
    try:
        with progress(_console(stderr=True)) as step:
            found = evaluate(plan, output, step)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    write(found, output)
    _print_json(found) if json else _console().print(show(found, output))


def _example(text: str) -> tuple[str, str]:
    topic, equals, file = text.partition("=")
    if not equals or not topic or not file:
        raise BadUse(f"--examples wants TOPIC=FILE, not {text!r}")
    return topic.strip(), file


def _listed(*texts: str) -> list[str]:
    """What stands between commas."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to make the library.")] = Path("demo-library"),
    force: Annotated[bool, typer.Option("--force", help="Replace the library of an earlier demo.")] = False,
    pages: Annotated[int, typer.Option(metavar="N", min=1, help="How many pages to crawl.")] = 600,
) -> None:
    """Crawl a small made-up web on this machine and show the result; needs no network."""
    from analecta.demo import demo

    raise typer.Exit(demo(folder, _console(), force, pages))


@app.command()
def recipes(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Print this recipe's file.", show_default=False)] = "",
    json: Json = False,
) -> None:
    """List the recipes and what each is for, or print one to start your own from."""
    from analecta.publish.plain import next_steps
    from analecta.publish.recipe_list import listed, show
    from analecta.settings import recipe_text

    if name and not json:
        sys.stdout.write(recipe_text(name))
        return
    found = listed(name)
    if json:
        _print_json(found[0] if name else found)
        return
    _console().print(show(found))
    steps = next_steps(Path("LIB"), "new LIB --seeds FILE --recipe NAME", "recipes NAME")
    _console(stderr=True).print(steps, soft_wrap=True)


def _print_json(value: Any) -> None:
    import msgspec

    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
