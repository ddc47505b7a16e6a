"""The page of a community: its best pages over all topics, its sites and why they belong to it, links with others."""

from analecta.communities.view import Community
from analecta.publish.site.content import Entry, Hood, Inhabitant, Linked, Shelf, Site, community_path
from analecta.publish.site.frame import framed, up
from analecta.publish.site.markup import Html, foreign, joined, link, tag
from analecta.publish.site.metadata import community_metadata
from analecta.publish.site.topic_page import community_link, fact_list, how_sure
from analecta.text.display import many

_SITES = 200  # of a community that are named
_PAGES = 5  # of a site
_OTHERS = 20  # communities that it has links with


def community_page(site: Site, hood: Hood) -> str:
    """The page of one community."""
    one = hood.community
    path = community_path(one)
    root = up(path)
    back = tag("li", tag("a", "Communities", href=f"{root}communities.html"))
    parts = [
        tag("nav", tag("ol", back), class_="crumbs", aria_label="Where you are"),
        tag("h1", foreign(one.name)),
        tag("p", told(one), class_="lead"),
        _best(hood, root),
        tag("section", tag("h2", "Its sites"), tag("ul", *(_site(of, root) for of in hood.sites[:_SITES])),
            _more(len(hood.sites) - _SITES), class_="sites"),
        _links(hood, root),
        _merged(one),
    ]  # fmt: skip
    return framed(site, path, one.name, parts, list(community_metadata(site, one, told(one))))


def told(one: Community) -> str:
    """What it is, in a sentence."""
    return f"{many(len(one.members), 'site')} that belong together by their links, with {many(one.pages, 'page')} read."


def _best(hood: Hood, root: str) -> Html:
    if not hood.best:
        return tag("section", tag("h2", "Its best pages"), tag("p", "None of its pages is on a topic.", class_="quiet"))
    rows = (_row(entry, shelf, root) for entry, shelf in hood.best)
    return tag("section", tag("h2", "Its best pages"), tag("ol", *rows, class_="newest"))


def _row(entry: Entry, shelf: Shelf | None, root: str) -> Html:
    title = link(entry.item.url, foreign(entry.title, entry.item.lang), class_="title")
    return tag("li", title, fact_list(entry, *([_place(shelf, entry, root)] if shelf else []), *how_sure(entry)))


def _place(shelf: Shelf, entry: Entry, root: str) -> Html:
    return tag("a", tag("bdi", shelf.topic), href=f"{root}{shelf.path}#i{entry.hex}")


def _site(of: Inhabitant, root: str) -> Html:
    """A site, why it is there, and what the shelves have of it."""
    pages = many(of.member.pages, "page") if of.member.pages else "not read yet"
    shown = [
        tag("a", foreign(entry.title, entry.item.lang), href=f"{root}{shelf.path}#i{entry.hex}")
        for shelf, entry in of.shown[:_PAGES]
    ]
    more = [f"{len(of.shown) - _PAGES:,} more"] if len(of.shown) > _PAGES else []
    facts = tag("ul", tag("li", pages), tag("li", foreign(of.member.reason)), class_="about")
    here = tag("p", "Here: ", joined([*shown, *more], " · "), class_="here") if shown else ""
    return tag("li", tag("span", foreign(of.member.site), class_="title"), facts, here)


def _links(hood: Hood, root: str) -> Html | str:
    lists = [
        tag("div", tag("h3", name), tag("ul", *_linked(found, root)), _more(len(found) - _OTHERS))
        for name, found in (("It links to", hood.links_to), ("It is linked from", hood.links_from))
        if found
    ]
    if not lists:
        return ""
    return tag("section", tag("h2", "Links with other communities"), tag("div", *lists, class_="pair"))


def _linked(found: Linked, root: str) -> list[Html]:
    return [
        tag("li", community_link(one, root), " ", tag("span", many(count, "link"), class_="count"))
        for one, count in found[:_OTHERS]
    ]


def _merged(one: Community) -> Html | str:
    if not one.merged:
        return ""
    why = "It was begun at several sites, which turned out to link to one another enough:"
    rows = (tag("li", foreign(words)) for words in one.merged[:_SITES])
    return tag("section", tag("h2", "How it came together"), tag("p", why), tag("ul", *rows, class_="quiet"))


def _more(count: int) -> Html | str:
    return tag("p", f"And {count:,} more.", class_="quiet") if count > 0 else ""
