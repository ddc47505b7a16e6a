"""All communities on one page: a drawing of the links between them, and a list that tells the same."""

from collections.abc import Sequence

import numpy as np

from analecta.communities.view import Community
from analecta.publish.map.drawing import colours, draw
from analecta.publish.map.layout import Body, Net, Shape, lay_out
from analecta.publish.site.content import Hood, Site, community_path
from analecta.publish.site.frame import framed
from analecta.publish.site.markup import Html, foreign, joined, tag
from analecta.publish.site.topic_page import community_link
from analecta.text.display import many

_DRAWN = 40  # communities: more circles than these have no room for names
_FIRST = 8  # on the front page
_SITES, _LINKS = 3, 3  # that are named of each
_EVERYWHERE = 20
SHAPES = (
    Shape("wide", 1040, 480, (18, 15.5, 12.5)),
    Shape("square", 690, 460, (16, 13.5, 11.5)),
    Shape("tall", 358, 380, (14, 12.5, 11.5), 36),
)


def communities_page(site: Site, hoods: Sequence[Hood]) -> str:
    """The overview."""
    told = "Groups of sites that belong together by the links between them, as far as a crawl has seen them."
    parts = [
        tag("h1", "Communities"),
        tag("p", told, class_="lead"),
        _figure(hoods),
        tag("section", tag("h2", _count(len(hoods))), tag("ul", *map(_row, hoods), class_="hoods")),
        _everywhere(site),
    ]
    return framed(site, "communities.html", "Communities", parts)


def front_section(site: Site) -> Html | str:
    """The largest communities, for the front page; nothing where there are none."""
    if not site.communities:
        return ""
    rows = (
        tag("li", community_link(one, ""), " ", tag("span", many(len(one.members), "site"), class_="count"),
            tag("span", joined((foreign(member.site) for member in one.members[:_SITES]), " · "), class_="first"))
        for one in largest(site.communities)[:_FIRST]
    )  # fmt: skip
    whole = tag("p", tag("a", f"{_count(len(site.communities))} and the links between them", href="communities.html"))
    return tag("section", tag("h2", "Communities of sites"), tag("ul", *rows, class_="tree"), whole)


def largest(found: Sequence[Community]) -> list[Community]:
    """Those with the most pages first."""
    return sorted(found, key=lambda one: (-one.pages, one.number))


def _figure(hoods: Sequence[Hood]) -> Html:
    """One drawing for each shape of window, of which the style sheet shows one."""
    net = _net(hoods)
    layouts = [lay_out(net, shape) for shape in SHAPES]
    tones = colours(layouts[0])
    about = f"{_count(len(net.bodies))} and the links between them"
    drawn = (Html(draw(net, layout, tones, about)) for layout in layouts)
    which = "" if len(net.bodies) == len(hoods) else f"The {len(net.bodies)} largest. "
    said = "A circle is a community: its area is its pages, each dot a site. The wider a line, the more links."
    return tag("figure", *drawn, tag("figcaption", which, said))


def _net(hoods: Sequence[Hood]) -> Net:
    drawn = sorted(largest([hood.community for hood in hoods])[:_DRAWN], key=lambda one: one.number)
    place = {one.number: n for n, one in enumerate(drawn)}
    links = [[0] * len(drawn) for _ in drawn]
    for hood in hoods:
        for other, count in hood.links_to:
            if hood.community.number in place and other.number in place:
                links[place[hood.community.number]][place[other.number]] = count
    both = np.array(links) + np.array(links).T
    similar = both / max(both.max(), 1) + np.eye(len(drawn))
    return Net([_body(one) for one in drawn], similar.tolist(), links)


def _body(one: Community) -> Body:
    return Body(one.name, one.pages, community_path(one), [0] * sum(member.pages > 0 for member in one.members))


def _row(hood: Hood) -> Html:
    one = hood.community
    sites = joined((foreign(inhabitant.member.site) for inhabitant in hood.sites[:_SITES]), " · ")
    rest = f" and {len(hood.sites) - _SITES:,} more" if len(hood.sites) > _SITES else ""
    return tag(
        "li",
        tag("h3", community_link(one, "")),
        tag("ul", tag("li", many(len(one.members), "site")), tag("li", many(one.pages, "page")), class_="about"),
        tag("p", sites, rest, class_="first"),
        tag("p", "Links to ", _others(hood), class_="first") if hood.links_to else "",
    )


def _others(hood: Hood) -> Html:
    return joined((joined((community_link(one, ""), f" ({n:,})")) for one, n in hood.links_to[:_LINKS]), ", ")


def _everywhere(site: Site) -> Html | str:
    found = list(site.near.found.everywhere.items())
    if not found:
        return ""
    told = "Sites that everybody links to, which belong to no community:"
    rows = (tag("li", foreign(name), ": ", foreign(why)) for name, why in found[:_EVERYWHERE])
    return tag("section", tag("h2", "Everywhere"), tag("p", told), tag("ul", *rows, class_="quiet"))


def _count(number: int) -> str:
    return many(number, "community", "communities")
