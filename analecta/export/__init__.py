"""Tables, citations, corpora, graphs and archives for other programs: what can be written, and how.

A new format is an entry in `FORMATS` and the function that it names. That function's module is imported when it is
used: pyarrow alone takes half a second.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from analecta.errors import UsageError
from analecta.store.library import LibraryFolder


class ExportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to write, how and where to; the options are those of the command."""

    kind: str
    format: str
    path: Path | None = None  # standard output
    topic: str | None = None
    community: str | None = None
    top: int | None = None
    per_host: int | None = None
    of: str | None = None
    text: bool = False
    all: bool = False
    for_training: bool = False
    with_reserved: bool = False
    force: bool = False
    now: float = msgspec.field(default_factory=time.time)


class ExportFormat(msgspec.Struct, frozen=True):
    """The function that writes a format, as "module.function" of this folder, and the options that it takes.

    It is given the library and an `ExportRequest`, and returns sentences about what it wrote. `busy` is said meanwhile.
    """

    writer: str
    options: tuple[str, ...] = ()
    busy: str = ""


# Rows of a table, by the name of the format.
TABLES = {"jsonl": "tables.write_jsonl", "csv": "tables.write_csv", "parquet": "parquet.write_parquet"}


def _written(formats: Iterable[str], writer: str, *options: str, busy: str = "") -> dict[str, ExportFormat]:
    return dict.fromkeys(formats, ExportFormat(writer, options, busy))


# What can be exported, and how it can be written: the first is what is taken where nothing is said.
_COLLECTION = ("topic", "community", "top", "per_host")
FORMATS: dict[str, dict[str, ExportFormat]] = {
    "pages": _written(TABLES, "tables.export_rows", "all", "for_training"),
    "links": _written(TABLES, "tables.export_rows"),
    "refusals": _written(TABLES, "tables.export_rows"),
    "history": _written(TABLES, "tables.export_rows"),
    "collection": {
        **_written(TABLES, "tables.export_collection", *_COLLECTION),
        **_written(["bibtex", "ris"], "citations.export_citations", *_COLLECTION),
    },
    "corpus": _written(
        ["parquet", "jsonl"], "corpus.export_corpus", "topic", "with_reserved", busy="Reading main texts ..."
    ),
    "graph": _written(["gexf", "graphml"], "graphs.export_graph", "topic", "of"),
    "archive": {
        "wacz": ExportFormat("wacz.export_wacz", ("all", "topic", "text"), "Copying records ..."),
        "cdxj": ExportFormat("cdxj.export_cdxj", ("all", "topic", "text")),
    },
}


def load_writer(name: str) -> Callable[..., Any]:
    """The function of this name, as "module.function" of this folder."""
    module, _, function = name.partition(".")
    found: Callable[..., Any] = getattr(import_module(f"analecta.export.{module}"), function)
    return found


def check_request(kind: str, format: str | None, options: Mapping[str, Any]) -> str:
    """The format to write; an error where there is none of that name, or where an option is about something else."""
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value == "":
            raise UsageError(f"{option} '' names nothing: leave it out for all")
        kinds = [one for one, formats in FORMATS.items() if any(name in way.options for way in formats.values())]
        if value not in (None, False) and kind not in kinds:
            raise UsageError(f"{option} is for `export LIB {'|'.join(kinds)}`, not for {kind}")
    if format is not None and format not in FORMATS[kind]:
        raise UsageError(f"{kind} can be written as {', '.join(FORMATS[kind])}, not as {format}")
    return format or next(iter(FORMATS[kind]))


def export(library: LibraryFolder, request: ExportRequest) -> list[str]:
    """Write it; sentences about what was written and what was left out."""
    sentences: list[str] = load_writer(FORMATS[request.kind][request.format].writer)(library, request)
    return sentences
