"""The command that shows the best pages of each topic: rank, score, title, host and why."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from analecta.cli.app import Force, Json, Lib, app
from analecta.cli.render import FittingText, console, print_json, print_next, shown, table
from analecta.communities.view import CommunityIndex, index_communities
from analecta.errors import UsageError
from analecta.publish.pages import as_html, as_svg, pictures
from analecta.store.library import LibraryFolder
from analecta.store.output import output as open_output
from analecta.text.display import many, plain
from analecta.views.collections import AUTHORITY, CONFIDENCE, RANKED, Collection, CollectionItem, collections
from analecta.views.precision import Judged, Precision, check_topics, precisions, read_judged, settled
from analecta.views.reasons import KIND_WORDS
from analecta.views.rows import row_of


@app.command()
def collection(
    lib: Lib,
    topic: Annotated[
        list[str] | None, typer.Option(metavar="T", help="Only this topic (may be said several times).")
    ] = None,
    community: Annotated[
        str, typer.Option(metavar="C", help="Only pages of this one: its number, its name or a site.")
    ] = "",
    top: Annotated[int, typer.Option(metavar="N", min=1, help="Items of each collection.")] = 20,
    per_host: Annotated[
        int, typer.Option(metavar="K", min=0, help="Items of one host while others have some; 0: all.")
    ] = 5,
    examples: Annotated[bool, typer.Option("--examples", help="Also the examples that it was begun with.")] = False,
    judged: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Lines of URL TAB yes|no or URL TAB topic|topic: precision."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.html|.svg", help="Draw how the collections came to be."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Show the best pages of each topic and why they are; works while a crawl runs."""
    kind = output.suffix.lower() if output else ""
    if output is not None and kind not in (".html", ".svg"):
        raise UsageError(f"{output}: a picture is FILE.html or FILE.svg")
    library = LibraryFolder(lib)
    said = settled(library, read_judged(judged)) if judged is not None else None
    if said is not None:
        check_topics(said, library.topic_names())
    homes = index_communities(library, community) if community or json else None
    found = collections(library, topic or None, top, per_host, examples, homes)
    if community:  # topics of which it has no page are not worth a line each
        found = [one for one in found if one.items] or found[:1]
    if output is not None:
        with open_output(output, kind[1:], force) as file:
            drawn = pictures(library, found, said)
            file.write((as_svg(drawn) if kind == ".svg" else as_html(drawn, lib.resolve().name)).encode())
    if json and homes:
        values = as_values(found, homes, said)
        print_json({"library": str(lib), "crawling": library.holder(), "collections": values})
        return
    console().print(show(found, said))
    if output is not None:
        console().print(f"The picture is in {output}.")
    best = next((one.items[0].item.url for one in found if one.items), "URL")
    steps = (f"explain LIB {shlex.quote(best)}", "publish LIB -o DIR") if best != "URL" else ("crawl LIB",)
    print_next(lib, *steps)


def show(found: Sequence[Collection], judged: Judged | None = None) -> RenderableType:
    """All collections, one below another; with their precision where pages were judged."""
    parts: list[RenderableType] = []
    for collection in found:
        parts += [*_collection(collection), *([_precision(collection, judged)] if judged is not None else []), ""]
    if not any(collection.items for collection in found):
        return Group(*parts[:-1]) if found else Text("No pages yet.")
    words = f"{CONFIDENCE:g} × how sure the judge is + {AUTHORITY:g} × how much the topic's hubs link to it"
    return Group(*parts, Text(f"Score: {words}; pages of poor kinds come last.", style="dim"))


def why(ranked: CollectionItem) -> str:
    """What put an item where it is, in a few words."""
    reasons = [f"sure {ranked.confidence:.2f}"]
    if ranked.authority:
        reasons.append(f"authority {ranked.authority:.2f}")
    if ranked.kind:
        reasons.append(f"reads like {KIND_WORDS[ranked.kind]}")
    return ", ".join(reasons)


def as_values(found: Sequence[Collection], homes: CommunityIndex, judged: Judged | None) -> list[dict[str, Any]]:
    """The same as plain values."""
    return [
        {
            "topic": collection.topic,
            "pages": collection.pages,
            "items": [_item(ranked, homes) for ranked in collection.items],
            **({} if judged is None else {"precision": [_figures(p) for p in precisions(collection, judged)]}),
        }
        for collection in found
    ]


def _collection(collection: Collection) -> list[RenderableType]:
    head = Text(plain(collection.topic), style="bold")
    if not collection.items:
        return [head.append(": no pages yet", style="dim not bold")]
    head.append(f": the best {len(collection.items):,} of {many(collection.pages, 'page')}", style="dim not bold")
    return [head, FittingText(_wide(collection.items), _narrow(collection.items))]


def _wide(items: Sequence[CollectionItem]) -> Table:
    figures = (Column(name, justify="right", no_wrap=True) for name in ("rank", "score"))
    rows = table(*figures, *(Column(name, no_wrap=True) for name in ("title", "host", "why")))
    for ranked in items:
        item = ranked.item
        cells = (f"{ranked.rank}", f"{ranked.score:.2f}", shown(item.name), shown(item.host, "dim"), shown(why(ranked)))
        rows.add_row(*cells)
    return rows


def _narrow(items: Sequence[CollectionItem]) -> Table:
    """Two lines each: the title alone may be cut."""
    rows = table(*(Column(name, justify="right") for name in ("rank", "score")), Column("title, host and why"))
    for ranked in items:
        below = Text(f"{plain(ranked.item.host)}  {why(ranked)}", "dim", overflow="fold")
        rows.add_row(f"{ranked.rank}", f"{ranked.score:.2f}", Group(shown(ranked.item.name), below))
    return rows


def _precision(collection: Collection, judged: Judged) -> Text:
    figures = ", ".join(_told(p) for p in precisions(collection, judged) if p.judged)
    return Text(f"Precision: {figures or 'none of these pages was judged'}", style="green" if figures else "yellow")


def _told(found: Precision) -> str:
    of = f"{found.good} of {found.judged}" + (" judged" if found.judged < found.at else "")
    return f"{found.share:.2f} at {found.at} ({of})"


def _figures(found: Precision) -> dict[str, Any]:
    return {"at": found.at, "judged": found.judged, "good": found.good, "precision": found.share}


def _item(ranked: CollectionItem, homes: CommunityIndex) -> dict[str, Any]:
    item = ranked.item
    home = homes.of(item.url, item.host)
    names = ("rank", "score", "url", "title", "host", "confidence", "authority", "kind", "example", "community")
    return row_of(names, item, **row_of(RANKED, ranked), community=home.name if home else "")
