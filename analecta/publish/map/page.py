"""The whole map as one HTML file. It asks the network for nothing: its own policy forbids it."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files

from analecta.communities.view import Homes
from analecta.publish.health_drawing import safe
from analecta.publish.map.drawing import colours, draw
from analecta.publish.map.layout import SHAPES, lay_out, net_of
from analecta.publish.map.listing import (
    AtHome,
    Copies,
    Copy,
    all_pages,
    archived,
    at_home,
    group,
    homes_legend,
    index,
    numbered,
    origins,
)
from analecta.text.display import many
from analecta.views.clusters import Analysis

_ASSETS = files("analecta.publish.map")
_CONTROLS = """<div class="controls">
<fieldset><legend>Lines</legend>
<label><input type="radio" name="lines" id="show-alike" checked> how alike</label>
<label><input type="radio" name="lines" id="show-links"> links</label></fieldset>
{colours}<div class="zoom"><button type="button" id="nearer" aria-label="Zoom in">+</button>
<button type="button" id="farther" aria-label="Zoom out">−</button>
<button type="button" id="whole">Whole map</button></div>
</div>"""
_COLOURS = """<fieldset><legend>Colours</legend>
<label><input type="radio" name="colours" id="by-group" checked> groups</label>
<label><input type="radio" name="colours" id="by-community"> communities</label></fieldset>
"""
_SEARCH = """<div role="search"><label for="search">Search</label>
<input type="search" id="search" placeholder="Titles, groups, hosts" autocomplete="off" spellcheck="false">
{homes}</div>"""
_LEGEND = """<div class="legend"><p>A circle is a group of pages that speak of the same; its area is the number of \
pages, and each dot is a page. The nearer to the middle, the closer to what the group is about. \
Lines join groups that are alike: the wider, the more.</p>
<p class="keys">Arrow keys move between circles, Enter opens one, Z zooms to its pages, Esc goes back.</p></div>"""
_FOUND = """<section id="found" aria-labelledby="found-title"><h2 id="found-title">Found</h2>
<p class="quiet" id="count" role="status"></p><ol class="pages" id="results"></ol></section>"""


def map_page(
    analysis: Analysis,
    title: str,
    copies: Mapping[int, Copy],
    copy_url: Mapping[int, str] | None = None,
    homes: Homes | None = None,
) -> str:
    """The map of an analysis; `copies` are shown inside it, `copy_url` leads to whole copies on a published site.

    With `homes` pages can be coloured and chosen by the communities that their sites are of.
    """
    pages = all_pages(analysis)
    known = at_home(pages.values(), (page for cluster in analysis.clusters for page in cluster.members), homes)
    inside = numbered(pages, copies, copy_url or {})
    style, script = (_ASSETS.joinpath(name).read_text("utf-8") for name in ("map.css", "map.js"))
    parts = [
        *_head(title, style, script),
        *_header(analysis, title, known),
        *_body(analysis, inside, known),
        '<section id="copies" aria-labelledby="copies-title"><h2 id="copies-title">Archived copies</h2>',
        *archived(pages, inside),
        '</section><dialog id="card" aria-label="Page"></dialog><div id="tip" aria-hidden="true"></div>',
        f"<script>{script}</script>\n</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


def policy(style: str, script: str) -> str:
    """What the page may load: nothing; and which of its own blocks count."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}';"
        " base-uri 'none'; form-action 'none'"
    )


def _digest(block: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()


def _head(title: str, style: str, script: str) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">'
    yield f"<title>{safe(title)}: map</title>\n<style>{style}</style>\n</head>"


def _header(analysis: Analysis, title: str, known: AtHome) -> Iterator[str]:
    day = datetime.fromtimestamp(analysis.made_at, UTC)
    mapped = sum(cluster.size for cluster in analysis.clusters)
    said = f"{many(mapped, 'page')} in {many(len(analysis.clusters), 'group')} · {day:%-d %B %Y}"
    yield f'<body>\n<header><div><h1 dir="auto">{safe(title)}</h1><p class="quiet">{said}</p></div>'
    yield f"{_SEARCH.format(homes=_select(known))}</header>"


def _select(known: AtHome) -> str:
    """The choice of a community, which the search then keeps to."""
    if not known.pages:
        return ""
    options = "".join(
        f'<option value="{one.number}" data-name="{safe(one.name)}">{safe(one.name)} ({known.pages[one.number]:,})'
        for one in known.communities
    )
    return f'<select id="home" aria-label="Community"><option value="">All communities{options}</select>'


def _body(analysis: Analysis, copies: Copies, known: AtHome) -> Iterator[str]:
    net = net_of(analysis, known)
    layouts = [lay_out(net, shape) for shape in SHAPES]
    tones = colours(layouts[0])
    yield '<main>\n<div class="sheet">'
    about = f"Map of {many(len(net.bodies), 'group')} of pages"
    yield from (draw(net, layout, tones, about) for layout in layouts)
    yield _CONTROLS.format(colours=_COLOURS if known.pages else "")
    yield f'</div>\n<div class="panel" tabindex="-1">{_FOUND}'
    yield '<section id="groups" aria-labelledby="groups-title"><h2 id="groups-title" tabindex="-1">Groups</h2>'
    yield _LEGEND
    yield from homes_legend(known)
    yield from index(analysis, tones) if analysis.clusters else ("<p>There are no groups: too few pages.</p>",)
    yield from origins(analysis.origins)
    yield "</section>"
    for n, tone in enumerate(tones):
        yield from group(analysis, n, tone, copies, known)
    yield "</div>\n</main>"
