"""Graphs of sites to find communities in: a made-up one, or a GML file such as that of the political blogs."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from analecta.errors import BadUse
from analecta.testweb.villages import Villages

SITES = 11_000
_LARGEST = 100_000_000  # bytes of a GML file
_TOKEN = re.compile(r'"[^"]*"|\[|\]|[^\s\[\]"]+|"')


class SiteGraph(msgspec.Struct, frozen=True):
    """Links between sites, and the community of each site that has one."""

    name: str
    links: dict[str, dict[str, int]]
    truth: dict[str, int]


def open_graph(web: str, file: Path | None) -> SiteGraph:
    """The graph of a GML file, or of `villages[:SITES]`."""
    return read_gml(file) if file is not None else made_up(web)


def made_up(web: str, usual: int = SITES) -> SiteGraph:
    """The graph of `villages[:SITES]`, which is also called `pocket[:SITES]`."""
    kind, _, size = web.partition(":")
    if kind not in ("villages", "pocket") or (size and not (size.isdecimal() and int(size) >= 200)):
        raise BadUse(f"--web wants villages or villages:SITES with 200 sites or more, not {web!r}")
    sites = int(size or usual)
    villages = Villages(sites)
    return SiteGraph(f"villages:{sites}", villages.graph, villages.truth)


def read_gml(path: Path) -> SiteGraph:
    """A graph of nodes with `id`, `label` and `value` (which community) and edges from `source` to `target`."""
    try:
        if path.stat().st_size > _LARGEST:
            raise BadUse(f"{path} has more than {_LARGEST // 1_000_000} MB")
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadUse(f"cannot read {path}: {error.strerror}") from None
    names, truth, links = dict[str, str](), dict[str, int](), dict[str, dict[str, int]]()
    records = list(_records(text))
    for kind, record in records:
        if kind == "node" and "id" in record:
            label = record.get("label", "").strip('"') or record["id"]
            name = names[record["id"]] = label if label not in links else f"{label} ({record['id']})"
            links[name] = {}
            if re.fullmatch(r"-?\d{1,9}", record.get("value", "").strip('"')):
                truth[name] = int(record["value"].strip('"'))
    for kind, record in records:
        ends = (names.get(record.get("source", "")), names.get(record.get("target", "")))
        if kind == "edge" and ends[0] and ends[1]:
            links[ends[0]][ends[1]] = links[ends[0]].get(ends[1], 0) + 1
    if not links:
        raise BadUse(f"{path} has no nodes: is it GML?")
    return SiteGraph(path.name, links, truth)


def _records(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The nodes and edges of a GML text as flat records; what is nested deeper is left out."""
    open_kinds, record, key = list[str](), dict[str, str](), ""
    for token in _TOKEN.findall(text):
        if token == "[":
            open_kinds.append(key)
            if key in ("node", "edge"):
                record = {}
            key = ""
        elif token == "]":
            kind = open_kinds.pop() if open_kinds else ""
            if kind in ("node", "edge"):
                yield kind, record
            key = ""
        elif key:
            if open_kinds and open_kinds[-1] in ("node", "edge"):
                record[key] = token
            key = ""
        else:
            key = token
