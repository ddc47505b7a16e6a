"""An outline in OPML, as feed readers export their subscriptions: the sites of the feeds are the seeds."""

from analecta.errors import BadUse
from analecta.parse.xml_tree import Tag
from analecta.sources.collector import Gathering, Place

_NO_SPACE = frozenset(("",))


def read_opml(root: Tag, found: Gathering) -> None:
    """Outlines with outlines in them are topics, those with an address are links."""
    bodies = root.all("body", _NO_SPACE)
    if root.name.lower() != "opml" or not bodies:
        raise BadUse(f"{found.path} is XML, but no OPML outline")
    for outline in bodies[0].all("outline", _NO_SPACE):
        _walk(found, outline, ())


def _walk(found: Gathering, outline: Tag, place: Place) -> None:
    """Not deeper than `Gathering` allows, so that recursion is safe."""
    said = {key.lower(): value for key, value in outline.attributes.items()}
    # The front page says more of a subject than the feed, which has no text of its own.
    url = said.get("htmlurl") or said.get("xmlurl") or said.get("url")
    below = outline.all("outline", _NO_SPACE)
    name = said.get("text") or said.get("title") or ""
    if below or not url:
        place = found.enter(place, name, outline.line)
    if url:
        found.add(place, url, outline.line)
    for inner in below:
        _walk(found, inner, place)
