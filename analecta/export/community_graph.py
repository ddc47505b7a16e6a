"""Sites with their communities as a graph, for the tools in which people look at networks."""

from pathlib import Path

import numpy as np

from analecta.communities.view import Community, Found, links_between
from analecta.errors import BadUse
from analecta.export.graph_xml import FORMATS, Graph, Value, write
from analecta.store.library import Library

HOME: dict[str, type] = {"community": int, "community_name": str}  # 0 and "" where a node is of none
_COLUMNS: dict[str, type] = {**HOME, "pages": int, "reason": str}


def home_values(home: Community | None) -> tuple[Value, ...]:
    """The values of the columns `HOME`, which graphs of pages and hosts have too."""
    return (home.number, home.name) if home else (0, "")


def write_graph(library: Library, found: Found, out: Path, force: bool = False) -> int:
    """Write the members of all communities and the links among them; how many sites that are."""
    format = out.suffix.lower().lstrip(".")
    if format not in FORMATS:
        raise BadUse(f"{out}: a graph is FILE.gexf or FILE.graphml")
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
    return write(Graph(_COLUMNS, nodes, src, dst, weights), format, out, force).nodes
