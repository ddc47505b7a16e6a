"""The command that makes a library, and what it understood of what a person brought."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from analecta.cli.app import Json, app
from analecta.cli.render import busy, console, next_steps, print_json
from analecta.settings.edit import first_settings
from analecta.settings.load import parse, recipe_text, with_recipe
from analecta.settings.schema import NegativeSettings, Topic
from analecta.settings.topics import tree
from analecta.sources import SOURCES
from analecta.sources.collector import clean, topic_name
from analecta.sources.create import engines_of, make, paper_files, read_papers, start
from analecta.sources.files import place
from analecta.sources.result import SkippedLine, SourceResult
from analecta.store.library import LibraryFolder
from analecta.text.display import many, plain

MOST = 10  # of what is odd; the rest is counted
Files = list[Path] | None
Seeds = Annotated[Files, typer.Option("--seeds", metavar="FILE", help="Addresses of pages you like, one a line.")]
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


@app.command()
def new(
    context: typer.Context,
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
    recipe_text(recipe)
    named = topic_name(topic.strip()) if topic.strip() else clean(lib.resolve().name or "library")
    LibraryFolder.check_new(lib)
    engines = engines_of(engine or ())
    papers = read_papers(paper or (), engines, grobid, busy)
    files = {kind: context.params[kind] for kind in SOURCES}  # the options that are named as these are
    settings = with_recipe(recipe, {"contact": contact})
    reading, troubles = start(named, files, query or (), papers, engines, settings, busy)
    reading = place(reading, lib)
    text = first_settings(reading.topics, recipe, contact, engines, reading.others)
    parse(text, "the new settings")
    make(lib, text, reading, paper_files(papers))
    if json:
        following = str(next_steps(lib, "crawl LIB --pages 1000")).strip()
        found = {"library": str(lib), "recipe": recipe, "reading": reading, "troubles": troubles, "next": following}
        print_json(found)
    else:
        _tell_new(lib, reading, troubles, recipe, contact)


def _tell_new(lib: Path, reading: SourceResult, troubles: list[str], recipe: str, contact: str) -> None:
    screen = console()
    screen.print(f"The library {plain(str(lib))} is made, with the recipe {recipe}.", style="bold green")
    found = (*tell_topics(reading.topics, reading.others), *tell_odd(reading))
    for line in (*found, *(f"  {trouble}" for trouble in troubles)):
        screen.print(plain(line), soft_wrap=True)
    if not contact:
        screen.print(f"Say who you are: set contact in {plain(str(lib / 'analecta.toml'))}. Then:")
    else:
        screen.print("Next:")
    screen.print(next_steps(lib, "health LIB", "crawl LIB --pages 1000"), soft_wrap=True)


def tell_topics(topics: Sequence[Topic], others: NegativeSettings = NegativeSettings()) -> Iterator[str]:
    """The tree of topics with what shows each of them; what is not meant."""
    for leaf in tree(topics):
        head = "  Topic " if leaf.depth == 0 else "    " + "  " * leaf.depth
        yield f"{head}{leaf.name}" + ("" if leaf.topic is None else f": {what_shows(leaf.topic)}")
    if others != NegativeSettings():
        yield f"  What is not meant: {what_shows(others)}"


def what_shows(given: Topic | NegativeSettings) -> str:
    """How many seeds and files there are, and pages to begin at."""
    starts = len(given.starts) if isinstance(given, Topic) else 0
    parts = [many(len(given.seeds), "seed")] if given.seeds or not (given.examples or starts) else []
    if given.examples:
        parts.append(many(len(given.examples), "file"))
    if starts:
        parts.append(f"{many(starts, 'page')} to begin at")
    return ", ".join(parts)


def tell_odd(reading: SourceResult) -> Iterator[str]:
    """What was repeated, merged, wanting or skipped."""
    if reading.repeated:
        yield f"  Named more than once: {reading.repeated:,}"
    if reading.merged:
        yield f"  Topics that are named twice and made one: {len(reading.merged):,}"
        yield from _first([f"    {name}" for name in reading.merged])
    if reading.queries:
        yield f"  Left out, for want of examples (add URLs below them): {many(len(reading.queries), 'topic')}"
        yield from _first([f"    {name}" for name in reading.queries])
    if reading.skipped:
        yield f"  Skipped: {len(reading.skipped):,}"
        yield from _first([f"    {_where(skipped)}: {skipped.text}: {skipped.why}" for skipped in reading.skipped])


def _first(lines: list[str]) -> Iterator[str]:
    yield from lines[:MOST]
    if len(lines) > MOST:
        yield f"    and {len(lines) - MOST:,} more"


def _where(skipped: SkippedLine) -> str:
    return f"{skipped.file}, line {skipped.line}" if skipped.line else skipped.file
