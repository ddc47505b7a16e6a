"""Graphs as XML: GEXF 1.3 and GraphML, a line at a time, so that a million links cost no memory.

What XML cannot hold, or what would turn the line on a screen, is left out of names.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO
from xml.sax.saxutils import escape

import msgspec
import numpy as np
import numpy.typing as npt

from analecta.store.output import output
from analecta.text.display import one_line

Numbers = npt.NDArray[np.int64]
Value = str | int | float
_TYPES = {str: "string", int: "long", float: "double"}  # by these names in both formats
_QUOTES = {'"': "&quot;"}


class Size(msgspec.Struct, frozen=True):
    """How large a graph is."""

    nodes: int
    edges: int


class Graph(msgspec.Struct, frozen=True):
    """Nodes are a label and values in the order of `columns`; link i leads from node src[i] to node dst[i]."""

    columns: dict[str, type]
    nodes: list[tuple[str, tuple[Value, ...]]]
    src: Numbers
    dst: Numbers
    weights: Numbers


def write(graph: Graph, format: str, out: Path | None, force: bool = False) -> Size:
    """Write a graph to a file, or to standard output."""
    lines = FORMATS[format](graph)
    with output(out, format, force) as file:
        _lines(lines, file)
    return Size(len(graph.nodes), len(graph.src))


def gexf(graph: Graph) -> Iterator[str]:
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


def graphml(graph: Graph) -> Iterator[str]:
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


FORMATS: dict[str, Callable[[Graph], Iterator[str]]] = {"gexf": gexf, "graphml": graphml}


def _lines(lines: Iterable[str], out: IO[bytes]) -> None:
    for line in lines:
        out.write(line.encode())


def _edges(graph: Graph) -> Iterable[tuple[int, int, int]]:
    return zip(graph.src.tolist(), graph.dst.tolist(), graph.weights.tolist(), strict=True)


def _text(value: Value) -> str:
    return escape(one_line(value), _QUOTES) if isinstance(value, str) else str(value)
