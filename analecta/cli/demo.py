"""The command that crawls the pocket web, which is made up and served on this machine, and shows the result."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from analecta.cli.app import app
from analecta.cli.crawl import told, watch
from analecta.cli.map import write_map
from analecta.cli.render import console, next_steps, shown, table
from analecta.errors import AnalectaError, UsageError
from analecta.publish.site import publish
from analecta.publish.site.content import SiteOptions
from analecta.settings.edit import first_settings
from analecta.settings.load import load
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder
from analecta.store.schema import MetaKey
from analecta.testweb.process import PocketServer
from analecta.text.display import plain
from analecta.views.clusters import save, survey
from analecta.views.collections import CollectionItem, collections

_TITLE = "Demo library"  # of its map and site
_TOPICS = 3
_SEEDS = 5
_BEST = 4  # pages shown of each topic


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to make the library.")] = Path("demo-library"),
    force: Annotated[bool, typer.Option("--force", help="Replace the library of an earlier demo.")] = False,
    pages: Annotated[int, typer.Option(metavar="N", min=1, help="How many pages to crawl.")] = 600,
) -> None:
    """Crawl a small made-up web on this machine and show the result; needs no network."""
    raise typer.Exit(make_demo(folder, console(), force, pages))


def make_demo(folder: Path, console: Console, force: bool = False, pages: int = 600, size: int = 3000) -> int:
    """Crawl the pocket web into a new library and show what came of it; the exit code of the crawl."""
    _make_room(folder, force)
    console.print("A small made-up web is served on this machine, and a library is grown from it.")
    with PocketServer(size=size) as server:
        names = server.web.topics[:_TOPICS]
        topics = [Topic(name, tuple(server.web.seeds(name, _SEEDS))) for name in names]
        library = LibraryFolder.create(folder, first_settings(topics, "adaptive"))
        library.put(MetaKey.DEMO, 1)  # only a library that has it may be taken away again
        console.print(f"{len(topics)} topics with {_SEEDS} examples each: {', '.join(names)}.\n")
        asked = {"fetch": {"connect_to": server.address}, "stop": {"pages": pages, "idle": 1.0}}
        result = watch(library, load(library.settings_path, asked), console)
    console.print(told(result))
    found = collections(library, most=_BEST)
    for one in found:
        console.print()
        console.print(_table(one.topic, one.items))
    console.print(f"\nThe library is in {plain(str(folder.resolve()))}", style="bold", soft_wrap=True)
    console.print("Open in a browser:")
    for page in _pages(library):
        console.print(Text(f"  {plain(str(page.resolve()))}", style="cyan"), soft_wrap=True)
    console.print("Look around in it:")
    example = next((ranked.item.url for one in found for ranked in one.items), "URL")
    steps = ("status LIB", f"explain LIB {example}", "collection LIB", "search LIB beginners", "communities LIB")
    console.print(next_steps(folder, *steps), soft_wrap=True)
    return result.code


def _pages(library: LibraryFolder) -> Iterator[Path]:
    """Write the map, if there are pages enough for one, and the site; where they are."""
    with suppress(UsageError):
        found = survey(library)
        save(library, found)
        write_map(library, found, library.folder / "map.html", _TITLE)
        yield library.folder / "map.html"
    publish(library, library.folder / "site", SiteOptions(_TITLE))
    yield library.folder / "site" / "index.html"


def _make_room(folder: Path, force: bool) -> None:
    """An earlier demo may be taken away if the person says so; nothing else ever is."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not _is_demo(folder):
        raise UsageError(f"{folder} exists and is no demo library: choose another folder")
    if not force:
        raise UsageError(f"{folder} exists already, from an earlier demo: --force makes it anew")
    library = LibraryFolder(folder)
    with library.lock():
        shutil.rmtree(folder)


def _is_demo(folder: Path) -> bool:
    try:
        return bool(LibraryFolder(folder).get(MetaKey.DEMO))
    except AnalectaError:
        return False


def _table(topic: str, pages: list[CollectionItem]) -> Table:
    title = Text(f"Best new pages about {plain(topic)}, by score", style="bold")
    # A second column that must not wrap would not be made narrower, and be cut at the terminal's edge.
    columns = Column(style="green", no_wrap=True), Column()
    rows = table(*columns, title=title, title_justify="left", show_header=False)
    for page in pages:
        rows.add_row(f"{page.score:.2f}", shown(page.item.title or "(no title)"))
        rows.add_row("", shown(page.item.url, "dim"))
    return rows
