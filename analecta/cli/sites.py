"""The command that says what a site is."""

import contextlib
from typing import Annotated

import typer

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import console, next_steps, print_json
from analecta.errors import UsageError
from analecta.settings.load import load
from analecta.store import site_rules as store
from analecta.store.library import LibraryFolder
from analecta.store.sites import recount as count_anew
from analecta.text.display import plain


@app.command()
def sites(
    lib: Lib,
    merge: Annotated[tuple[str, str] | None, typer.Option(metavar="A B", help="A is part of the site B.")] = None,
    split: Annotated[str, typer.Option(metavar="HOST/DIR/", help="This directory is a site of its own.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Take the last change back; again, the one before.")] = False,
    recount: Annotated[
        bool, typer.Option("--recount", help="Count all links between sites anew, as after a change of `sites`.")
    ] = False,
    json: Json = False,
) -> None:
    """Say what a site is, where the settings `sites` do not say it well; shows what was said.

    Exit codes: 0 done or shown, 2 bad use, 4 disk, or a crawl holds the library.
    """
    if sum(map(bool, (merge, split, undo, recount))) > 1:
        raise UsageError("one at a time: --merge, --split, --undo or --recount")
    library = LibraryFolder(lib)
    settings = load(library.settings_path).sites
    said: list[str] = []
    with library.lock() if merge or split or undo or recount else contextlib.nullcontext():
        if merge:
            said.append(store.merge(library, settings, *merge).words)
        elif split:
            said.append(store.split(library, split).words)
        elif undo:
            said.append(f"no longer: {store.undo(library).words}")
        if split or undo or recount:
            count_anew(library, store.sites_of(library, settings))
    now, moved = [edit.words for edit in store.edits(library)], store.moved(library)
    if json:
        print_json({"library": str(lib), "by": settings.by, "done": said, "edits": now, "moved": moved})
        return
    for words in said:
        console().print(plain(words), soft_wrap=True)
    if recount:
        console().print("All links between sites are counted anew.")
    if not said and not recount:
        kinds = {"host": "a host", "domain": "a registrable domain", "prefix": "a host, or a directory as set"}
        seen = [f"{site} has moved to {to}, as a crawl saw" for site, to in moved.items()]
        told = [f"A site is {kinds[settings.by]} (sites.by).", *map(plain, (*seen, *now))]
        console().print("\n".join(told), soft_wrap=True)
    console(stderr=True).print(next_steps(lib, "communities LIB", *(["sites LIB --undo"] if now else [])))
