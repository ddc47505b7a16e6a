"""The command that adds topics and examples to a library."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from analecta.cli.app import Json, Lib, app
from analecta.cli.new import (
    Bookmarks,
    Engine,
    Examples,
    Feed,
    Outline,
    Query,
    Seeds,
    Sites,
    tell_odd,
    tell_topics,
    what_shows,
)
from analecta.cli.render import busy, console, next_steps, print_json
from analecta.settings.edit import Added
from analecta.settings.edit import add as add_topics
from analecta.settings.load import load
from analecta.settings.schema import NegativeSettings
from analecta.sources import SOURCES
from analecta.sources.collector import topic_name
from analecta.sources.create import engines_of, start, write
from analecta.sources.files import place, read_bytes, text_of
from analecta.sources.result import SourceResult
from analecta.store.library import LibraryFolder
from analecta.text.display import plain


@app.command()
def add(
    context: typer.Context,
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
    library = LibraryFolder(lib)
    settings = load(library.settings_path)
    there = [one.name for one in settings.topics] or [lib.resolve().name]
    named = topic.strip() or (there[0] if len(there) == 1 else "")
    if named and named not in there:
        topic_name(named)
    engines = engines_of(engine or ()) or {name: settings.search.url.get(name, "") for name in settings.search.engines}
    files = {kind: context.params[kind] for kind in SOURCES}  # the options that are named as these are
    reading, troubles = start(named, files, query or (), [], engines, settings, busy)
    path = library.settings_path
    with nullcontext() if dry_run else library.lock():
        reading = place(reading, lib)
        added = add_topics(text_of(read_bytes(path), path), reading.topics, str(path), reading.others)
        before = write(library, added, reading.files) if added and not dry_run else None
    if json:
        found = {"library": str(lib), "topics": added.topics, "more": added.more, "known": added.known}
        found |= {"others": added.others, "shared": added.shared}
        print_json(found | {"written": before is not None, "reading": reading, "troubles": troubles})
    else:
        _tell_added(lib, added, reading, troubles, before)
    raise typer.Exit(0 if added else 3)


def _tell_added(lib: Path, added: Added, reading: SourceResult, troubles: list[str], before: Path | None) -> None:
    screen = console()
    for line in (*tell_added(added), *tell_odd(reading), *(f"  {trouble}" for trouble in troubles)):
        screen.print(plain(line), soft_wrap=True)
    if before is not None:
        screen.print(f"Added. The settings as they were: {plain(str(before))}; move them back to undo it. Next:")
        screen.print(next_steps(lib, "health LIB", "crawl LIB --pages 1000"), soft_wrap=True)
    else:
        screen.print("Nothing is written: --dry-run only shows it." if added else "Nothing is new.")


def tell_added(added: Added) -> Iterator[str]:
    """What is new in settings that were added to."""
    if added.topics:
        yield "New topics:"
        yield from tell_topics(added.topics)
    if added.more or added.others != NegativeSettings():
        yield "More for what is there:"
        yield from (f"  Topic {topic.name}: {what_shows(topic)}" for topic in added.more)
        yield from tell_topics((), added.others)
    if added.known:
        yield f"  There already: {added.known:,}"
    for name, count in added.shared.items():
        yield f"  Seeds that {name} has already: {count:,}; a page is an example of one topic only"
