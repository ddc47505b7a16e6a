"""What can be asked of a library, also while a crawl writes to it: everything that is shown comes from here."""

import contextlib
import heapq
import json
import sqlite3
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from analecta.errors import UsageError, suggest
from analecta.model import BELOW, NO_TOPIC, FoundBy, UrlRef, UrlState
from analecta.settings.load import load
from analecta.store.links import ALIASES, Inlinks, LinksOfPage, PageLinks, anchor_texts, inlinks
from analecta.store.pages import VerdictRow
from analecta.store.rows import (
    PAGE_COLUMNS,
    STORED_COLUMNS,
    SUMMARY_COLUMNS,
    URL_COLUMNS,
    LibraryCounts,
    ModelRow,
    NamedPage,
    PageRow,
    PageSummary,
    RunRow,
    StoredPage,
    UrlRow,
    page_row,
)
from analecta.store.schema import (
    NOINDEX,
    SHOWN,
    SOFT404,
    Ids,
    MetaKey,
    unpack_ids,
    unpack_text,
    unpack_topics,
)
from analecta.store.sqlite import marks, meta_value
from analecta.urls import address, canonical

_AT_ONCE = 500  # ids in one query
_MOST_STEPS = 1000  # of a path: depth has no bound
_MOST_LOOKED_AT = 3000  # addresses of a host that may be the one that was meant

# CROSS JOIN keeps SQLite to this order: all URLs, of which there are many more, would else be walked through.
_OF_PAGES = "FROM pages p CROSS JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host"
_OF_URLS = "FROM urls u JOIN pages p ON p.seq = u.page JOIN hosts h ON h.n = u.host"
_SHOWN = f"SELECT {PAGE_COLUMNS} {_OF_PAGES} LEFT JOIN files f ON f.n = p.file WHERE {SHOWN}"
_SHOWN_IDS = f"SELECT p.id FROM pages p CROSS JOIN urls u ON u.id = p.id WHERE {SHOWN}"
_SHOWN_TITLES = f"SELECT u.url, h.name, coalesce(p.title, ''), p.seq {_OF_PAGES} WHERE {SHOWN} ORDER BY p.seq"
_ADDRESSES = f"SELECT u.url, h.name {_OF_PAGES} WHERE {SHOWN} AND p.topic >= 0"
_HOST_NAMES = f"SELECT DISTINCT '', h.name {_OF_PAGES} WHERE {SHOWN} AND p.topic >= 0"
_SUMMARIES = f"SELECT {SUMMARY_COLUMNS}, p.text {_OF_URLS} WHERE {SHOWN} AND p.topic >= ? AND u.id IN "
_PARENTS = f"SELECT {SUMMARY_COLUMNS} {_OF_URLS} WHERE p.flags & {NOINDEX} = 0 AND u.id IN "
_STORED = f"""SELECT {STORED_COLUMNS} FROM pages p JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host
  LEFT JOIN files f ON f.n = p.file ORDER BY p.seq"""
_STORED_PAGE = f"SELECT {STORED_COLUMNS}, p.text {_OF_URLS} LEFT JOIN files f ON f.n = p.file WHERE u.id = ?"
_MAIN = f"{SHOWN} AND p.topic >= 0"
_RECORDED = f"SELECT {PAGE_COLUMNS} {_OF_PAGES} JOIN files f ON f.n = p.file WHERE u.page = p.seq"
_SHOWN_TEXTS = f"""SELECT p.seq, p.title, p.text FROM pages p CROSS JOIN urls u ON u.id = p.id WHERE {SHOWN}
  AND p.text IS NOT NULL ORDER BY p.seq DESC LIMIT ?"""
_SHOWN_LINKS = f"""SELECT p.id, p.links, CASE WHEN p.topic < 0 THEN -1 ELSE p.confidence END FROM pages p
  CROSS JOIN urls u ON u.id = p.id WHERE {SHOWN} AND p.links IS NOT NULL"""
_TEXT = "SELECT text FROM pages WHERE seq = ?"
_BODY = "SELECT coalesce(headings, ''), text FROM pages WHERE seq = ?"
_URLS = f"SELECT {URL_COLUMNS} FROM urls u JOIN hosts h ON h.n = u.host WHERE "
_LINKS = "SELECT p.id, u.host, p.links FROM pages p JOIN urls u ON u.id = p.id WHERE p.duplicate_of IS NULL"
_LINKS_WITH_WORDS = "SELECT id, links, anchors FROM pages WHERE links IS NOT NULL ORDER BY seq"
_DECISIONS = """SELECT u.id, u.url, u.state, coalesce(u.reason, ''), coalesce(p.topic, -1), coalesce(p.confidence, 0),
  u.depth, coalesce(p.model, '') FROM urls u LEFT JOIN pages p ON p.seq = u.page ORDER BY u.n"""
_OWN_PAGE = "SELECT 1 FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ? AND p.duplicate_of IS NULL"
_HOST_PAGES = """SELECT u.url FROM pages p JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host
  WHERE h.name = ? AND u.page = p.seq LIMIT ?"""
_PAGE_COUNTS = """SELECT p.topic, p.flags, p.duplicate_of IS NOT NULL, coalesce(p.reserved, h.reserved) IS NOT NULL,
  count(*) FROM pages p JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host GROUP BY 1, 2, 3, 4"""
_NOT_SHOWN = f"""SELECT CASE WHEN flags & {NOINDEX} THEN 'noindex' WHEN flags & {SOFT404} THEN 'soft404'
  WHEN duplicate_of IS NOT NULL THEN 'copies' WHEN status != 200 THEN 'not whole' WHEN topic < 0 THEN 'off topic'
  END AS why, count(*) FROM pages GROUP BY why HAVING why IS NOT NULL"""
_WAITED = """SELECT n FROM hosts WHERE delay IS NOT NULL OR wait_until IS NOT NULL
  UNION SELECT host FROM urls WHERE tries > 1 OR (state = 0 AND reason = 'robots-unreachable')"""


class Snapshot:
    """A library at one moment: its shards and library.db, read-only. `Library.snapshot` opens one.

    `shards` and `database` are for store/ alone.
    """

    def __init__(
        self,
        shards: Sequence[sqlite3.Connection],
        database: sqlite3.Connection | None = None,
        settings: Path | None = None,
        remember: int = 20_000,
    ) -> None:
        """`remember`: URLs that are not looked up again, those asked for last."""
        self.shards = shards
        self._database = database
        self._settings = settings
        self._remember = remember
        self._urls: OrderedDict[int, UrlRow | None] = OrderedDict()

    @property
    def database(self) -> sqlite3.Connection:
        """library.db."""
        assert self._database is not None, "opened from shards alone"
        return self._database

    # --- pages -------------------------------------------------------------------------------------------------------

    def shown_pages(self, topic: int | None = None, off_topic: bool = False) -> Iterator[PageRow]:
        """Pages that may be shown, of one topic or of all, in the order in which each partition kept them.

        No copies, soft 404s or pages that say noindex. With `off_topic` those on no topic follow.
        """
        for which in ("p.topic >= 0" if topic is None else "p.topic = ?", *([f"p.topic = {NO_TOPIC}"] * off_topic)):
            values = (topic,) * which.count("?")
            for n, shard in enumerate(self.shards):
                for row in shard.execute(f"{_SHOWN} AND {which} ORDER BY p.seq", values):
                    yield page_row(n, row)

    def shown_ids(self) -> Iterator[int]:
        """The ids of all pages that may be shown, also of those on no topic."""
        return (id for shard in self.shards for (id,) in shard.execute(_SHOWN_IDS))

    def shown_titles(self) -> Iterator[tuple[str, str, str, tuple[int, int]]]:
        """Of all pages that may be shown: address, host, title, and the place for `text_at`."""
        for n, shard in enumerate(self.shards):
            for url, host, title, seq in shard.execute(_SHOWN_TITLES):
                yield url, host, title, (n, seq)

    def shown_addresses(self, only_hosts: bool = False) -> Iterator[tuple[str, str]]:
        """Addresses and hosts of pages on topics that may be shown; `only_hosts`: each host once, no addresses."""
        return (row for shard in self.shards for row in shard.execute(_HOST_NAMES if only_hosts else _ADDRESSES))

    def pages(self, ids: Sequence[int], off_topic: bool = False) -> dict[int, tuple[PageSummary, str]]:
        """Those of these pages that may be shown, with their texts; with `off_topic` also those on no topic."""
        found = self._among(_SUMMARIES, ids, NO_TOPIC if off_topic else 0)
        return {row[0]: (PageSummary(*row[:-1]), unpack_text(row[-1])) for row in found}

    def stored_pages(self) -> Iterator[StoredPage]:
        """All pages, shown or not: within a partition in its own order, between partitions by the clock."""
        rows = heapq.merge(*(shard.execute(_STORED) for shard in self.shards), key=lambda row: row[0])
        return (StoredPage(*row) for row in rows)

    def kept_ids(self) -> Iterator[int]:
        """The ids of all pages in the order of `stored_pages`."""
        query = "SELECT kept_at, id FROM pages ORDER BY seq"
        return (id for _, id in heapq.merge(*(shard.execute(query) for shard in self.shards), key=lambda row: row[0]))

    def kept_verdicts(self) -> Iterator[tuple[float, int, float]]:
        """Of all pages, partition after partition: when each was kept, its topic and confidence."""
        query = "SELECT kept_at, topic, coalesce(confidence, 0) FROM pages"
        return (row for shard in self.shards for row in shard.execute(query))

    def last_kept(self, most: int) -> list[bool]:
        """Of the pages that were kept last, whether each is on a topic."""
        query = "SELECT kept_at, topic >= 0 FROM pages ORDER BY seq DESC LIMIT ?"
        rows = sorted(row for shard in self.shards for row in shard.execute(query, (most,)))
        return [bool(on_topic) for _, on_topic in rows[-most:]]

    def stored_page(self, id: int) -> tuple[StoredPage, str] | None:
        """A page by its id, shown or not, with its text."""
        row = self._first(_STORED_PAGE, id)
        return (StoredPage(*row[:-1]), unpack_text(row[-1])) if row else None

    def find_page(self, words: str) -> NamedPage:
        """The page that an address means, in any form; of redirects and copies, the one that stands for them."""
        url, why = address(words.strip())
        target = canonical(url) if url else None
        if target is None:
            raise UsageError(f"{words!r} is no address of a page: {why or 'it is no http or https URL'}")
        if not (steps := self.resolve(target.id)):
            raise UsageError(f"{target.url} is no page of the library{self._nearest(target)}")
        end = steps[-1]
        if stored := self.stored_page(end.id):
            page, text = stored
            return NamedPage(end.id, end.url, page.title, text, page.verdict)
        waits = end.state in (UrlState.QUEUED, UrlState.LEASED)
        how = "it waits to be fetched" if waits else f"it was not kept ({end.reason})"
        raise UsageError(f"{target.url} is no page of the library: {how}; `analecta explain` tells more")

    def titles(self, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
        """The addresses and titles of pages."""
        query = "SELECT u.url, coalesce(p.title, '') FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?"
        return {id: row for id in ids if (row := self._first(query, id))}

    def parents(self, ids: Iterable[int]) -> dict[int, PageSummary]:
        """Pages that link to others, but none that says noindex."""
        return {row[0]: PageSummary(*row) for row in self._among(_PARENTS, sorted(ids))}

    def hidden_ids(self) -> frozenset[int]:
        """The ids of pages that say noindex: what is exported does not name them, nor give their words."""
        query = f"SELECT id FROM pages WHERE flags & {NOINDEX}"
        return frozenset(id for shard in self.shards for (id,) in shard.execute(query))

    def fingerprints(self) -> list[dict[int, int]]:
        """The fingerprints of pages on topics, for each shard by seq."""
        query = "SELECT seq, simhash FROM pages WHERE topic >= 0 AND simhash IS NOT NULL"
        return [dict(shard.execute(query)) for shard in self.shards]

    def recorded_pages(self, main: bool) -> Iterator[PageRow]:
        """Pages with a record in the archive: those shown on topics, or all others."""
        which = _MAIN if main else f"NOT ({_MAIN}) AND p.flags & {SOFT404} = 0"
        for n, shard in enumerate(self.shards):
            for row in shard.execute(f"{_RECORDED} AND {which} ORDER BY p.seq"):
                yield page_row(n, row)

    # --- pages as a search engine has them ----------------------------------------------------------------------------

    def shown_texts(self, most: int) -> Iterator[tuple[tuple[int, int], str, str]]:
        """Place, title and text of the newest pages, as many of each partition, up to so many in all."""
        for n, shard in enumerate(self.shards):
            for seq, title, text in shard.execute(_SHOWN_TEXTS, (most // len(self.shards),)):
                yield (n, seq), title or "", unpack_text(text)

    def shown_links(self) -> Iterator[tuple[int, Ids, float]]:
        """Of each page with links: its id, the ids that it links to, and how surely it is on a topic (-1: on none)."""
        for shard in self.shards:
            for id, packed, confidence in shard.execute(_SHOWN_LINKS):
                yield id, unpack_ids(packed), confidence or 0.0

    def page_at(self, place: tuple[int, int]) -> tuple[str, str, str]:
        """Title, text and address of the page with this shard and seq."""
        query = "SELECT p.title, p.text, u.url FROM pages p JOIN urls u ON u.id = p.id WHERE p.seq = ?"
        title, text, url = self.shards[place[0]].execute(query, (place[1],)).fetchone()
        return title or "", unpack_text(text), url

    # --- texts -------------------------------------------------------------------------------------------------------

    def text(self, page: PageRow) -> str:
        """The text that was read of a page."""
        return self.text_at((page.shard, page.seq))

    def text_at(self, place: tuple[int, int]) -> str:
        """The text of the page with this shard and seq."""
        return unpack_text(self.shards[place[0]].execute(_TEXT, (place[1],)).fetchone()[0])

    def headings_and_text(self, page: PageRow) -> tuple[str, str]:
        """The headings of a page, and its text."""
        headings, packed = self.shards[page.shard].execute(_BODY, (page.seq,)).fetchone()
        return headings, unpack_text(packed)

    # --- URLs --------------------------------------------------------------------------------------------------------

    def url(self, id: int) -> UrlRow | None:
        """One URL; None where the library never heard of it. Those asked for last are remembered."""
        if not id:
            return None
        if id not in self._urls:
            self.look_up([id])
        self._urls.move_to_end(id)
        return self._urls[id]

    def address(self, id: int) -> str:
        """The address of a URL; "" where the library never heard of it."""
        found = self.url(id)
        return found.url if found else ""

    def look_up(self, ids: Iterable[int], remember: int = 0) -> None:
        """Read many URLs at once, to be asked for one by one; `remember` at least so many from now on."""
        self._remember = max(self._remember, remember)
        missing = [id for id in dict.fromkeys(ids) if id not in self._urls]
        while self._urls and len(self._urls) + len(missing) > self._remember:
            self._urls.popitem(last=False)
        self._urls.update(dict.fromkeys(missing))
        for row in self._among(f"{_URLS}u.id IN ", missing):
            self._urls[row[0]] = msgspec.convert(row, UrlRow)

    def first_address(self, url: UrlRow) -> UrlRow:
        """The first address of the redirects that led to a URL; itself where none did."""
        return next((step for step in self.path(url) if step.found != FoundBy.REDIRECT), url)

    def path(self, url: UrlRow) -> Iterator[UrlRow]:
        """The URL, what it was found on, and so on up to a seed; looked up step by step."""
        step: UrlRow | None = url
        seen: set[int] = set()
        while step and step.id not in seen and len(seen) < _MOST_STEPS:
            yield step
            seen.add(step.id)
            step = self.url(step.parent)

    def resolve(self, id: int) -> list[UrlRow]:
        """The URL and those after it, up to the one that stands for it; nothing where the library never heard of it.

        A ring ends at the first of its URLs that has a page of its own, or before it would begin again.
        """
        steps: dict[int, UrlRow] = {}
        while id not in steps and (found := self.url(id)):
            steps[id] = found
            id = found.elsewhere
        walk = list(steps)
        ring = walk[walk.index(id) :] if id in steps else []
        end = next((one for one in ring if self._first(_OWN_PAGE, one)), walk[-1] if walk else 0)
        return [steps[one] for one in walk[: walk.index(end) + 1]] if walk else []

    def aliases(self, id: int, most: int) -> list[tuple[int, str]]:
        """Redirects and copies for which a URL stands: ids and addresses, so many of each partition at most."""
        query = "SELECT id, url FROM urls WHERE elsewhere = ? ORDER BY n LIMIT ?"
        return [row for shard in self.shards for row in shard.execute(query, (id, most))]

    def all_aliases(self) -> Iterator[tuple[int, int]]:
        """Redirects and copies: the id of each, and the id that stands for it."""
        return (row for shard in self.shards for row in shard.execute(ALIASES))

    def decisions(self) -> Iterator[tuple[int, str, int, str, int, float, int, str]]:
        """What became of every URL, partition after partition, in the order of finding.

        Id, URL, state, reason, topic and confidence of its page, depth, and the model that judged it.
        """
        return (row for shard in self.shards for row in shard.execute(_DECISIONS))

    def refused(self, but: Sequence[str] = ()) -> Iterator[UrlRow]:
        """URLs that were refused or failed, but for some reasons."""
        query = f"""{_URLS}u.state IN ({UrlState.FAILED:d}, {UrlState.REFUSED:d})
          AND coalesce(u.reason, '') NOT IN ({marks(but)}) ORDER BY u.n"""
        return (msgspec.convert(row, UrlRow) for shard in self.shards for row in shard.execute(query, but))

    def waiting_seeds(self, reason: str) -> list[tuple[str, str]]:
        """Seeds that wait for a reason: addresses, and what is said about it."""
        query = "SELECT url, detail FROM urls WHERE found = ? AND state = ? AND reason = ? ORDER BY n"
        asked = (int(FoundBy.SEED), int(UrlState.QUEUED), reason)
        return [row for shard in self.shards for row in shard.execute(query, asked)]

    def failed_seeds(self) -> list[tuple[str, int]]:
        """Why seeds gave no page, and how many of each partition."""
        query = "SELECT reason, count(*) FROM urls WHERE found = ? AND state IN (?, ?) GROUP BY 1"
        asked = (int(FoundBy.SEED), int(UrlState.FAILED), int(UrlState.REFUSED))
        return [row for shard in self.shards for row in shard.execute(query, asked)]

    def queue_position(self, priority: float) -> tuple[int, int]:
        """How many URLs wait with a higher priority, and how many in all."""
        query = f"SELECT sum(priority > ?), count(*) FROM urls WHERE state = {UrlState.QUEUED:d}"
        rows = [shard.execute(query, (priority,)).fetchone() for shard in self.shards]
        return sum(ahead or 0 for ahead, _ in rows), sum(count for _, count in rows)

    def host(self, name: str) -> tuple[float, float]:
        """What a host asked for: seconds between requests, and until when to wait; 0 for nothing."""
        query = "SELECT coalesce(delay, 0), coalesce(wait_until, 0) FROM hosts WHERE name = ?"
        return max((row for shard in self.shards for row in shard.execute(query, (name,))), default=(0.0, 0.0))

    def host_count(self) -> int:
        """How many hosts an address is known of."""
        return sum(int(shard.execute("SELECT count(*) FROM hosts").fetchone()[0]) for shard in self.shards)

    def hosts_waited_for(self) -> int:
        """How many hosts had to be waited for: they asked for time, or gave no answer at first."""
        return sum(len(shard.execute(_WAITED).fetchall()) for shard in self.shards)

    # --- links -------------------------------------------------------------------------------------------------------

    def link_arrays(self) -> PageLinks:
        """For `link_graph`: of each page its id, a number of its host and its links (packed ids); and all aliases."""
        pages = [
            (id, host * len(self.shards) + i, packed)
            for i, shard in enumerate(self.shards)
            for id, host, packed in shard.execute(_LINKS)
        ]
        return pages, list(self.all_aliases())

    def links(self) -> Iterator[LinksOfPage]:
        """The links of every page that has any, with their words, in the order in which pages were kept."""
        for shard in self.shards:
            for id, packed, anchors in shard.execute(_LINKS_WITH_WORDS):
                targets: list[int] = unpack_ids(packed).tolist()
                texts = unpack_text(anchors).split("\n")
                yield LinksOfPage(id, targets, texts + [""] * (len(targets) - len(texts)))

    def inlinks(self, ids: Sequence[int], topics: Sequence[str], most: int = 8) -> Inlinks:
        """The pages that link to a URL under any of its ids."""
        return inlinks(self.shards, self.address, ids, topics, most)

    def anchor_texts(self, ids: Iterable[int]) -> Mapping[int, Sequence[str]]:
        """The words of the links to each of these pages."""
        return anchor_texts(self.shards, ids)

    # --- what a model learns from ------------------------------------------------------------------------------------

    def examples(self, priority: float) -> list[tuple[int, int, int]]:
        """Pages with a text that have at least the priority of an example: id, topic of the URL, shard."""
        query = (
            "SELECT u.id, u.topic FROM urls u JOIN pages p ON p.seq = u.page WHERE u.priority >= ?"
            " AND p.text IS NOT NULL AND p.duplicate_of IS NULL"
        )
        return [
            (id, topic, n) for n, shard in enumerate(self.shards) for id, topic in shard.execute(query, (priority,))
        ]

    def learnable(self, below: float, most: int | None = None) -> Iterator[tuple[int, int, int, float]]:
        """Pages with a text that stand for themselves: id, shard, topic, confidence.

        Only those with a priority `below` that of an example; with `most` so many of each shard, the lowest ids.
        """
        query = (
            "SELECT u.id, p.topic, p.confidence FROM urls u JOIN pages p ON p.seq = u.page WHERE p.duplicate_of IS NULL"
            f" AND p.text IS NOT NULL AND p.flags & {SOFT404 | NOINDEX} = 0 AND u.priority < {below}"
        )
        if most is not None:
            query += f" ORDER BY u.id LIMIT {most}"
        for n, shard in enumerate(self.shards):
            for id, topic, confidence in shard.execute(query):
                yield id, n, topic, confidence

    def shards_with_text(self, id: int) -> list[int]:
        """The numbers of the shards that have a text of a page."""
        query = "SELECT 1 FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ? AND p.text IS NOT NULL"
        return [n for n, shard in enumerate(self.shards) if shard.execute(query, (id,)).fetchone()]

    def example(self, id: int, shard: int) -> tuple[str, str, str]:
        """Address and text of a page, and the words of the link that it was found by."""
        query = "SELECT u.url, p.text, u.anchor FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?"
        url, text, anchor = self.shards[shard].execute(query, (id,)).fetchone()
        return url, unpack_text(text), anchor or ""

    def verdicts(self) -> list[list[VerdictRow]]:
        """What is said of all pages, by shard."""
        query = "SELECT seq, id, topic, confidence, topics, model FROM pages ORDER BY seq"
        return [[VerdictRow(*row) for row in shard.execute(query)] for shard in self.shards]

    def open_pages(self) -> Iterator[set[int]]:
        """The numbers of the pages that are no copies and whose owners want them listed, by shard."""
        query = f"SELECT seq FROM pages WHERE duplicate_of IS NULL AND flags & {NOINDEX | SOFT404} = 0"
        return ({seq for (seq,) in shard.execute(query)} for shard in self.shards)

    # --- figures -----------------------------------------------------------------------------------------------------

    def counts(self) -> LibraryCounts:
        """The figures of the whole library."""
        urls: list[tuple[int, str | None, int]] = []
        pages: list[tuple[int, int, bool, bool, int]] = []
        limits, memory = Counter[str](), Counter[str]()
        for shard in self.shards:
            urls += shard.execute("SELECT state, reason, count(*) FROM urls GROUP BY state, reason")
            pages += shard.execute(_PAGE_COUNTS)
            limits.update(dict(shard.execute("SELECT limits, count(*) FROM pages WHERE limits IS NOT NULL GROUP BY 1")))
            memory.update(json.loads(meta_value(shard, MetaKey.MEMORY, "{}")))
        return LibraryCounts(urls, pages, dict(limits), self.host_count(), dict(memory))

    def page_count(self) -> int:
        """How many pages are stored."""
        return sum(int(shard.execute("SELECT count(*) FROM pages").fetchone()[0]) for shard in self.shards)

    def not_shown(self) -> Iterator[tuple[str, int]]:
        """Why pages are not shown, and how many of each partition for each reason."""
        return (row for shard in self.shards for row in shard.execute(_NOT_SHOWN))

    # --- topics ------------------------------------------------------------------------------------------------------
    # A topic keeps its number for ever, also when it was renamed or taken out of the settings. It is no longer shown
    # when it is not in them and no page is of it.

    def topic_pages(self) -> dict[str, int]:
        """How many pages each topic has, of all that there ever were."""
        counts = Counter[int]()
        for shard in self.shards:
            counts.update(dict(shard.execute("SELECT topic, count(*) FROM pages WHERE topic >= 0 GROUP BY topic")))
        return {name: counts[n] for n, name in enumerate(self.topic_names())}

    def topic_names(self) -> list[str]:
        """The names of all topics by number."""
        return [name for (name,) in self.database.execute("SELECT name FROM topics ORDER BY n")]

    def listed_topics(self) -> list[int]:
        """The numbers of the topics that people see; all where the settings cannot be read, or name none."""
        names = self.topic_names()
        assert self._settings is not None, "opened from shards alone"
        asked = set(names)
        with contextlib.suppress(UsageError):
            asked = {topic.name for topic in load(self._settings).topics} or asked
        had = set() if asked.issuperset(names) else self._topics_with_pages()
        return [n for n, name in enumerate(names) if name in asked or n in had]

    def topic_numbers(self, topics: Sequence[str] | None, below: bool = True) -> list[int]:
        """The numbers of these topics, or of all that are shown for None; with `below` also of those below."""
        if topics is None:
            return self.listed_topics()
        names = self.topic_names()
        return sorted({number for topic in topics for number in self._numbers(names, topic, below)})

    def page_ids(self, topic: int) -> Iterator[int]:
        """The ids of all pages whose first topic this is."""
        query = "SELECT id FROM pages WHERE topic = ?"
        return (id for shard in self.shards for (id,) in shard.execute(query, (topic,)))

    # --- library.db --------------------------------------------------------------------------------------------------

    def runs(self) -> list[RunRow]:
        """Every crawl of the library, the first first."""
        rows = self.database.execute("SELECT n, began, ended, reason, asked, tally FROM runs ORDER BY n")
        return [RunRow(*row) for row in rows]

    def models(self) -> list[ModelRow]:
        """All models that there were, oldest first."""
        rows = self.database.execute("SELECT hash, kind, about, made_at FROM models ORDER BY made_at")
        return [ModelRow(*row) for row in rows]

    def model(self, hash: str) -> ModelRow | None:
        """A model by its hash; None where the library does not know it any more."""
        return next((one for one in self.models() if one.hash == hash), None)

    # --- parts -------------------------------------------------------------------------------------------------------

    def _among(self, query: str, ids: Sequence[int], *values: int) -> Iterator[tuple[Any, ...]]:
        """The rows of a query that ends with a list of ids, not too many at once."""
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            for shard in self.shards:
                yield from shard.execute(f"{query}({marks(some)})", (*values, *some))

    def _first(self, query: str, id: int) -> tuple[Any, ...] | None:
        """The row of the first shard that has one."""
        return next((row for shard in self.shards if (row := shard.execute(query, (id,)).fetchone())), None)

    def _nearest(self, target: UrlRef) -> str:
        """The end of the sentence: the page that may be meant."""
        hosts = [name for shard in self.shards for (name,) in shard.execute("SELECT name FROM hosts")]
        host = next(iter(get_close_matches(target.host, hosts, 1, 0.7)), "")
        asked = (host, _MOST_LOOKED_AT)
        urls = [url for shard in self.shards for (url,) in shard.execute(_HOST_PAGES, asked)] if host else []
        near = get_close_matches(target.url, urls, 1, 0.5)
        return f"; did you mean {near[0]} ?" if near else ", nor is anything like it; `analecta collection` lists pages"

    def _topics_with_pages(self) -> set[int]:
        """The topics that pages are of, also where another is the first of a page."""
        found: set[int] = set()
        for shard in self.shards:
            for topic, packed in shard.execute("SELECT DISTINCT topic, topics FROM pages WHERE topic >= 0"):
                found.update([topic], (n for n, _ in unpack_topics(packed)) if packed else ())
        return found

    def _numbers(self, names: Sequence[str], topic: str, below: bool) -> list[int]:
        found = named_topics(names, topic, below)
        if not found:
            listed = [names[number] for number in self.listed_topics()]
            known = suggest(topic, listed) if listed else " yet: crawl it first"
            raise UsageError(f"the library has no topic {topic!r}{known}")
        return found


def named_topics(names: Sequence[str], topic: str, below: bool = True) -> list[int]:
    """The numbers of those called so, with `below` also of those below; capitals matter only where they must."""
    wanted = topic if topic in names else topic.casefold()  # two names may differ in their capitals alone
    same = names if topic in names else [name.casefold() for name in names]
    return [n for n, name in enumerate(same) if name == wanted or (below and name.startswith(wanted + BELOW))]
