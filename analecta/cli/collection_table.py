"""Collections for a terminal: rank, score, title, host and why; and as plain values for a machine."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analecta.cli.render import Fitting, shown
from analecta.communities.view import Homes
from analecta.text.display import many, plain
from analecta.views.collections import AUTHORITY, CONFIDENCE, Collection, Ranked
from analecta.views.precision import Judged, Precision, precisions
from analecta.views.reasons import KIND_WORDS


def show(found: Sequence[Collection], judged: Judged | None = None) -> RenderableType:
    """All collections, one below another; with their precision where pages were judged."""
    parts: list[RenderableType] = []
    for collection in found:
        parts += [*_collection(collection), *([_precision(collection, judged)] if judged is not None else []), ""]
    if not any(collection.items for collection in found):
        return Group(*parts[:-1]) if found else Text("No pages yet.")
    words = f"{CONFIDENCE:g} × how sure the judge is + {AUTHORITY:g} × how much the topic's hubs link to it"
    return Group(*parts, Text(f"Score: {words}; pages of poor kinds come last.", style="dim"))


def why(ranked: Ranked) -> str:
    """What put an item where it is, in a few words."""
    reasons = [f"sure {ranked.confidence:.2f}"]
    if ranked.authority:
        reasons.append(f"authority {ranked.authority:.2f}")
    if ranked.kind:
        reasons.append(f"reads like {KIND_WORDS[ranked.kind]}")
    return ", ".join(reasons)


def as_values(found: Sequence[Collection], homes: Homes, judged: Judged | None = None) -> list[dict[str, Any]]:
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
    return [head, Fitting(_wide(collection.items), _narrow(collection.items))]


def _wide(items: Sequence[Ranked]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name, side in (("rank", "right"), ("score", "right"), ("title", "left"), ("host", "left"), ("why", "left")):
        table.add_column(name, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for ranked in items:
        item = ranked.item
        cells = (f"{ranked.rank}", f"{ranked.score:.2f}", shown(item.name), shown(item.host, "dim"), shown(why(ranked)))
        table.add_row(*cells)
    return table


def _narrow(items: Sequence[Ranked]) -> Table:
    """Two lines each: the title alone may be cut."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name, side in (("rank", "right"), ("score", "right"), ("title, host and why", "left")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for ranked in items:
        below = Text(f"{plain(ranked.item.host)}  {why(ranked)}", "dim", overflow="fold")
        table.add_row(f"{ranked.rank}", f"{ranked.score:.2f}", Group(shown(ranked.item.name), below))
    return table


def _precision(collection: Collection, judged: Judged) -> Text:
    figures = ", ".join(_told(p) for p in precisions(collection, judged) if p.judged)
    return Text(f"Precision: {figures or 'none of these pages was judged'}", style="green" if figures else "yellow")


def _told(found: Precision) -> str:
    of = f"{found.good} of {found.judged}" + (" judged" if found.judged < found.at else "")
    return f"{found.share:.2f} at {found.at} ({of})"


def _figures(found: Precision) -> dict[str, Any]:
    return {"at": found.at, "judged": found.judged, "good": found.good, "precision": found.share}


def _item(ranked: Ranked, homes: Homes) -> dict[str, Any]:
    item = ranked.item
    home = homes.of(item.url, item.host)
    return {
        "rank": ranked.rank,
        "score": ranked.score,
        "url": item.url,
        "title": item.title,
        "host": item.host,
        "confidence": ranked.confidence,
        "authority": ranked.authority,
        "kind": ranked.kind,
        "example": item.example,
        "community": home.name if home else "",
    }
