"""Sites with their communities as a graph, for the tools in which people look at networks."""

from pathlib import Path

import numpy as np

from analecta.errors import BadUse
from analecta.publish.communities import Community, Found, Member, links_between
from analecta.publish.graph_xml import FORMATS, Graph, Value
from analecta.publish.whole import whole_file
from analecta.store.library import Library

_COLUMNS: dict[str, type] = {"community": int, "name": str, "pages": int, "reason": str}


def write_graph(library: Library, found: Found, out: Path) -> int:
    """Write the members of all communities and the links among them; how many sites that are."""
    write = FORMATS.get(out.suffix.lower().lstrip("."))
    if write is None:
        raise BadUse(f"{out}: a graph is FILE.gexf or FILE.graphml")
    members = [(one, member) for one in found.communities for member in one.members]
    nodes = [(member.site, _values(one, member)) for one, member in members]
    place = {member.site: n for n, (_, member) in enumerate(members)}
    links = [
        (place[site], place[other], n)
        for site, row in links_between(library).items()
        for other, n in row.items()
        if site in place and other in place
    ]
    src, dst, weights = np.array(links, np.int64).reshape(-1, 3).T
    with whole_file(out) as file:
        for line in write(Graph(_COLUMNS, nodes, src, dst, weights)):
            file.write(line.encode())
    return len(nodes)


def _values(one: Community, member: Member) -> tuple[Value, ...]:
    return one.number, one.name, member.pages, member.reason
