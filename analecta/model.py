"""The nouns of Analecta: plain values that pass from stage to stage (docs/architecture.md)."""

from collections.abc import Callable, Sequence
from enum import IntEnum

import msgspec

BELOW = " / "  # between the parts of a topic's name
UNLIMITED = 1 << 60


class UrlState(IntEnum):
    """Where a URL stands; every URL discovered is in exactly one of these."""

    QUEUED = 0
    LEASED = 1
    DONE = 2
    FAILED = 3
    REFUSED = 4
    ALIAS = 5  # a redirect or a duplicate: another URL stands for it

    @property
    def word(self) -> str:
        """What files and outputs call it."""
        return "elsewhere" if self is UrlState.ALIAS else self.name.lower()


class FoundBy(IntEnum):
    """How a URL was come by."""

    SEED = 0
    LINK = 1
    REDIRECT = 2
    SITEMAP = 3  # named in a sitemap
    MAP = 4  # a sitemap itself: read for its links, no page
    PROBE = 5  # made up by us, to see how a host answers for pages it does not have


class UrlRef(msgspec.Struct, frozen=True, gc=False):
    """A canonical http(s) URL with its identity: `id` is a signed 64-bit hash of `url`."""

    url: str
    id: int
    host: str


class Link(msgspec.Struct, gc=False):
    """One link of a page: where it points, its anchor text, whether its author asks not to follow it."""

    target: UrlRef
    anchor: str = ""
    nofollow: bool = False


class Request(msgspec.Struct, frozen=True):
    """What to ask for. Validators make it conditional: the server may answer 304.

    `sent` is called at the moment the request is to leave, at most once; where it says no, the request does not leave.
    """

    url: str
    host: str
    etag: str = ""
    modified: str = ""
    sent: Callable[[], bool] | None = None


class Response(msgspec.Struct, weakref=True):
    """What a server said, whatever the status.

    `head` is the raw status line and header block, `wire` the body as it came (still content-coded, no longer
    chunked), `body` the decoded body. `truncated` is WARC's word for why the body is short: "", "length", "time"
    or "disconnect". `began` is wall-clock time, `took` seconds on the monotonic clock.
    """

    url: str
    status: int
    head: bytes
    headers: dict[str, str]  # names in lower case, repeated ones joined by ", "
    wire: bytes
    body: bytes
    ip: str = ""
    asked: bytes = b""  # the raw request head that was sent
    began: float = 0.0
    took: float = 0.0
    truncated: str = ""
    certificate: str = ""  # what to tell of one that was not checked because a person allowed it
    cut: bool = False  # `body` is the beginning only of what `wire` holds


class NoResponse(msgspec.Struct, frozen=True):
    """Why there is no answer. `reason` is one of a small set of words (docs/reasons.md), `detail` for a person.

    `refused` means that we would not ask (robots, guard, scope): it is policy, not failure.
    `retry` means that asking again later may help.
    """

    url: str
    reason: str
    detail: str = ""
    refused: bool = False
    retry: bool = False
    wait: float = 0.0  # seconds in which asking again would be in vain


FetchResult = Response | NoResponse
UNASKED = frozenset(("closed", "turn"))  # reasons of a NoAnswer that say nothing of the URL: it goes back as it came


def no_context(_: int) -> str:
    """The words around a link, for a page that has none."""
    return ""


class Page(msgspec.Struct):
    """A parsed page. `link_context(i)`, the words around link i, and `main_text()` cost: they are lazy."""

    url: str
    id: int
    host: str
    mime: str
    title: str = ""
    text: str = ""
    lang: str = ""
    author: str = ""
    date: str = ""  # when it was written or last changed, as it says itself: YYYY, YYYY-MM or YYYY-MM-DD
    charset: str = ""
    headings: Sequence[str] = ()
    links: list[Link] = msgspec.field(default_factory=list)
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    reserved: str = ""  # preferences against use for training that the page states ("tdm-reservation=1")
    limits: str = ""  # why parsing was cut short, if it was ("parse-limited: ...")
    simhash: int = 0
    link_context: Callable[[int], str] = no_context
    main_text: Callable[[], str] = str


class Verdict(msgspec.Struct, frozen=True):
    """What a judge says of a page: the best topic and how sure; OTHERS is topic -1.

    `topics` holds every topic the page belongs to with its confidence, best first.
    """

    topic: int = -1
    confidence: float = 0.0
    topics: tuple[tuple[int, float], ...] = ()


NO_TOPIC = -1  # the topic of a page that is of none of the topics
UNLABELLED = -2  # of a page that the crawl has met: what it is of, the judge may find out


def of_hidden(verdict: Verdict, hidden: bool) -> Verdict:
    """A verdict on a page that may be on no topic, whatever it says."""
    return Verdict(NO_TOPIC, verdict.confidence) if hidden else verdict


class Example(msgspec.Struct, frozen=True):
    """A page to learn from: an example of a topic, or of none of them (OTHERS), or met by the crawl (MET).

    `anchors` are the texts of links to it, `neighbours` the texts of pages that link to it, where known.
    """

    topic: int
    url: str
    text: str
    anchors: str = ""
    neighbours: str = ""
    weight: float = 1.0


class Candidate(msgspec.Struct):
    """A URL that might be fetched, with its worth and where it came from.

    `off_topic_steps` counts the off-topic pages crossed in a row to reach it (S6, B11). Candidates are kept in the
    outbox by the names of their fields: those that were renamed have their first names there.
    """

    target: UrlRef
    priority: float
    topic: int = -1
    depth: int = 0
    parent: int = 0
    found_by: FoundBy = msgspec.field(name="found", default=FoundBy.LINK)
    off_topic_steps: int = msgspec.field(name="astray", default=0)
    redirects: int = msgspec.field(name="hops", default=0)
    anchor: str = ""
    context: str = ""
    refused: str = ""  # why it is not to be followed, if so
    demoted: str = ""  # why it waits behind every other URL, with a priority below 0, if so


class Lease(msgspec.Struct):
    """A URL taken from the frontier to be fetched now; `n` is its row in the shard."""

    n: int
    id: int
    url: str
    host: str
    priority: float
    topic: int
    depth: int
    parent: int
    found_by: FoundBy
    off_topic_steps: int
    redirects: int
    tries: int
    page: int = 0  # the page row we have of it, if it was fetched before
    etag: str = ""
    modified: str = ""


class Tally(msgspec.Struct):
    """What has been counted so far, in one partition or in all; stop rules and progress read it."""

    pages: int = 0
    on_topic: int = 0
    answers: int = 0
    failed: int = 0
    refused: int = 0
    elsewhere: int = 0
    troubles: int = 0  # requests that got no answer
    hosts: int = 0
    bytes: int = 0
    clustering: float = 0.0  # seconds spent on communities of sites
    reasons: dict[str, int] = msgspec.field(default_factory=dict)
    topics: dict[int, int] = msgspec.field(default_factory=dict)
