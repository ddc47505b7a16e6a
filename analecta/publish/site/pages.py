"""The pages of a site: what each template of `site/templates` is given, and the charts and data beside them."""

import shlex
import unicodedata
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec
import numpy as np

from analecta.communities.view import Community
from analecta.model import BELOW
from analecta.publish.charts import ChartLine, cut, line_chart
from analecta.publish.layout import GroupCircle, GroupNetwork, WindowShape, lay_out
from analecta.publish.network import draw_maps
from analecta.publish.site.content import CommunityPage, SiteContent, SiteItem, TopicPage, community_path
from analecta.publish.site.feeds import newest
from analecta.publish.site.metadata import Metadata, community_metadata, front_metadata, shelf_metadata
from analecta.publish.templates import render, script_data
from analecta.store.library import HistoryPoint
from analecta.text.display import clean, language, many
from analecta.views.reasons import KIND_WORDS

POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'"

# --- The frame of every page -----------------------------------------------------------------------------------------


def page(
    template: str,
    site: SiteContent,
    path: str,
    title: str,
    metadata: Metadata | None = None,
    policy: str = POLICY,
    root: str | None = None,
    **values: object,
) -> str:
    """A whole page. `root` stands before links to other pages of the site where they cannot be relative."""
    root = "../" * path.count("/") if root is None else root
    known = {"site": site, "path": path, "title": title, "metadata": metadata, "policy": policy, "root": root}
    return render(template, **known, kind_words=KIND_WORDS, **values)


# --- The front page: what the library is, its topics as a tree, what is new, how it was made -------------------------

_NEWEST = 10
_LARGEST = 8  # communities on the front page
_LINES = 7  # topics in one picture: as many as there are colours


class TopicBranch(NamedTuple):
    """A part of the tree of topics; without pages of its own it is only a name."""

    name: str
    topic: TopicPage | None
    below: list["TopicBranch"]


def front_page(site: SiteContent) -> str:
    """The page that one opens first."""
    return page(
        "front.html",
        site,
        "index.html",
        site.title,
        front_metadata(site),
        tree=topic_tree(site.shelves),
        largest=_largest(site.communities)[:_LARGEST],
        newest=newest(site.found, _NEWEST),
        has_chart=bool(overview_chart(site)),
    )


def topic_tree(shelves: Sequence[TopicPage], above: tuple[str, ...] = ()) -> list[TopicBranch]:
    """The topics below a part of the tree."""
    names: dict[str, TopicPage | None] = {}
    for shelf in shelves:
        parts = tuple(shelf.topic.split(BELOW))
        if parts[: len(above)] == above and len(parts) > len(above):
            name = parts[len(above)]
            names[name] = shelf if len(parts) == len(above) + 1 else names.get(name)
    return [TopicBranch(name, shelf, topic_tree(shelves, (*above, name))) for name, shelf in names.items()]


def overview_chart(site: SiteContent) -> str:
    """The mean confidence of each topic's best items as the crawl went on; "" where there is nothing to draw."""
    drawn = [shelf for shelf in site.shelves if len(shelf.history) > 1][:_LINES]
    if not drawn:
        return ""
    lines = [
        ChartLine(
            cut(shelf.topic.split(BELOW)[-1], 22),
            [float(m.pages) for m in shelf.history],
            [m.mean for m in shelf.history],
        )
        for shelf in drawn
    ]
    last = max(max(line.xs) for line in lines)
    ticks = [(0.0, "0"), (last / 2, f"{last / 2:,.0f}"), (last, f"{last:,.0f}")]
    return line_chart(
        "How sure the judge is of the best items of each topic", lines, "pages fetched", "mean", ticks, 1.0
    )


# --- The page of a topic: items under the pages that link to them, with the words around each link (S13) -------------

_MARKS = tuple(",.;:!?)]")
_AROUND = 90  # letters that are shown on each side of a link's words


class LinkWords(NamedTuple):
    """The words of the link that led to an item, and those around it."""

    before: str
    anchor: str
    after: str


def shelf_page(site: SiteContent, shelf: TopicPage) -> str:
    """The page of one topic."""
    return page(
        "topic.html",
        site,
        shelf.path,
        shelf.topic,
        shelf_metadata(site, shelf),
        topic=shelf,
        name=shelf.topic.split(BELOW)[-1],
        crumbs=_crumbs(site, shelf),
        link_words=link_words,
        explain_command=_explain_command,
    )


def history_chart(title: str, moments: list[HistoryPoint]) -> str:
    """How sure the judge was of a topic's best items as the crawl went on: the least, the mean and the most."""
    xs = [float(moment.pages) for moment in moments]
    ticks = [(xs[0], f"{xs[0]:,.0f}"), (xs[-1], f"{xs[-1]:,.0f}")] if xs else []
    lines = [
        ChartLine("most", xs, [moment.most for moment in moments]),
        ChartLine("mean", xs, [moment.mean for moment in moments]),
        ChartLine("least", xs, [moment.least for moment in moments]),
    ]
    return line_chart(title, lines, "pages fetched", "how sure", ticks, top=1.0)


def link_words(entry: SiteItem) -> LinkWords | None:
    """None where there are no words, or where they only repeat the title."""
    anchor, context = entry.finding.anchor.strip(), entry.finding.context.strip()
    if not (anchor or context) or entry.finding.parent is None:
        return None
    before, found, after = context.partition(anchor) if anchor else (context, "", "")
    if anchor and not found:
        before, after = "", ""
    if not (before.strip() or after.strip()) and anchor == entry.title:
        return None
    # After a link a mark stands close to it, another word does not.
    after = after.lstrip() if after.lstrip()[:1] in _MARKS else after
    return LinkWords(_last(before), anchor, _first(after))


def _last(words: str) -> str:
    return words if len(words) <= _AROUND else f"… {words[-_AROUND:].partition(' ')[2]}"


def _first(words: str) -> str:
    return words if len(words) <= _AROUND else f"{words[:_AROUND].rpartition(' ')[0]} …"


def _crumbs(site: SiteContent, shelf: TopicPage) -> list[tuple[str, str]]:
    """The topics above in the tree, with their pages; "" where one has none."""
    pages = {one.topic: one.path for one in site.shelves}
    parts = shelf.topic.split(BELOW)
    return [(parts[n - 1], pages.get(BELOW.join(parts[:n]), "")) for n in range(1, len(parts))]


def _explain_command(site: SiteContent, entry: SiteItem) -> str:
    return shlex.join(("analecta", "explain", site.library, entry.item.url))


# --- Pages that list everything: all titles from A to Z, and the search with its data --------------------------------

_OTHER = "#"  # under which titles stand that begin with no letter


def titles_page(site: SiteContent) -> str:
    """All titles in the order of the alphabet."""
    rows = sorted(
        site.entries,
        key=lambda row: (_letter(row[1].title) == _OTHER, _folded(row[1].title), row[1].item.url),
    )
    groups = [(letter, list(some)) for letter, some in groupby(rows, key=lambda row: _letter(row[1].title))]
    return page("titles.html", site, "titles.html", "Titles", count=len(rows), groups=groups)


def search_page(site: SiteContent) -> str:
    """The search."""
    return page("search.html", site, "search.html", "Search", policy=f"{POLICY}; script-src 'self'")


def search_data(site: SiteContent) -> str:
    """What the search knows, as a script: data that is loaded in any other way is refused to pages from file://."""
    topics = [[clean(shelf.topic), shelf.path] for shelf in site.shelves]
    number = {shelf.slug: n for n, shelf in enumerate(site.shelves)}
    homes = [[clean(one.name), community_path(one)] for one in site.communities]
    place = {one.number: n for n, one in enumerate(site.communities)}
    items = [
        _row(number[shelf.slug], place[entry.home.number] if entry.home else -1, entry) for shelf, entry in site.entries
    ]
    data = msgspec.json.encode({"topics": topics, "homes": homes, "items": items})
    return f"self.analecta = {script_data(data)};\n"


def missing_page(site: SiteContent) -> str:
    """What a server shows for pages that are not there."""
    return page("missing.html", site, "404.html", "This page is not here", root=site.base_url)


def _row(topic: int, home: int, entry: SiteItem) -> list[str | int]:
    item = entry.item
    about = " · ".join(filter(None, (item.host, item.author, item.date)))
    texts = (entry.title, item.url, about, entry.summary, entry.words, entry.copy, language(item.lang) or "")
    return [topic, f"i{entry.hex}", *map(clean, texts), home]


def _folded(title: str) -> str:
    return unicodedata.normalize("NFKD", title).casefold().lstrip("\"'“”‘’«»([¿¡ ")


def _letter(title: str) -> str:
    first = _folded(title)[:1].upper()
    return first if first.isalpha() else _OTHER


# --- Communities: all on one page with a drawing of the links between them, and a page for each ----------------------

_DRAWN = 40  # communities: more circles than these have no room for names
_EVERYWHERE = 20
SHAPES = (
    WindowShape("wide", 1040, 480, (18, 15.5, 12.5)),
    WindowShape("square", 690, 460, (16, 13.5, 11.5)),
    WindowShape("tall", 358, 380, (14, 12.5, 11.5), 36),
)


def communities_page(site: SiteContent, hoods: Sequence[CommunityPage]) -> str:
    """The overview."""
    net = _net(hoods)
    about = f"{many(len(net.bodies), 'community', 'communities')} and the links between them"
    drawings, _ = draw_maps(net, [lay_out(net, shape) for shape in SHAPES], about)
    return page(
        "communities.html",
        site,
        "communities.html",
        "Communities",
        hoods=hoods,
        drawn=len(net.bodies),
        drawings=drawings,
        everywhere=list(site.homes.found.everywhere.items())[:_EVERYWHERE],
    )


def community_page(site: SiteContent, hood: CommunityPage) -> str:
    """The page of one community: its best pages over all topics, its sites and why they belong to it, its links."""
    one = hood.community
    told = f"{many(len(one.members), 'site')} that belong together by their links, with {many(one.pages, 'page')} read."
    metadata = community_metadata(site, one, told)
    return page("community.html", site, community_path(one), one.name, metadata, hood=hood)


def _largest(found: Sequence[Community]) -> list[Community]:
    """Those with the most pages first."""
    return sorted(found, key=lambda one: (-one.pages, one.number))


def _net(hoods: Sequence[CommunityPage]) -> GroupNetwork:
    drawn = sorted(_largest([hood.community for hood in hoods])[:_DRAWN], key=lambda one: one.number)
    place = {one.number: n for n, one in enumerate(drawn)}
    links = [[0] * len(drawn) for _ in drawn]
    for hood in hoods:
        for other, count in hood.links_to:
            if hood.community.number in place and other.number in place:
                links[place[hood.community.number]][place[other.number]] = count
    both = np.array(links) + np.array(links).T
    similar = both / max(both.max(), 1) + np.eye(len(drawn))
    return GroupNetwork([_body(one) for one in drawn], similar.tolist(), links)


def _body(one: Community) -> GroupCircle:
    return GroupCircle(one.name, one.pages, community_path(one), [0] * sum(member.pages > 0 for member in one.members))
