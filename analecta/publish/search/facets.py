"""What was found, counted: in all, and by topic, community, host, year, type and language."""

from collections.abc import Sequence
from typing import Any

import msgspec
import tantivy

MOST = 10  # values of each that are told
# Each piece of the index counts its own commonest values; so many more are asked for that sums and ties come out right.
_COUNTED, _IN_A_PIECE = 1000, 10_000
_FIELDS = ("topic", "community", "host", "year", "type", "lang")

Facets = dict[str, list[tuple[str, int]]]


class Counted(msgspec.Struct, frozen=True):
    """How many pages there are, and for each way of sorting them the commonest values."""

    total: int
    facets: Facets


def counted(searcher: tantivy.Searcher, query: tantivy.Query, topics: Sequence[str], most: int = MOST) -> Counted:
    """Count what a query finds; `topics` are names by number, and `most` 0 leaves the values out."""
    terms = {"size": _COUNTED, "segment_size": _IN_A_PIECE}
    asked: dict[str, Any] = {name: {"terms": {"field": name, **terms}} for name in _FIELDS if most}
    found = searcher.aggregate(query, {"total": {"value_count": {"field": "id"}}, **asked})
    facets = {name: _values(found[name]["buckets"], topics if name == "topic" else None)[:most] for name in asked}
    return Counted(int(found["total"]["value"]), facets)


def _values(buckets: Sequence[dict[str, Any]], names: Sequence[str] | None) -> list[tuple[str, int]]:
    """The commonest first, equals by name."""
    pairs = [(_named(bucket["key"], names), int(bucket["doc_count"])) for bucket in buckets]
    return sorted((pair for pair in pairs if pair[0]), key=lambda pair: (-pair[1], pair[0]))


def _named(key: Any, names: Sequence[str] | None) -> str:
    """A value in words; numbers come as 3.0."""
    if isinstance(key, str):
        return key
    number = int(key)
    if names is None:
        return str(number)
    return names[number] if 0 <= number < len(names) else ""
