"""The command that lists the recipes, and prints one."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table

from analecta.cli.app import Json, app
from analecta.cli.render import console, print_json, print_next
from analecta.settings.load import Recipe, listed, recipe_text


@app.command()
def recipes(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Print this recipe's file.", show_default=False)] = "",
    json: Json = False,
) -> None:
    """List the recipes and what each is for, or print one to start your own from."""
    if name and not json:
        sys.stdout.write(recipe_text(name))
        return
    found = listed(name)
    if json:
        print_json(found[0] if name else found)
        return
    console().print(show(found))
    print_next(Path("LIB"), "new LIB --seeds FILE --recipe NAME", "recipes NAME")


def show(found: list[Recipe]) -> Table:
    """A line for each recipe."""
    table = Table.grid(Column(style="bold", no_wrap=True), padding=(0, 2))
    for recipe in found:
        table.add_row(recipe.name, ("The default. " if recipe.default else "") + recipe.about)
    return table
