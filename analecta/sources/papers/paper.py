"""What is known of a paper: plain values, and the file that they are written to."""

import tomllib
from collections.abc import Iterable
from typing import Any

import msgspec
import tomlkit

from analecta.errors import UsageError
from analecta.text.display import escape_toml


class Reference(msgspec.Struct, frozen=True):
    """A work that a paper refers to; `raw` is what the paper says of it. Some papers name no titles."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: str = ""
    raw: str = ""


class Section(msgspec.Struct, frozen=True):
    """A section of a paper: its heading and its text."""

    title: str
    text: str = ""


class Paper(msgspec.Struct, frozen=True):
    """A research paper; `why` says in a sentence what could not be read, if something could not."""

    title: str = ""
    authors: tuple[str, ...] = ()
    affiliations: tuple[str, ...] = ()
    abstract: str = ""
    keywords: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    references: tuple[Reference, ...] = ()
    why: str = ""


# --- A paper as a TOML file that a person can correct, and back ------------------------------------------------------


def to_toml(paper: Paper) -> str:
    """The paper in TOML; the text of its sections is left out."""
    document = tomlkit.document()
    _fill(document, paper, ("title", "authors", "affiliations", "abstract", "keywords"))
    references = tomlkit.aot()
    for reference in paper.references:
        table = tomlkit.table()
        _fill(table, reference, Reference.__struct_fields__)
        references.append(table)
    if paper.references:
        document.add("references", references)
    return escape_toml(tomlkit.dumps(document))


def _fill(table: tomlkit.items.Table | tomlkit.TOMLDocument, said: Paper | Reference, keys: Iterable[str]) -> None:
    for key in keys:
        value = getattr(said, key)
        table.add(key, _array(value) if isinstance(value, tuple) else tomlkit.item(value))


def _array(values: tuple[str, ...]) -> tomlkit.items.Array:
    array = tomlkit.array()
    array.extend(values)
    return array.multiline(sum(map(len, values)) > 100)


def from_toml(text: str, name: str) -> Paper:
    """The paper that a person's file describes; raises BadUse that says what is wrong with it, and where."""
    try:
        values: dict[str, Any] = tomllib.loads(text)
        return msgspec.convert(_with_text_years(values), Paper, strict=True)
    except tomllib.TOMLDecodeError as wrong:
        raise UsageError(f"{name}, the file of a paper, is no TOML: {wrong}") from None
    except msgspec.ValidationError as wrong:
        raise UsageError(f"{name}, the file of a paper: {wrong}") from None


def _with_text_years(values: dict[str, Any]) -> dict[str, Any]:
    """A person may write a year without quotation marks."""
    references = values.get("references")
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, dict) and isinstance(reference.get("year"), int):
            reference["year"] = str(reference["year"])
    return values
