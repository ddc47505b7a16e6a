"""Commands that show what is in a library, and the recipes."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from analecta.cli.app import Json, Lib, app, console, print_json


@app.command()
def status(lib: Lib, json: Json = False) -> None:
    """Show how a library stands; works while a crawl runs."""
    from analecta.cli.status_table import show
    from analecta.store.library import Library
    from analecta.views.status import status

    found = status(Library(lib))
    print_json(found) if json else console().print(show(found))


@app.command()
def explain(
    lib: Lib,
    url: Annotated[str, typer.Argument(metavar="URL", help="An address, in any form.", show_default=False)],
    json: Json = False,
) -> None:
    """Tell why a page is in, out, refused, failed, waiting or was never seen."""
    from analecta.cli.explain_table import tell
    from analecta.store.library import Library
    from analecta.views.explain import explain

    found = explain(Library(lib), url)
    print_json(found) if json else console().print(tell(found), crop=False)


@app.command()
def recipes(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Print this recipe's file.", show_default=False)] = "",
    json: Json = False,
) -> None:
    """List the recipes and what each is for, or print one to start your own from."""
    from analecta.cli.recipe_table import show
    from analecta.cli.render import next_steps
    from analecta.settings.load import listed, recipe_text

    if name and not json:
        sys.stdout.write(recipe_text(name))
        return
    found = listed(name)
    if json:
        print_json(found[0] if name else found)
        return
    console().print(show(found))
    steps = next_steps(Path("LIB"), "new LIB --seeds FILE --recipe NAME", "recipes NAME")
    console(stderr=True).print(steps, soft_wrap=True)
