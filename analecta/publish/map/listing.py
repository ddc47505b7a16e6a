"""What the map tells, as lists: groups, pages, their communities, archived copies. Nothing here needs a script."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice, zip_longest
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from analecta.communities.view import Community, Homes
from analecta.publish.health_drawing import safe
from analecta.store.rows import PageRow
from analecta.store.snapshot import Snapshot
from analecta.text.display import many
from analecta.text.summary import name_of
from analecta.urls import url_id
from analecta.views.clusters import Analysis, Cluster, Member, Origin, Shown

# --- The communities on a map: of which each page is, and the colours of the largest ---------------------------------


COLOURS = 8  # in the style sheet; the last is for all communities that have none of their own

Page = Shown | Member


class AtHome(msgspec.Struct, frozen=True):
    """Communities of the pages of a map; empty where the library has none worth showing."""

    of: Mapping[int, Community] = {}  # by the page's id
    pages: Mapping[int, int] = {}  # of each community by its number, those with the most first

    @property
    def tones(self) -> dict[int, int]:
        """A colour for each community."""
        return {number: min(n, COLOURS - 1) for n, number in enumerate(self.pages)}

    @property
    def communities(self) -> list[Community]:
        """Those that have pages here, the one with the most first."""
        found = {one.number: one for one in self.of.values()}
        return [found[number] for number in self.pages]

    def number(self, id: int) -> int:
        """The number of a page's community, 0 where it has none."""
        return self.of[id].number if id in self.of else 0


def at_home(pages: Iterable[Page], dots: Iterable[Page], homes: Homes | None) -> AtHome:
    """Where these pages are at home; those that are dots are counted."""
    found = {page.id: home for page in pages if homes and (home := homes.of(page.url, page.host))}
    counted = Counter(found[page.id].number for page in dots if page.id in found)
    return AtHome(found, dict(sorted(counted.items(), key=lambda one: (-one[1], one[0]))))


# --- copies ----------------------------------------------------------------------------------------------------------
# What the library holds of the pages on a map: the archived copies, and whether a page may still be shown.


LETTERS = 1500  # of the text of a copy
MOST = 600  # copies in one file: with these letters, a megabyte


class Copy(msgspec.Struct, frozen=True):
    """What was kept of a page: when, the archive's file and the place in it, and how its text begins."""

    fetched_at: float
    warc: str
    offset: int
    text: str


def copies_of(snapshot: Snapshot, analysis: Analysis) -> tuple[Analysis, dict[int, Copy]]:
    """The analysis without pages that may no longer be shown, and copies of its first pages by id.

    Of pages whose owners want no copy shown (noarchive) there is none.
    """
    drawn = {*_ids(analysis), *(url_id(origin.url) for origin in analysis.origins if origin.url)}
    found = {item.id: item for item in snapshot.shown_pages() if item.id in drawn}
    kept = still_shown(analysis, found)
    wanted = (found[id] for id in dict.fromkeys(_ids(kept)))
    return kept, {item.id: _copy(snapshot, item) for item in islice(_archived(wanted), MOST)}


def still_shown(analysis: Analysis, ids: Collection[int]) -> Analysis:
    """The analysis with no page but these: one may have come to say noindex since."""

    def kept(cluster: Cluster) -> Cluster:
        lists = {
            name: [page for page in getattr(cluster, name) if page.id in ids]
            for name in ("examples", "hubs", "authorities", "members")
        }
        return replace(cluster, **lists)

    origins = [one for one in analysis.origins if not one.url or url_id(one.url) in ids]
    return replace(analysis, clusters=[kept(cluster) for cluster in analysis.clusters], origins=origins)


def _ids(analysis: Analysis) -> Iterator[int]:
    """All pages: those that a group names before those that are dots, and of these the nearest of each group first."""
    for cluster in analysis.clusters:
        yield from (page.id for page in (*cluster.examples, *cluster.hubs, *cluster.authorities))
    rows = zip_longest(*(cluster.members for cluster in analysis.clusters))
    yield from (page.id for page in chain.from_iterable(rows) if page is not None)


def _archived(found: Iterator[PageRow]) -> Iterator[PageRow]:
    return (item for item in found if item.warc and not item.noarchive)


def _copy(snapshot: Snapshot, item: PageRow) -> Copy:
    return Copy(item.fetched_at, item.warc, item.offset, snapshot.text(item)[:LETTERS])


# --- listing ---------------------------------------------------------------------------------------------------------
# What the map tells, as lists: each group with its pages, and the archived copies. Nothing here needs a script.


_TERMS, _MORE, _ALIKE, _LINKED, _HOMES = 12, 3, 5, 6, 8
_KINDS = (
    ("Examples", "The pages nearest to the middle of the group", "examples"),
    ("Hubs", "Pages that link to many good pages of the group", "hubs"),
    ("Authorities", "Pages that the hubs of the group link to", "authorities"),
)


class Copies(msgspec.Struct, frozen=True):
    """The copies in the file by page, and addresses of whole copies elsewhere."""

    inside: Mapping[int, Copy]
    elsewhere: Mapping[int, str]
    numbers: dict[int, int]  # of the copies in the file


def index(analysis: Analysis, colours: Sequence[int]) -> Iterator[str]:
    """All groups, each a link."""
    yield '<ol class="index">'
    for n, cluster in enumerate(analysis.clusters):
        more = [term for term in cluster.terms if term.casefold() not in cluster.label.casefold()]
        terms = ", ".join(more[:_MORE])
        yield (
            f'<li><a href="#g{n + 1}"><span class="swatch k{colours[n]}"></span><bdi>{safe(cluster.label)}</bdi></a>'
            f' <span class="number">{cluster.size:,}</span><span class="about"><bdi>{safe(terms)}</bdi></span></li>'
        )
    yield "</ol>"


def homes_legend(known: AtHome) -> Iterator[str]:
    """The communities with a colour of their own, and how many pages of each are here."""
    if known.pages:
        shown = known.communities[: COLOURS - 1]
        rows = [(one.name, known.pages[one.number]) for one in shown]
        if rest := len(known.pages) - len(shown):
            rows.append((f"{rest:,} more", sum(known.pages.values()) - sum(pages for _, pages in rows)))
        yield '<div class="homes"><h3>Communities <span class="about">Sites that link to one another</span></h3><ul>'
        yield from (
            f'<li><span><span class="swatch k{n}"></span><bdi>{safe(name)}</bdi></span>'
            f' <span class="number">{pages:,}</span></li>'
            for n, (name, pages) in enumerate(rows)
        )
        yield "</ul></div>"


def origins(found: Sequence[Origin]) -> Iterator[str]:
    """What the topic was begun with."""
    if found:
        yield '<h3>Begun with</h3><ul class="pages">'
        yield from (f"<li>{link(origin.url, name_of(origin.title, origin.url))}</li>" for origin in found)
        yield "</ul>"


def group(analysis: Analysis, n: int, colour: int, copies: Copies, known: AtHome) -> Iterator[str]:
    """One group with all that is known of it."""
    cluster = analysis.clusters[n]
    yield f'<section class="group" id="g{n + 1}" aria-labelledby="t{n + 1}">'
    yield '<p class="back"><a href="#groups">← All groups</a></p>'
    yield f'<h2 id="t{n + 1}" tabindex="-1"><span class="swatch k{colour}"></span><bdi>{safe(cluster.label)}</bdi></h2>'
    yield f'<p class="quiet">{many(cluster.size, "page")}, closeness to its middle {cluster.near:.2f} on average</p>'
    terms = "".join(f"<li><bdi>{safe(term)}</bdi></li>" for term in cluster.terms[:_TERMS])
    yield f'<ul class="terms">{terms}</ul>' if terms else ""
    for title, about, kind in _KINDS:
        yield from _pages(title, about, getattr(cluster, kind), copies, known)
    yield from _hosts(cluster)
    yield from _homes(cluster, known)
    yield from _others(analysis, n)
    yield from _members(cluster, copies, known)
    yield "</section>"


def archived(pages: Mapping[int, Page], copies: Copies) -> Iterator[str]:
    """The archived copies, each with where it came from."""
    for id, n in copies.numbers.items():
        page, copy = pages[id], copies.inside[id]
        day = datetime.fromtimestamp(copy.fetched_at, UTC)
        whole = f' · <a href="{safe(copies.elsewhere[id])}">the whole copy</a>' if id in copies.elsewhere else ""
        yield (
            f'<article class="copy" id="p{n}"><h3 dir="auto">{safe(_name(page))}</h3>'
            f'<p class="quiet">As it was on {day:%-d %B %Y}. {link(page.url, "The page now")}{whole}</p>'
            f'<p class="text" dir="auto">{safe(" ".join(copy.text.split()))}…</p>'
            f'<p class="quiet place">{safe(copy.warc)}, byte {copy.offset}</p></article>'
        )


def link(url: str, words: str) -> str:
    """Words that lead to a page of the web; of any other address the words alone (F37)."""
    if not _is_web(url):
        return f"<bdi>{safe(words)}</bdi>"
    return f'<a class="page" href="{safe(url)}" rel="noreferrer nofollow noopener"><bdi>{safe(words)}</bdi></a>'


def all_pages(analysis: Analysis) -> dict[int, Page]:
    """Every page that the lists name, by id."""
    found: dict[int, Page] = {}
    for cluster in analysis.clusters:
        pages: list[Page] = [*cluster.examples, *cluster.hubs, *cluster.authorities, *cluster.members]
        for page in pages:
            found.setdefault(page.id, page)
    return found


def numbered(pages: Container[int], inside: Mapping[int, Copy], elsewhere: Mapping[int, str]) -> Copies:
    """The copies of these pages, numbered in their order."""
    ids = [id for id in inside if id in pages]
    return Copies(inside, elsewhere, {id: n for n, id in enumerate(ids, 1)})


def _pages(title: str, about: str, pages: Sequence[Page], copies: Copies, known: AtHome) -> Iterator[str]:
    if pages:
        yield f'<h3>{title} <span class="about">{about}</span></h3><ul class="pages">'
        yield from (_page(page, copies, _home(page, known)) for page in pages)
        yield "</ul>"


def _members(cluster: Cluster, copies: Copies, known: AtHome) -> Iterator[str]:
    if cluster.members:
        shown = f"All {many(cluster.size, 'page')}"
        if len(cluster.members) < cluster.size:
            shown = f"The nearest {many(len(cluster.members), 'page')} of {cluster.size:,}"
        yield f'<details class="all"><summary>{shown}, nearest first</summary><ol class="pages members">'
        yield from (_page(page, copies, number=known.number(page.id)) for page in cluster.members)
        yield "</ol></details>"


def _page(page: Page, copies: Copies, home: str = "", number: int = 0) -> str:
    """A page in a list; of the many of a whole group only the number of its community is kept, for the script."""
    copy = ""
    at = f' data-c="{number}"' if number else ""
    if page.id in copies.numbers:
        copy = f' <a class="copied" href="#p{copies.numbers[page.id]}">archived copy</a>'
    elif page.id in copies.elsewhere:
        copy = f' <a href="{safe(copies.elsewhere[page.id])}">archived copy</a>'
    return f'<li{at}>{link(page.url, _name(page))} <span class="host">{safe(page.host)}{home}</span>{copy}</li>'


def _home(page: Page, known: AtHome) -> str:
    home = known.of.get(page.id)
    return f" · <bdi>{safe(home.name)}</bdi>" if home else ""


def _hosts(cluster: Cluster) -> Iterator[str]:
    if cluster.hosts:
        yield '<h3>Hosts</h3><ul class="hosts">'
        yield from (f'<li>{safe(host)} <span class="number">{n:,}</span></li>' for host, n in cluster.hosts)
        yield "</ul>"


def _homes(cluster: Cluster, known: AtHome) -> Iterator[str]:
    """The communities of the group's pages, as far as the pages are listed."""
    found = Counter(home.number for page in cluster.members if (home := known.of.get(page.id)))
    if found:
        yield '<h3>Communities</h3><ul class="hosts">'
        names = {one.number: one.name for one in known.communities}
        for number, n in found.most_common(_HOMES):
            yield f'<li><bdi>{safe(names[number])}</bdi> <span class="number">{n:,}</span></li>'
        yield "</ul>"


def _others(analysis: Analysis, n: int) -> Iterator[str]:
    """The groups most like it, and those it has the most links with."""
    others = [m for m in range(len(analysis.clusters)) if m != n]
    alike = sorted((m for m in others if analysis.similar[n][m] > 0), key=lambda m: -analysis.similar[n][m])
    yield from _named("Most alike", analysis, alike[:_ALIKE], [f"{cosine:.2f}" for cosine in analysis.similar[n]])
    out, into = analysis.links[n], [row[n] for row in analysis.links]
    linked = sorted((m for m in others if out[m] + into[m]), key=lambda m: -(out[m] + into[m]))
    said = [f"{a:,} to it, {b:,} from it" for a, b in zip(out, into, strict=True)]
    yield from _named("Links with other groups", analysis, linked[:_LINKED], said)


def _named(title: str, analysis: Analysis, groups: Sequence[int], said: Sequence[str]) -> Iterator[str]:
    if groups:
        yield f'<h3>{title}</h3><ul class="others">'
        for m in groups:
            label = safe(analysis.clusters[m].label)
            yield f'<li><a href="#g{m + 1}"><bdi>{label}</bdi></a> <span class="number">{said[m]}</span></li>'
        yield "</ul>"


def _name(page: Page) -> str:
    return name_of(page.title, page.url)


def _is_web(url: str) -> bool:
    try:
        return urlsplit(url).scheme in ("http", "https")
    except ValueError:
        return False
