"""What was found, counted: in all, and by topic, community, host, year, type and language."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import tantivy

MOST = 10  # values of each that are told
# Each piece of the index counts its own commonest values; so many more are asked for that sums and ties come out right.
_COUNTED, _IN_A_PIECE = 1000, 10_000
_FIELDS = ("topic", "community", "host", "year", "type", "lang")

Facets = dict[str, list[tuple[str, int]]]
Names = Mapping[str, Mapping[str, str]]  # of a field's values, where those are not words themselves


class Counted(msgspec.Struct, frozen=True):
    """How many pages there are, of each community by its key, and for each way of sorting them the commonest values.

    `left_out` are pages on no topic, where these do not count.
    """

    total: int
    communities: dict[str, int]
    facets: Facets
    left_out: int = 0


def counted(searcher: tantivy.Searcher, query: tantivy.Query, names: Names, most: int, every: bool) -> Counted:
    """Count what a query finds, with `every` also pages on no topic.

    `names` are those of topics and communities, and `most` 0 leaves the values out.
    """
    terms = {"size": _COUNTED, "segment_size": _IN_A_PIECE}
    fields = [name for name in _FIELDS if names.get(name, most) and (most or name == "community")]
    asked: dict[str, Any] = {name: {"terms": {"field": name, **terms}} for name in fields}
    found, left_out = _asked(searcher, query, {"total": {"value_count": {"field": "id"}}, **asked}, every)
    values = {name: [_value(bucket) for bucket in found[name]["buckets"]] for name in fields}
    facets = {name: _commonest(values.get(name, []), names.get(name))[:most] for name in _FIELDS if most}
    return Counted(int(found["total"]["value"]), dict(values.get("community", [])), facets, left_out)


def _asked(searcher: tantivy.Searcher, query: tantivy.Query, asked: dict[str, Any], every: bool) -> tuple[Any, int]:
    """What is asked of all pages, or only of those on topics, and how many others there are: one search for both."""
    if every:
        return searcher.aggregate(query, asked), 0
    parts = {"range": {"field": "first", "ranges": [{"to": 0}, {"from": 0}]}, "aggs": asked}
    none, on = searcher.aggregate(query, {"parts": parts})["parts"]["buckets"]
    return on, int(none["doc_count"])


def _value(bucket: Mapping[str, Any]) -> tuple[str, int]:
    """A value and how many pages have it; numbers come as 3.0."""
    key = bucket["key"]
    return key if isinstance(key, str) else str(int(key)), int(bucket["doc_count"])


def _commonest(values: Sequence[tuple[str, int]], names: Mapping[str, str] | None) -> list[tuple[str, int]]:
    """The commonest first, equals by name; without what has no name."""
    pairs = [(value if names is None else names.get(value, ""), n) for value, n in values]
    return sorted((pair for pair in pairs if pair[0]), key=lambda pair: (-pair[1], pair[0]))
