"""Commands that begin a library or add to it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analecta.cli.app import Json, Lib, app, busy, console, print_json

if TYPE_CHECKING:
    from analecta.settings.edit import Added
    from analecta.sources.result import Reading

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
    from analecta.cli.render import next_steps
    from analecta.settings.edit import first_settings
    from analecta.settings.load import parse, recipe_text, with_recipe
    from analecta.sources.collector import clean, topic_name
    from analecta.sources.create import engines_of, make, paper_files, read_papers, start
    from analecta.sources.files import place
    from analecta.store.library import Library

    recipe_text(recipe)
    named = topic_name(topic.strip()) if topic.strip() else clean(lib.resolve().name or "library")
    Library.check_new(lib)
    engines = engines_of(engine or ())
    papers = read_papers(paper or (), engines, grobid, busy)
    files = {
        "seeds": seeds,
        "examples": examples,
        "bookmarks": bookmarks,
        "outline": outline,
        "feed": feed,
        "sites": sites,
    }
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


def _tell_new(lib: Path, reading: "Reading", troubles: list[str], recipe: str, contact: str) -> None:
    from analecta.cli.new_table import tell_reading
    from analecta.cli.render import next_steps
    from analecta.text.display import plain

    screen = console()
    screen.print(f"The library {plain(str(lib))} is made, with the recipe {recipe}.", style="bold green")
    for line in (*tell_reading(reading), *(f"  {trouble}" for trouble in troubles)):
        screen.print(plain(line), soft_wrap=True)
    if not contact:
        screen.print(f"Say who you are: set contact in {plain(str(lib / 'analecta.toml'))}. Then:")
    else:
        screen.print("Next:")
    screen.print(next_steps(lib, "health LIB", "crawl LIB --pages 1000"), soft_wrap=True)


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

    from analecta.settings.edit import add
    from analecta.settings.load import load
    from analecta.sources.collector import topic_name
    from analecta.sources.create import engines_of, start, write
    from analecta.sources.files import place, read_bytes, text_of
    from analecta.store.library import Library

    library = Library(lib)
    settings = load(library.settings_path)
    there = [one.name for one in settings.topics] or [lib.resolve().name]
    named = topic.strip() or (there[0] if len(there) == 1 else "")
    if named and named not in there:
        topic_name(named)
    engines = engines_of(engine or ()) or {name: settings.search.url.get(name, "") for name in settings.search.engines}
    files = {
        "seeds": seeds,
        "examples": examples,
        "bookmarks": bookmarks,
        "outline": outline,
        "feed": feed,
        "sites": sites,
    }
    reading, troubles = start(named, files, query or (), [], engines, settings, busy)
    path = library.settings_path
    with nullcontext() if dry_run else library.lock():
        reading = place(reading, lib)
        added = add(text_of(read_bytes(path), path), reading.topics, str(path), reading.others)
        before = write(library, added, reading.files) if added and not dry_run else None
    if json:
        found = {"library": str(lib), "topics": added.topics, "more": added.more, "known": added.known}
        found |= {"others": added.others, "shared": added.shared}
        print_json(found | {"written": before is not None, "reading": reading, "troubles": troubles})
    else:
        _tell_added(lib, added, reading, troubles, before)
    raise typer.Exit(0 if added else 3)


def _tell_added(lib: Path, added: "Added", reading: "Reading", troubles: list[str], before: Path | None) -> None:
    from analecta.cli.new_table import tell_added, tell_odd
    from analecta.cli.render import next_steps
    from analecta.text.display import plain

    screen = console()
    for line in (*tell_added(added), *tell_odd(reading), *(f"  {trouble}" for trouble in troubles)):
        screen.print(plain(line), soft_wrap=True)
    if before is not None:
        screen.print(f"Added. The settings as they were: {plain(str(before))}; move them back to undo it. Next:")
        screen.print(next_steps(lib, "health LIB", "crawl LIB --pages 1000"), soft_wrap=True)
    else:
        screen.print("Nothing is written: --dry-run only shows it." if added else "Nothing is new.")
