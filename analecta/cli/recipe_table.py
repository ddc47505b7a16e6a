"""The recipes and what each is for, for a terminal."""

from rich.table import Table

from analecta.settings.load import Recipe


def show(found: list[Recipe]) -> Table:
    """The same for a terminal."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    for recipe in found:
        table.add_row(recipe.name, ("The default. " if recipe.default else "") + recipe.about)
    return table
