"""The recipes and what each is for, as the first lines of their files say."""

import tomllib
from itertools import takewhile
from typing import Any

import msgspec

from analecta.settings.schema import Settings, recipe_names, recipe_text


class Recipe(msgspec.Struct, frozen=True):
    """A recipe: what it is for, and the settings that it makes."""

    name: str
    about: str
    default: bool
    settings: dict[str, Any]


def listed(name: str = "") -> list[Recipe]:
    """All recipes, or the one of this name; the default comes first."""
    names = [name] if name else sorted(recipe_names(), key=lambda one: (one != Settings().recipe, one))
    return [_recipe(one, recipe_text(one)) for one in names]


def _recipe(name: str, text: str) -> Recipe:
    about = takewhile(lambda line: line.startswith("#"), text.splitlines())
    words = " ".join(line.lstrip("# ") for line in about)
    return Recipe(name, words, name == Settings().recipe, tomllib.loads(text))
