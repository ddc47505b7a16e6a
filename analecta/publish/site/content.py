"""What a site is made of: all that its pages show, read from the library once, in values that know no HTML."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain, count

import msgspec

from analecta.communities.view import Community, CommunityIndex, CommunityMember
from analecta.errors import UsageError
from analecta.model import FoundBy
from analecta.publish.pages import in_one_row
from analecta.store.library import HistoryPoint, LibraryFolder
from analecta.store.rows import PageRow, PageSummary, UrlRow
from analecta.store.snapshot import Snapshot
from analecta.text.summary import first_words, name_of, summary
from analecta.urls import canonical, hex_id
from analecta.views.clusters import analysis_path
from analecta.views.collections import MOST, PER_HOST, Collection, CollectionItem
from analecta.views.status import Status, status

# --- How an item was come by: the page that links to it, and the words of the link (S13) -----------------------------
# A page that says noindex is shown nowhere, neither as an item nor as the page that led to one (F35).


class FoundOn(msgspec.Struct, frozen=True):
    """Where an item was found: `how` is "example", "link", "sitemap" or "unlisted" (on a page that is not shown)."""

    how: str
    parent: PageSummary | None = None
    anchor: str = ""
    context: str = ""


def findings(snapshot: Snapshot, items: Sequence[PageRow]) -> dict[int, FoundOn]:
    """How each of these items was come by, by its id. Redirects are followed back to the link that led to them."""
    snapshot.look_up((item.id for item in items), remember=4 * len(items) + 20_000)
    starts = {item.id: snapshot.first_address(url) for item in items if (url := snapshot.url(item.id))}
    parents = snapshot.parents({start.parent for start in starts.values()})
    return {id: _finding(start, parents.get(start.parent)) for id, start in starts.items()}


def _finding(start: UrlRow, parent: PageSummary | None) -> FoundOn:
    if start.found == FoundBy.SEED:
        return FoundOn("example")
    if start.found == FoundBy.SITEMAP:
        return FoundOn("sitemap")
    if parent is None:
        return FoundOn("unlisted")
    return FoundOn("link", parent, start.anchor, start.context)


# --- content ---------------------------------------------------------------------------------------------------------

_WORDS = 150  # of each item that the search knows besides those that are shown
UNLISTED = FoundOn("unlisted")
_WHOLE = ("all", "all-topics")  # what the feed and the map of all topics are called
_EXAMPLES = 100  # of a topic that are shown


class SiteOptions(msgspec.Struct, frozen=True):
    """What a person may say about a site."""

    title: str = ""
    base_url: str = ""
    copies: bool = True
    most: int = MOST
    per_host: int = PER_HOST


class SiteItem(msgspec.Struct, frozen=True):
    """An item as it is shown. `rank` is 0 for an example that a person gave and the collection does not have."""

    item: PageRow
    title: str
    rank: int
    confidence: float  # for the topic that it stands under
    authority: float
    kind: str
    finding: FoundOn
    summary: str
    words: str  # more of its words, for the search
    copy: str  # the path of the archived copy; "" where none is shown
    home: Community | None  # the community of its site

    @property
    def hex(self) -> str:
        """Its id in 16 hexadecimal digits."""
        return hex_id(self.item.id)


class ItemGroup(msgspec.Struct, frozen=True):
    """Items that were found on one page, or in one other way."""

    how: str
    parent: PageSummary | None
    entries: list[SiteItem]


class TopicPage(msgspec.Struct, frozen=True):
    """The page of one topic."""

    topic: str
    slug: str
    pages: int
    groups: list[ItemGroup]
    examples: list[SiteItem]
    history: list[HistoryPoint]
    map: str  # the path of its map; "" where there is none

    @property
    def path(self) -> str:
        """Where its page is."""
        return f"topics/{self.slug}.html"

    @property
    def feed(self) -> str:
        """Where its Atom feed is."""
        return f"feeds/{self.slug}.xml"

    @property
    def ranked(self) -> list[SiteItem]:
        """Its items, the best first."""
        return sorted((entry for group in self.groups for entry in group.entries), key=lambda entry: entry.rank)


class SiteContent(msgspec.Struct, frozen=True):
    """All of it. `made` is the time of the newest page shown: the same library gives the same site."""

    title: str
    library: str  # the name of its folder
    base_url: str  # "" where nobody said where it will stand
    made: float
    copies: bool  # whether archived copies are shown
    map: str  # the path of the map of all topics; "" where there is none
    shelves: list[TopicPage]
    figures: Status
    homes: CommunityIndex
    best: dict[int, list[SiteItem]]  # of each community, by its number

    @property
    def communities(self) -> list[Community]:
        """Those worth showing."""
        return self.homes.communities

    @property
    def entries(self) -> list[tuple[TopicPage, SiteItem]]:
        """All items and examples with their topics; a page of several topics once, with the first of them."""
        pairs = [(shelf, entry) for shelf in self.shelves for entry in (*shelf.ranked, *shelf.examples)]
        return list({entry.item.id: (shelf, entry) for shelf, entry in reversed(pairs)}.values())[::-1]

    @property
    def found(self) -> list[tuple[TopicPage, SiteItem]]:
        """The same without the examples that a person gave."""
        return [(shelf, entry) for shelf, entry in self.entries if entry.finding.how != "example"]


def read_site(
    library: LibraryFolder,
    collections: Sequence[Collection],
    homes: CommunityIndex,
    best: Mapping[int, Sequence[CollectionItem]],
    wishes: SiteOptions = SiteOptions(),
) -> SiteContent:
    """Everything that is shown of these collections and of the `best` pages of communities."""
    base_url = based(wishes.base_url)
    past = in_one_row(library.history())
    slugs = topic_slugs([one.topic for one in collections])
    with library.snapshot() as snapshot:
        given = [_given(one, list(snapshot.shown_pages(one.number))) for one in collections]
        ranked = [[*one.items, *examples] for one, examples in zip(collections, given, strict=True)]
        found = findings(snapshot, [one.item for some in ranked for one in some])
        shelves = [
            _shelf(
                one,
                slug,
                [
                    _entry(each, snapshot.text(each.item), found.get(each.item.id, UNLISTED), wishes.copies, homes)
                    for each in some
                ],
                [moment for moment in past if moment.topic == one.number],
                _map_path(library, one.topic, slug),
            )
            for one, slug, some in zip(collections, slugs, ranked, strict=True)
        ]
    name = library.folder.resolve().name
    shown = [one.item.fetched_at for some in ranked for one in some]
    run = library.last_run()
    return SiteContent(
        title=wishes.title or name,
        library=name,
        base_url=base_url,
        made=max(shown, default=run.began if run else 0.0),
        copies=wishes.copies,
        map=_map_path(library, "", "all-topics"),
        shelves=shelves,
        figures=status(library),
        homes=homes,
        best={number: [_entry(one, "", UNLISTED, False, homes) for one in some] for number, some in best.items()},
    )


def based(url: str) -> str:
    """The address below which the site will stand, with a slash at its end."""
    if not url:
        return ""
    target = canonical(url)
    if target is None or "?" in target.url:
        raise UsageError(f"--base-url {url} is no address of a folder on the web, such as https://example.org/library/")
    return target.url if target.url.endswith("/") else f"{target.url}/"


def _map_path(library: LibraryFolder, topic: str, slug: str) -> str:
    """Where the map of a topic (P10), or of all, will be; "" where nobody has run `analecta analyse` on it."""
    return f"maps/{slug}.html" if analysis_path(library, topic).exists() else ""


def topic_slugs(topics: Sequence[str]) -> list[str]:
    """A file name for each topic, in letters that every system takes; no two the same."""
    slugs: list[str] = []
    for n, topic in enumerate(topics, 1):
        plain = re.sub(r"[^a-z0-9]+", "-", topic.lower()).strip("-")[:80].strip("-") or "topic"
        numbered = (f"{plain}-{m}" for m in count(n))
        names = numbered if plain == "topic" else chain((plain,), numbered)
        slugs.append(next(name for name in names if name not in (*_WHOLE, *slugs)))
    return slugs


def community_path(one: Community) -> str:
    """Where the page of a community is: by its number, for its name may change as it grows."""
    return f"communities/{one.number}.html"


def _given(collection: Collection, all_items: Sequence[PageRow]) -> list[CollectionItem]:
    """The examples of a topic that its collection leaves out."""
    has = {one.item.id for one in collection.items}
    given = [item for item in all_items if item.example and item.id not in has]
    return [CollectionItem(item, item.confidence) for item in sorted(given, key=lambda item: item.name)[:_EXAMPLES]]


def _entry(one: CollectionItem, text: str, finding: FoundOn, copies: bool, homes: CommunityIndex) -> SiteItem:
    item = one.item
    title = name_of(item.title, item.url)
    told = summary(text, title)
    words = " ".join(first_words(text, f"{title} {told}", _WORDS))
    copy = f"copies/{hex_id(item.id)}.html" if copies and item.warc and not item.noarchive else ""
    home = homes.of(item.url, item.host)
    return SiteItem(item, title, one.rank, one.confidence, one.authority, one.kind, finding, told, words, copy, home)


def _shelf(
    collection: Collection, slug: str, entries: Sequence[SiteItem], history: list[HistoryPoint], map: str
) -> TopicPage:
    found = [entry for entry in entries if entry.finding.how != "example"]
    examples = [entry for entry in entries if entry.finding.how == "example"]
    return TopicPage(collection.topic, slug, collection.pages, _groups(found), examples, history, map)


def _groups(entries: Sequence[SiteItem]) -> list[ItemGroup]:
    """Items under the pages that link to them; the group with the best item first."""
    groups: dict[tuple[str, int], list[SiteItem]] = {}
    for entry in sorted(entries, key=lambda entry: entry.rank):
        parent = entry.finding.parent
        groups.setdefault((entry.finding.how, parent.id if parent else 0), []).append(entry)
    return [ItemGroup(how, some[0].finding.parent, some) for (how, _), some in groups.items()]


# --- What a site shows of communities: their best pages over all topics, their sites, and the links between them -----

Place = tuple[TopicPage, SiteItem]  # an item where it stands
Linked = list[tuple[Community, int]]  # with how many links, the most first


class CommunityPage(msgspec.Struct, frozen=True):
    """A community as it is shown."""

    community: Community
    best: list[tuple[SiteItem, TopicPage | None]]  # with where it stands too, if anywhere
    sites: list[tuple[CommunityMember, list[Place]]]  # with what the shelves have of each
    links_to: Linked
    links_from: Linked


def hoods(site: SiteContent) -> list[CommunityPage]:
    """All communities worth showing."""
    known = {one.number: one for one in site.communities}
    to: dict[int, Linked] = {number: [] for number in known}
    back: dict[int, Linked] = {number: [] for number in known}
    for link in site.homes.found.between:
        if link.source in known and link.target in known:
            to[link.source].append((known[link.target], link.links))
            back[link.target].append((known[link.source], link.links))
    places = site.entries if known else []
    by_site: dict[str, list[Place]] = {}
    for shelf, entry in places:
        by_site.setdefault(site.homes.site(entry.item.url, entry.item.host), []).append((shelf, entry))
    stands = {entry.item.id: shelf for shelf, entry in places}
    return [
        CommunityPage(
            one,
            [(entry, stands.get(entry.item.id)) for entry in site.best.get(number, ())],
            [(member, by_site.get(member.site, [])) for member in one.members],
            to[number],
            back[number],
        )
        for number, one in known.items()
    ]
