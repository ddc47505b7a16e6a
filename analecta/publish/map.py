"""The map of a topic (P10): its clusters as circles in one HTML file that needs no network (docs/map.md).

All that the map tells is in the page as plain HTML, which reads, prints and works without a script; the script only
moves: it opens one group at a time, zooms, searches and leads the keyboard. The page's own policy forbids it to ask the
network for anything.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib.resources import files
from itertools import chain, islice, zip_longest

import msgspec
from markupsafe import Markup
from msgspec.structs import replace

from analecta.communities.view import Community, CommunityIndex
from analecta.publish.layout import SHAPES, GroupCircle, GroupNetwork, lay_out
from analecta.publish.network import COLOURS, draw_maps
from analecta.publish.templates import policy_hash, render
from analecta.store.snapshot import Snapshot
from analecta.text.display import many
from analecta.urls import url_id
from analecta.views.clusters import ClusterPage, ListedPage, PageCluster, TopicClusters

# --- The communities on a map: of which each page is, and the colours of the largest ---------------------------------

_ASSETS = files("analecta.publish").joinpath("assets")
_HOMES = 8  # communities of a group

Page = ListedPage | ClusterPage


class AtHome(msgspec.Struct, frozen=True):
    """Communities of the pages of a map; empty where the library has none worth showing."""

    of: Mapping[int, Community] = {}  # by the page's id
    pages: Mapping[int, int] = {}  # of each community by its number, those with the most first

    @property
    def tones(self) -> dict[int, int]:
        """A colour for each community; the last is for all that have none of their own."""
        return {number: min(n, COLOURS - 1) for n, number in enumerate(self.pages)}

    @property
    def communities(self) -> list[Community]:
        """Those that have pages here, the one with the most first."""
        found = {one.number: one for one in self.of.values()}
        return [found[number] for number in self.pages]

    @property
    def legend(self) -> list[tuple[str, int]]:
        """The communities with a colour of their own and how many pages of each are here; the others as one."""
        shown = self.communities[: COLOURS - 1]
        rows = [(one.name, self.pages[one.number]) for one in shown]
        if rest := len(self.pages) - len(shown):
            rows.append((f"{rest:,} more", sum(self.pages.values()) - sum(pages for _, pages in rows)))
        return rows

    def largest_of(self, cluster: PageCluster) -> list[tuple[str, int]]:
        """The communities of a group's pages, as far as the pages are listed."""
        found = Counter(home.number for page in cluster.members if (home := self.of.get(page.id)))
        names = {one.number: one.name for one in self.communities}
        return [(names[number], n) for number, n in found.most_common(_HOMES)]

    def number(self, id: int) -> int:
        """The number of a page's community, 0 where it has none."""
        return self.of[id].number if id in self.of else 0


def at_home(pages: Iterable[Page], dots: Iterable[Page], homes: CommunityIndex | None) -> AtHome:
    """Where these pages are at home; those that are dots are counted."""
    found = {page.id: home for page in pages if homes and (home := homes.of(page.url, page.host))}
    counted = Counter(found[page.id].number for page in dots if page.id in found)
    return AtHome(found, dict(sorted(counted.items(), key=lambda one: (-one[1], one[0]))))


def net_of(analysis: TopicClusters, at_home: AtHome = AtHome()) -> GroupNetwork:
    """The groups of an analysis, each with its pages as dots."""
    bodies = [
        GroupCircle(cluster.label, cluster.size, f"#g{n}", [at_home.number(page.id) for page in cluster.members])
        for n, cluster in enumerate(analysis.clusters, 1)
    ]
    return GroupNetwork(bodies, analysis.similar, analysis.links, at_home.tones)


# --- What the library holds of the pages on a map: the archived copies, and whether a page may still be shown --------

LETTERS = 1500  # of the text of a copy
MOST = 600  # copies in one file: with these letters, a megabyte


class Copy(msgspec.Struct, frozen=True):
    """What was kept of a page: when, the archive's file and the place in it, and how its text begins."""

    fetched_at: float
    warc: str
    offset: int
    text: str


def copies_of(snapshot: Snapshot, analysis: TopicClusters) -> tuple[TopicClusters, dict[int, Copy]]:
    """The analysis without pages that may no longer be shown, and copies of its first pages by id.

    Of pages whose owners want no copy shown (noarchive) there is none.
    """
    drawn = {*_ids(analysis), *(url_id(origin.url) for origin in analysis.origins if origin.url)}
    found = {item.id: item for item in snapshot.shown_pages() if item.id in drawn}
    kept = still_shown(analysis, found)
    wanted = (found[id] for id in dict.fromkeys(_ids(kept)))
    archived = (item for item in wanted if item.warc and not item.noarchive)
    return kept, {
        item.id: Copy(item.fetched_at, item.warc, item.offset, snapshot.text(item)[:LETTERS])
        for item in islice(archived, MOST)
    }


def still_shown(analysis: TopicClusters, ids: Collection[int]) -> TopicClusters:
    """The analysis with no page but these: one may have come to say noindex since."""

    def kept(cluster: PageCluster) -> PageCluster:
        lists = {
            name: [page for page in getattr(cluster, name) if page.id in ids]
            for name in ("examples", "hubs", "authorities", "members")
        }
        return replace(cluster, **lists)

    origins = [one for one in analysis.origins if not one.url or url_id(one.url) in ids]
    return replace(analysis, clusters=[kept(cluster) for cluster in analysis.clusters], origins=origins)


def _ids(analysis: TopicClusters) -> Iterator[int]:
    """All pages: those that a group names before those that are dots, and of these the nearest of each group first."""
    for cluster in analysis.clusters:
        yield from (page.id for page in (*cluster.examples, *cluster.hubs, *cluster.authorities))
    rows = zip_longest(*(cluster.members for cluster in analysis.clusters))
    yield from (page.id for page in chain.from_iterable(rows) if page is not None)


# --- The page --------------------------------------------------------------------------------------------------------

_MORE, _ALIKE, _LINKED = 3, 5, 6  # terms in the index, groups like one, groups that one has links with
Neighbours = list[tuple[int, str]]  # numbers of groups, and what is said of each


def map_page(
    analysis: TopicClusters,
    title: str,
    copies: Mapping[int, Copy],
    copy_url: Mapping[int, str] | None = None,
    homes: CommunityIndex | None = None,
) -> str:
    """The map of an analysis; `copies` are shown inside it, `copy_url` leads to whole copies on a published site.

    With `homes` pages can be coloured and chosen by the communities that their sites are of.
    """
    pages = _all_pages(analysis)
    known = at_home(pages.values(), (page for cluster in analysis.clusters for page in cluster.members), homes)
    net = net_of(analysis, known)
    about = f"Map of {many(len(net.bodies), 'group')} of pages"
    drawings, tones = draw_maps(net, [lay_out(net, shape) for shape in SHAPES], about)
    style, script = (_ASSETS.joinpath(name).read_text("utf-8") for name in ("map.css", "map.js"))
    return render(
        "map.html",
        analysis=analysis,
        title=title,
        pages=pages,
        copies=copies,
        copy_url=copy_url or {},
        numbers={id: n for n, id in enumerate((id for id in copies if id in pages), 1)},
        known=known,
        tones=tones,
        drawings=drawings,
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        more_terms=_more_terms,
        neighbours=_neighbours,
    )


def _policy(style: str, script: str) -> str:
    """What the page may load: nothing; and which of its own blocks count."""
    return (
        f"default-src 'none'; style-src {policy_hash(style)}; script-src {policy_hash(script)};"
        " base-uri 'none'; form-action 'none'"
    )


def _all_pages(analysis: TopicClusters) -> dict[int, Page]:
    """Every page that the lists name, by id."""
    found: dict[int, Page] = {}
    for cluster in analysis.clusters:
        pages: list[Page] = [*cluster.examples, *cluster.hubs, *cluster.authorities, *cluster.members]
        for page in pages:
            found.setdefault(page.id, page)
    return found


def _more_terms(cluster: PageCluster) -> list[str]:
    """Terms that its label does not have."""
    return [term for term in cluster.terms if term.casefold() not in cluster.label.casefold()][:_MORE]


def _neighbours(analysis: TopicClusters, n: int) -> list[tuple[str, Neighbours]]:
    """The groups most like a group, and those it has the most links with."""
    others = [m for m in range(len(analysis.clusters)) if m != n]
    similar = analysis.similar[n]
    alike = sorted((m for m in others if similar[m] > 0), key=lambda m: -similar[m])[:_ALIKE]
    out, into = analysis.links[n], [row[n] for row in analysis.links]
    linked = sorted((m for m in others if out[m] + into[m]), key=lambda m: -(out[m] + into[m]))[:_LINKED]
    return [
        ("Most alike", [(m, f"{similar[m]:.2f}") for m in alike]),
        ("Links with other groups", [(m, f"{out[m]:,} to it, {into[m]:,} from it") for m in linked]),
    ]
