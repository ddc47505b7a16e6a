"""The command that brings the index for searches up to date."""

from typing import Annotated

import typer

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import busy, console, print_json, print_next
from analecta.errors import ResourceError
from analecta.search.update import IndexUpdate, sync
from analecta.store.library import LibraryFolder
from analecta.text.display import many

Rebuild = Annotated[bool, typer.Option("--rebuild", help="Make the index anew first.")]


@app.command()
def index(lib: Lib, rebuild: Rebuild = False, json: Json = False) -> None:
    """Bring the index that `search` uses up to date; search does so too. The folder LIB/index may be deleted."""
    library = LibraryFolder(lib)
    if why := library.keeps_nothing():
        raise ResourceError(f"no index can be kept in {lib}: {why}; each `analecta search` makes its own")
    with busy("Looking at the library") as status:
        done = sync(library, rebuild=rebuild, doing=status.update)
    if json:
        print_json({"library": str(lib), "index": done})
        return
    console().print(_told(done))
    print_next(lib, "search LIB WORDS" if done.pages else "crawl LIB")


def _told(done: IndexUpdate) -> str:
    if done.rebuilt:
        return f"{many(done.pages, 'page')} indexed in {done.seconds:.1f} s: all anew ({done.rebuilt})."
    if not done.changed and not done.deleted:
        return f"The index of {many(done.pages, 'page')} is up to date."
    return f"{many(done.changed, 'page')} indexed, {done.deleted:,} taken out; {done.pages:,} in all."
