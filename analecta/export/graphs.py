"""Graphs of pages, sites and communities, in the formats of tools in which people look at networks."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from xml.sax.saxutils import escape

import msgspec
import numpy as np

from analecta.analyse.hits import hits, link_graph, one_voice
from analecta.arrays import Ints
from analecta.communities.view import Community, CommunityIndex, CommunityList, index_communities, links_between
from analecta.errors import UsageError
from analecta.export import ExportRequest
from analecta.store.library import LibraryFolder
from analecta.store.output import output
from analecta.store.rows import PageRow
from analecta.store.snapshot import Snapshot
from analecta.text.display import many, one_line

# --- Graphs as XML: GEXF 1.3 and GraphML, a line at a time, so that a million links cost no memory -------------------
# What XML cannot hold, or what would turn the line on a screen, is left out of names.

Value = str | int | float
_TYPES = {str: "string", int: "long", float: "double"}  # by these names in both formats
_QUOTES = {'"': "&quot;"}


class ExportGraph(msgspec.Struct, frozen=True):
    """Nodes are a label and values in the order of `columns`; link i leads from node src[i] to node dst[i]."""

    columns: dict[str, type]
    nodes: list[tuple[str, tuple[Value, ...]]]
    src: Ints
    dst: Ints
    weights: Ints


def write(graph: ExportGraph, format: str, out: Path | None, force: bool) -> None:
    """Write a graph to a file, or to standard output."""
    with output(out, format, force) as file:
        file.writelines(line.encode() for line in FORMATS[format](graph))


def gexf(graph: ExportGraph) -> Iterator[str]:
    """GEXF 1.3, as Gephi reads it."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://gexf.net/1.3" version="1.3">\n'
    yield "<meta><creator>Analecta</creator></meta>\n"
    yield '<graph defaultedgetype="directed" mode="static">\n<attributes class="node">\n'
    for n, (name, kind) in enumerate(graph.columns.items()):
        yield f'<attribute id="{n}" title="{name}" type="{_TYPES[kind]}"/>\n'
    yield "</attributes>\n<nodes>\n"
    for i, (label, values) in enumerate(graph.nodes):
        cells = "".join(f'<attvalue for="{n}" value="{_text(value)}"/>' for n, value in enumerate(values))
        yield f'<node id="{i}" label="{_text(label)}"><attvalues>{cells}</attvalues></node>\n'
    yield "</nodes>\n<edges>\n"
    for i, (a, b, weight) in enumerate(_edges(graph)):
        yield f'<edge id="{i}" source="{a}" target="{b}" weight="{weight}"/>\n'
    yield "</edges>\n</graph>\n</gexf>\n"


def graphml(graph: ExportGraph) -> Iterator[str]:
    """GraphML, as networkx, igraph, yEd and Gephi read it."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for n, (name, kind) in enumerate(chain([("label", str)], graph.columns.items())):
        yield f'<key id="d{n}" for="node" attr.name="{name}" attr.type="{_TYPES[kind]}"/>\n'
    yield '<key id="w" for="edge" attr.name="weight" attr.type="long"/>\n<graph edgedefault="directed">\n'
    for i, (label, values) in enumerate(graph.nodes):
        cells = "".join(f'<data key="d{n}">{_text(value)}</data>' for n, value in enumerate((label, *values)))
        yield f'<node id="n{i}">{cells}</node>\n'
    for a, b, weight in _edges(graph):
        yield f'<edge source="n{a}" target="n{b}"><data key="w">{weight}</data></edge>\n'
    yield "</graph>\n</graphml>\n"


FORMATS: dict[str, Callable[[ExportGraph], Iterator[str]]] = {"gexf": gexf, "graphml": graphml}


def _edges(graph: ExportGraph) -> Iterable[tuple[int, int, int]]:
    return zip(graph.src.tolist(), graph.dst.tolist(), graph.weights.tolist(), strict=True)


def _text(value: Value) -> str:
    return escape(one_line(value), _QUOTES) if isinstance(value, str) else str(value)


# --- Sites with their communities as a graph, for the tools in which people look at networks -------------------------

HOME: dict[str, type] = {"community": int, "community_name": str}  # 0 and "" where a node is of none
_COLUMNS: dict[str, type] = {**HOME, "pages": int, "reason": str}


def home_values(home: Community | None) -> tuple[Value, ...]:
    """The values of the columns `HOME`, which graphs of pages and hosts have too."""
    return (home.number, home.name) if home else (0, "")


def write_community_graph(library: LibraryFolder, found: CommunityList, out: Path, force: bool = False) -> int:
    """Write the members of all communities and the links among them; how many sites that are."""
    format = out.suffix.lower().lstrip(".")
    if format not in FORMATS:
        raise UsageError(f"{out}: a graph is FILE.gexf or FILE.graphml")
    members = [(one, member) for one in found.communities for member in one.members]
    nodes = [(member.site, (*home_values(one), member.pages, member.reason)) for one, member in members]
    place = {member.site: n for n, (_, member) in enumerate(members)}
    links = [
        (place[site], place[other], n)
        for site, row in links_between(library).items()
        for other, n in row.items()
        if site in place and other in place
    ]
    src, dst, weights = np.array(links, np.int64).reshape(-1, 3).T
    write(ExportGraph(_COLUMNS, nodes, src, dst, weights), format, out, force)
    return len(nodes)


# --- The graph of pages, or of sites, and the links between them, for the tools in which people look at networks -----
# What may be shown is in it and nothing else; a link to a page that has moved leads to where that is now.

PAGE: dict[str, type] = {
    "url": str, "host": str, "topic": str, "confidence": float, "mime": str, "lang": str, "date": str, "words": int,
    "hub": float, "authority": float, "found": str, **HOME,
}  # fmt: skip
SITE: dict[str, type] = {
    "url": str, "topic": str, "confidence": float, "pages": int, "links_in": int, "links_out": int, "links_inside": int,
    **HOME,
}  # fmt: skip


def export_graph(library: LibraryFolder, request: ExportRequest) -> list[str]:
    """Write the graph of pages or sites of a topic, or of all topics, to a file (or to standard output)."""
    of = request.of or "sites"
    with library.snapshot() as snapshot:
        wanted = frozenset(snapshot.topic_numbers(None if request.topic is None else [request.topic]))
        found, src, dst = _read(snapshot, wanted)
    graph = KINDS[of](found, src, dst, library.topic_names(), index_communities(library))
    write(graph, request.format, request.path, request.force)
    return [f"{many(len(graph.nodes), of.removesuffix('s'))}, {many(len(graph.src), 'link')} between them."]


def page_graph(
    found: Sequence[PageRow], src: Ints, dst: Ints, names: Sequence[str], homes: CommunityIndex
) -> ExportGraph:
    """Pages and the links between them, with the hubs and authorities of this graph (B12)."""
    hosts = _numbered([item.host for item in found])
    scores = hits(src, dst, len(found), hosts=one_voice(src, dst, hosts))
    nodes = [
        (item.name, (*_page(item, names, hub, authority), *home_values(homes.of(item.url, item.host))))
        for item, hub, authority in zip(found, *(each.tolist() for each in scores), strict=True)
    ]
    return ExportGraph(PAGE, nodes, src, dst, np.ones(len(src), np.int64))


def site_graph(
    found: Sequence[PageRow], src: Ints, dst: Ints, names: Sequence[str], homes: CommunityIndex
) -> ExportGraph:
    """Hosts, and how many links of pages lead from one to another."""
    pages: dict[str, list[PageRow]] = {}
    for item in found:
        pages.setdefault(item.host, []).append(item)
    host = _numbered([item.host for item in found])
    source, target, weights = _counted(host[src], host[dst], len(pages))
    abroad = source != target
    links_in, links_out, inside = (
        np.bincount(ends[which], weights[which], len(pages)).astype(np.int64).tolist()
        for ends, which in ((target, abroad), (source, abroad), (source, ~abroad))
    )
    nodes = [
        (host, (*_site(host, own, names), links_in[n], links_out[n], inside[n], *home_values(_home(own, homes))))
        for n, (host, own) in enumerate(pages.items())
    ]
    return ExportGraph(SITE, nodes, source[abroad], target[abroad], weights[abroad])


KINDS: dict[str, Callable[[Sequence[PageRow], Ints, Ints, Sequence[str], CommunityIndex], ExportGraph]] = {
    "pages": page_graph,
    "sites": site_graph,
}


def _read(snapshot: Snapshot, wanted: frozenset[int]) -> tuple[list[PageRow], Ints, Ints]:
    """The pages of these topics, and the links among them by their places, each once and none to itself."""
    found = [item for item in snapshot.shown_pages() if any(topic in wanted for topic, _ in item.topics)]
    pages, moves = snapshot.link_arrays()
    links = {id: packed for id, _, packed in pages}
    graph = link_graph([(item.id, 0, links[item.id]) for item in found], moves)
    src, dst, _ = _counted(graph.src, graph.dst, len(found))
    return found, src[src != dst], dst[src != dst]


def _counted(src: Ints, dst: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """Each pair once, and how often it was there."""
    keys, count = np.unique(src * max(size, 1) + dst, return_counts=True)
    source, target = np.divmod(keys, max(size, 1))
    return source, target, count.astype(np.int64)


def _numbered(names: Iterable[str]) -> Ints:
    """A number for each name, the same for the same, in the order in which they come."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _page(item: PageRow, names: Sequence[str], hub: float, authority: float) -> tuple[Value, ...]:
    found = "example" if item.example else "link"
    return (
        item.url, item.host, names[item.topic], item.confidence, item.mime, item.lang, item.date, item.words,
        hub, authority, found,
    )  # fmt: skip


def _site(host: str, own: Sequence[PageRow], names: Sequence[str]) -> tuple[Value, ...]:
    """Address, commonest topic, mean confidence and number of pages of a host."""
    topic = Counter(item.topic for item in own).most_common(1)[0][0]
    scheme = own[0].url.partition("://")[0]
    return f"{scheme}://{host}/", names[topic], sum(item.confidence for item in own) / len(own), len(own)


def _home(own: Sequence[PageRow], homes: CommunityIndex) -> Community | None:
    """The community of a host: a part of it may be a site of its own, so that of most of its pages."""
    found = [home for item in own if (home := homes.of(item.url, item.host))]
    numbers = Counter(home.number for home in found)
    return max(found, key=lambda home: numbers[home.number], default=None)
