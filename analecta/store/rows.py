"""Rows as they are read: frozen structs, from whose fields the columns of each SELECT are generated."""

from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

import msgspec

from analecta.model import FoundBy, UrlState, Verdict
from analecta.store.schema import NOARCHIVE, unpack_topics, unpacked

_ZERO = {str: "''", int: "0", float: "0"}  # what stands for null where a field is not optional
_ELSEWHERE = {"url": "u.url", "host": "h.name", "warc": "coalesce(f.name, '')"}  # in the tables urls, hosts and files


def columns(row: type[msgspec.Struct], table: str, other: Mapping[str, str] = {}) -> str:
    """What to select for a row type: the columns of a table named as its fields, or `other` expressions for them.

    An empty expression leaves a field out: it does not come from the database.
    """
    hints, other = get_type_hints(row), {**_ELSEWHERE, **other}
    found = []
    for name in row.__struct_fields__:
        plain = f"{table}.{name}"
        zero = _ZERO.get(hints[name])
        found.append(other.get(name, f"coalesce({plain}, {zero})" if zero else plain))
    return ", ".join(filter(None, found))


class PageRow(msgspec.Struct, frozen=True, gc=False):
    """A page that may be shown. `topics` are its topics with confidences, best first; ids are 0 where there is none."""

    id: int
    url: str
    host: str
    title: str
    topic: int
    confidence: float
    topics: tuple[tuple[int, float], ...]
    mime: str
    lang: str
    author: str
    date: str  # YYYY, YYYY-MM or YYYY-MM-DD, as the page says
    words: int
    size: int
    fetched_at: float
    digest: str  # "sha1:..." of the body as it came
    noarchive: bool  # its owner wants no copy shown
    reserved: str  # what its owner reserves ("ai-train=no"), from page and host
    warc: str  # the archive's file and the record's place in it
    offset: int
    length: int
    parent: int  # the id of the page it was found on
    anchor: str  # the words of the link there
    context: str  # and around it
    example: bool  # brought by a person
    shard: int  # where its row is: number among the open shards, and seq
    seq: int

    @property
    def name(self) -> str:
        """What to call it where it has no title."""
        return self.title or self.url


PAGE_COLUMNS = columns(
    PageRow,
    "p",
    {
        "noarchive": f"p.flags & {NOARCHIVE}",
        "reserved": "trim(coalesce(p.reserved, '') || '; ' || coalesce(nullif(h.reserved, p.reserved), ''), '; ')",
        "parent": "u.parent",
        "anchor": "coalesce(u.anchor, '')",
        "context": "coalesce(u.context, '')",
        "example": f"u.found = {FoundBy.SEED:d}",
        "shard": "",
    },
)


def page_row(shard: int, row: tuple[Any, ...]) -> PageRow:
    """A row of PAGE_COLUMNS that was read from a shard."""
    # By place, not by name: this runs once for each page of a library.
    topics = unpack_topics(row[6]) if row[6] else ((row[4], row[5]),)
    values = (*row[:6], topics, *row[7:15], bool(row[15]), *row[16:23], bool(row[23]), shard, row[24])
    return PageRow(*values)


class StoredPage(msgspec.Struct, frozen=True, gc=False):
    """A page as it is stored, shown or not; what the page or its host does not say is None."""

    kept_at: float
    id: int
    status: int
    mime: str
    title: str
    lang: str
    topic: int
    confidence: float | None
    fetched_at: float
    digest: str
    duplicate_of: int  # the id of the page that stands for it; 0 where it is no copy
    warc: str
    offset: int | None
    length: int | None
    topics: bytes | None  # packed, see `verdict`
    model: str
    size: int | None
    words: int | None
    flags: int
    reserved: str
    host_reserved: str
    limits: str  # why it could not be read, or not wholly
    truncated: str
    author: str
    date: str

    @property
    def verdict(self) -> Verdict:
        """What the judge said of it, with all its topics."""
        return unpacked(self.topic, self.confidence, self.topics)


STORED_COLUMNS = columns(StoredPage, "p", {"host_reserved": "coalesce(h.reserved, '')", "status": "p.status"})


class PageSummary(msgspec.Struct, frozen=True):
    """A page as a list of results needs it."""

    id: int
    url: str
    host: str
    title: str
    topic: int
    confidence: float
    mime: str
    lang: str
    date: str
    fetched_at: float


SUMMARY_COLUMNS = columns(PageSummary, "p")


class NamedPage(msgspec.Struct, frozen=True):
    """A page that a person named by its address, with its text, and what is said of it."""

    id: int
    url: str
    title: str
    text: str
    verdict: Verdict

    def topic_names(self, topics: Sequence[str]) -> list[str]:
        """The names of its topics, the surest first."""
        return [topics[number] for number, _ in self.verdict.topics if 0 <= number < len(topics)]


class UrlRow(msgspec.Struct, frozen=True, array_like=True):
    """A URL of the frontier; ids of other URLs are 0 where there is none."""

    id: int
    url: str
    host: str
    state: UrlState
    found: FoundBy
    parent: int
    elsewhere: int
    page: int
    topic: int
    depth: int
    astray: int
    hops: int
    tries: int
    priority: float
    reason: str
    detail: str
    anchor: str
    context: str


URL_COLUMNS = columns(UrlRow, "u")


class LibraryCounts(msgspec.Struct, frozen=True):
    """The figures of a library: partition after partition, as each counts them."""

    urls: list[tuple[int, str | None, int]]  # state, reason, how many URLs
    pages: list[tuple[int, int, bool, bool, int]]  # topic, flags, whether copies, whether reserved, how many pages
    limits: dict[str, int]  # why pages could not be read, or not wholly
    hosts: int
    memory: dict[str, int]  # bytes of bodies: used, peak, limit


class RunRow(msgspec.Struct, frozen=True):
    """A crawl that was started; `asked` and `tally` are JSON, `ended` is None while it runs or where it was killed."""

    n: int
    began: float
    ended: float | None
    reason: str | None
    asked: str
    tally: str | None


class ModelRow(msgspec.Struct, frozen=True):
    """A model that the library has used."""

    hash: str
    kind: str
    about: str  # what it learned from, in words
    made_at: float
