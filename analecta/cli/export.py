"""The command that writes what a library holds in the formats of others."""

import sys
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from analecta.cli.app import Lib, app
from analecta.cli.render import busy, console
from analecta.communities.view import neighbourhood
from analecta.errors import UsageError
from analecta.export.cdxj import write_cdxj
from analecta.export.citations import write_citations
from analecta.export.corpus import is_corpus, write_corpus
from analecta.export.datasheet import REASONS
from analecta.export.graphs import write_graph
from analecta.export.rows import COLUMNS as COLLECTION_COLUMNS
from analecta.export.rows import collection_rows
from analecta.export.tables import write
from analecta.export.wacz import write_wacz
from analecta.files import check_ours, discard
from analecta.store.library import LibraryFolder
from analecta.store.output import check_outside
from analecta.text.display import many
from analecta.views.collections import MOST, PER_HOST, collections
from analecta.views.rows import COLUMNS, KINDS, LeftOut

TABLES = ("jsonl", "csv", "parquet")
# What can be exported, and how it can be written: the first is what is taken where nothing is said.
FORMATS = {
    "pages": TABLES,
    "links": TABLES,
    "refusals": TABLES,
    "history": TABLES,
    "collection": (*TABLES, "bibtex", "ris"),
    "corpus": ("parquet", "jsonl"),
    "graph": ("gexf", "graphml"),
    "archive": ("wacz", "cdxj"),
}
# Which options are about which of these.
ABOUT = {
    "--all": ("pages", "archive"),
    "--for-training": ("pages",),
    "--with-reserved": ("corpus",),
    "--topic": ("collection", "corpus", "graph", "archive"),
    "--community": ("collection",),
    "--top": ("collection",),
    "--per-host": ("collection",),
    "--of": ("graph",),
    "--text": ("archive",),
}


class ExportKind(StrEnum):
    """What can be exported."""

    PAGES = "pages"
    LINKS = "links"
    REFUSALS = "refusals"
    HISTORY = "history"
    COLLECTION = "collection"
    CORPUS = "corpus"
    GRAPH = "graph"
    ARCHIVE = "archive"


class ExportFormat(StrEnum):
    """How it can be written."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    BIBTEX = "bibtex"
    RIS = "ris"
    GEXF = "gexf"
    GRAPHML = "graphml"
    WACZ = "wacz"
    CDXJ = "cdxj"


class GraphOf(StrEnum):
    """What a graph is of."""

    SITES = "sites"
    PAGES = "pages"


class ExportOptions(dict[str, Any]):
    """The options that were given, by their names."""

    def check(self, what: str) -> None:
        """Say so where one is about something else."""
        for option, value in self.items():
            if value == "":
                raise UsageError(f"{option} '' names nothing: leave it out for all")
            if value not in (None, False) and what not in ABOUT[option]:
                raise UsageError(f"{option} is for `export LIB {'|'.join(ABOUT[option])}`, not for {what}")


@app.command()
def export(
    lib: Lib,
    what: Annotated[ExportKind, typer.Argument(metavar="WHAT", help="What to write.", show_default=False)],
    format: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="How to write it; which are possible is said in docs/commands.md."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to (default: standard output).")
    ] = None,
    topic: Annotated[str | None, typer.Option(metavar="T", help="Only of this topic.", show_default=False)] = None,
    community: Annotated[
        str | None, typer.Option(metavar="C", help="Only of this one: its number, its name or a site.")
    ] = None,
    top: Annotated[int | None, typer.Option(metavar="N", min=1, help="Items of each collection (50).")] = None,
    per_host: Annotated[int | None, typer.Option(metavar="K", min=0, help="Items of one host in each (5).")] = None,
    of: Annotated[
        GraphOf | None, typer.Option(help="A graph of sites, or of pages (sites).", show_default=False)
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="An archive's list of pages with their texts.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also pages whose owners want them not shown, or no copy of them.")
    ] = False,
    for_training: Annotated[
        bool, typer.Option("--for-training", help="Leave out pages whose owners reserve them against AI training.")
    ] = False,
    with_reserved: Annotated[
        bool, typer.Option("--with-reserved", help="A corpus that is not for training: with what owners reserve.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write tables, collections, a corpus with texts, graphs, or the archive, for other tools to read."""
    given = {
        "--all": everything, "--for-training": for_training, "--with-reserved": with_reserved, "--topic": topic,
        "--community": community, "--top": top, "--per-host": per_host, "--of": of, "--text": text,
    }  # fmt: skip
    wishes = ExportOptions(given)
    wishes.check(what)
    wishes["--force"] = force
    how = str(format or FORMATS[what][0])
    if how not in FORMATS[what]:
        raise UsageError(f"{what} can be written as {', '.join(FORMATS[what])}, not as {how}")
    writer = _WRITERS.get(what, _write_table)
    try:
        writer(LibraryFolder(lib), what, how, output, wishes)
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)


def _write_table(library: LibraryFolder, what: str, how: str, output: Path | None, wishes: ExportOptions) -> None:
    left = LeftOut()
    for_training = wishes["--for-training"]
    options = {"everything": wishes["--all"], "for_training": for_training} if what == "pages" else {}
    count = write(KINDS[what](library, left, **options), COLUMNS[what], how, output, wishes["--force"])
    _tell_left(what, count, left, for_training)


def _tell_left(what: str, count: int, left: LeftOut, for_training: bool) -> None:
    _tell(f"{many(count, 'moment' if what == 'history' else what.removesuffix('s'))}.")
    if left.noindex:
        _tell(f"Left out: {many(left.noindex, 'page')} with noindex{' (--all has them)' if what == 'pages' else ''}.")
    if for_training:
        _tell(f"Left out: {many(left.reserved, 'page')} whose owners reserve them against use for training.")
    if left.unknown:
        _tell(f"Left out: {many(left.unknown, 'link')} not followed, so that nothing is known of what they lead to.")


def _write_collection(library: LibraryFolder, _: str, how: str, output: Path | None, wishes: ExportOptions) -> None:
    topics = [wishes["--topic"]] if wishes["--topic"] else None
    most = wishes["--top"] or MOST
    per_host = PER_HOST if wishes["--per-host"] is None else wishes["--per-host"]
    near = neighbourhood(library, wishes["--community"] or "")
    found = collections(library, topics, most, per_host, inside=near.inside)
    if how in TABLES:
        count = write(collection_rows(library, found, near.homes), COLLECTION_COLUMNS, how, output, wishes["--force"])
    else:
        count = write_citations(found, how, output, wishes["--force"])
    _tell(f"{many(count, 'item')}.")


def _write_corpus(library: LibraryFolder, _: str, how: str, output: Path | None, wishes: ExportOptions) -> None:
    if output is None:
        raise UsageError("a corpus is a folder: say which with -o DIR")
    check_ours(output, is_corpus)
    check_outside(output)
    topics = [wishes["--topic"]] if wishes["--topic"] else None
    with busy("Reading main texts ..."):
        found = write_corpus(library, output, how, topics, for_training=not wishes["--with-reserved"])
    _tell(f"{output}: {many(found.pages, 'page')} with {many(found.words, 'word')}; README.md tells all about them.")
    for why, count in found.left.items():
        _tell(f"Left out: {many(count, 'page')} {REASONS[why]}.")


def _write_graph(library: LibraryFolder, _: str, how: str, output: Path | None, wishes: ExportOptions) -> None:
    of = str(wishes["--of"] or GraphOf.SITES)
    size = write_graph(library, output, how, of, wishes["--topic"], wishes["--force"])
    _tell(f"{many(size.nodes, of.removesuffix('s'))}, {many(size.edges, 'link')} between them.")


def _write_archive(library: LibraryFolder, _: str, how: str, output: Path | None, wishes: ExportOptions) -> None:
    topic, everything, force = wishes["--topic"], wishes["--all"], wishes["--force"]
    if how == "cdxj":
        if wishes["--text"]:
            raise UsageError("--text is for wacz: an index has no list of pages")
        indexed = write_cdxj(library, output, topic, everything, force)
        left_out = indexed.left_out
        _tell(f"{many(indexed.records, 'record')}.")
    else:
        if output is None:
            raise UsageError("a WACZ is a file: say which with -o FILE.wacz")
        with busy("Copying records ..."):
            made = write_wacz(
                library, output, topic, created=time.time(), text=wishes["--text"], everything=everything, force=force
            )
        left_out = made.left_out
        _tell(f"{many(made.pages, 'page')}, {many(made.records, 'record')}, {many(made.bytes, 'byte')}: {output}")
    if left_out:
        _tell(f"Left out: {many(left_out, 'page')} whose owners want no copy shown (--all has them).")


def _tell(words: str) -> None:
    console(stderr=True).print(words, soft_wrap=True)


_WRITERS: dict[str, Callable[[LibraryFolder, str, str, Path | None, ExportOptions], None]] = {
    "collection": _write_collection,
    "corpus": _write_corpus,
    "graph": _write_graph,
    "archive": _write_archive,
}
