"""Settings read and checked: recipe, file and command line as one; and the recipes that there are."""

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from analecta.errors import SettingsError, UsageError, suggest
from analecta.settings.problems import bad_value, check_lists, check_topics, located, problem
from analecta.settings.schema import Settings

Layer = Mapping[str, Any]
_UNSENT = re.compile(r"[^\x20-\x7e\xa0-\xff]")  # what cannot stand in the head of a request


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


def recipe_names() -> list[str]:
    """The recipes that ship with Analecta."""
    return sorted(entry.name[:-5] for entry in files("analecta.recipes").iterdir() if entry.name.endswith(".toml"))


def recipe_text(name: str) -> str:
    """The text of a recipe's file."""
    if name not in recipe_names():
        raise UsageError(f"there is no recipe {name!r}{suggest(name, recipe_names())}")
    return files("analecta.recipes").joinpath(f"{name}.toml").read_text()


def load(path: Path, override: Layer | None = None) -> Settings:
    """The settings of a library: recipe, then its file, then `override` (from the command line)."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    written = parse(text, str(path))
    asked = override or {}
    recipe = parse(recipe_text(asked.get("recipe") or written.get("recipe", Settings().recipe)), "recipe")
    try:
        return msgspec.convert(merge(merge(recipe, written), asked), Settings, strict=False)
    except msgspec.ValidationError as error:
        said, where = located(str(error))
        raise UsageError(f"that does not go together: {where}: {said}") from error


def with_recipe(name: str, written: Layer) -> Settings:
    """A recipe's settings with others over them."""
    return msgspec.convert(merge(parse(recipe_text(name), "recipe"), written), Settings)


def parse(text: str, name: str) -> dict[str, Any]:
    """Read and check one TOML text; every fault names the line, the key and what to do."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name}: not valid TOML: {error}") from error
    _check_keys(data, Settings, (), text, name)
    try:
        msgspec.convert(data, Settings)
    except msgspec.ValidationError as error:
        said, where = located(str(error))
        raise bad_value(said, text, name, where) from error
    recipe = data.get("recipe", Settings().recipe)
    if recipe not in recipe_names():
        raise problem(f"there is no recipe {recipe!r}{suggest(recipe, recipe_names())}", text, name, ("recipe",))
    check_lists(data, text, name)
    if _UNSENT.search(data.get("contact", "")):
        raise bad_value("one line of Latin letters and signs is wanted", text, name, "contact")
    check_topics([topic["name"] for topic in data.get("topics", ())], text, name)
    return data


def merge(low: Layer, high: Layer) -> dict[str, Any]:
    """Two layers of settings as one: tables are joined, other values of `high` win."""
    merged = dict(low)
    for key, value in high.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def _check_keys(data: Layer, kind: Any, path: tuple[str, ...], text: str, name: str) -> None:
    hints = get_type_hints(kind)
    for key, value in data.items():
        if key not in hints:
            here = (*path, key)
            raise problem(f"unknown key {'.'.join(here)!r}{suggest(key, list(hints))}", text, name, here)
        inner = hints[key]
        if isinstance(value, Mapping) and isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            _check_keys(value, inner, (*path, key), text, name)
        elif key == "topics" and isinstance(value, list):
            for item in value:
                if isinstance(item, Mapping):
                    _check_keys(item, get_args(inner)[0], (key,), text, name)
