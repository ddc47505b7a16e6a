"""Fetches in progress: started, parsed as they finish, and given out in batches.

A crawl in order gives results out as they were asked for, in whole batches. Any other gives out what is there, but no
more than can be worked on without keeping other hosts waiting.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from enum import Enum, auto

from analecta.crawl.late_documents import LateDocuments
from analecta.crawl.options import EngineOptions
from analecta.crawl.requests import Fetch, PageRequests
from analecta.fetch.robots import Robots
from analecta.frontier.frontier import Frontier
from analecta.model import Candidate, FetchResult, FoundBy, Lease, NoResponse, Page, Response, UrlRef
from analecta.parse import Parser, ParserDied
from analecta.parse.sitemap import Sitemap, read_sitemap
from analecta.protocols import FetchFunction
from analecta.store.recovery import Partition
from analecta.text.tokens import LOOKED_AT

LINGER = 0.004  # seconds a batch waits for company once its first result is there
MUCH = 400_000  # characters to judge (crawl/ingest.py) in a batch: at most a tenth of a second
NAP = 0.05  # seconds that a crawl in order waits for the rest of a batch at a time
_LINK = 100  # characters that are judged in the time that a link takes
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_SMALL_MAP = 32 * 1024  # bytes: some 300 URLs, which are read in a few milliseconds
_SLICE = 500  # URLs of a sitemap that are given out at once
_MOST_SLICES = 8  # that are given out at once, each of another sitemap
_SITEMAP_PRIORITY = 0.05  # a URL of which nothing is known but that it exists


class ResponseKind(Enum):
    """What an answer is to the URL that was asked for."""

    PAGE = auto()
    PROBE = auto()  # how its host answers for a page that it cannot have
    REDIRECT = auto()
    UNCHANGED = auto()
    NOT_OK = auto()
    SITEMAP = auto()
    BROKEN_OFF = auto()


def kind_of_answer(lease: Lease, answer: Response, tries: int) -> ResponseKind:
    """What an answer is; one that was broken off is asked for again while `tries` are left."""
    if lease.found_by == FoundBy.PROBE:
        return ResponseKind.PROBE
    if answer.status in _REDIRECTS:
        return ResponseKind.REDIRECT
    if answer.status == 304:
        return ResponseKind.UNCHANGED
    if not 200 <= answer.status < 300:
        return ResponseKind.NOT_OK
    if lease.found_by == FoundBy.MAP:
        return ResponseKind.SITEMAP
    if answer.truncated == "disconnect" and lease.tries < tries:
        return ResponseKind.BROKEN_OFF
    return ResponseKind.PAGE


class Fetcher:
    """Fetches pages of one partition."""

    def __init__(
        self,
        fetch: FetchFunction,
        robots: Robots,
        parser: Parser,
        frontier: Frontier,
        partition: Partition,
        options: EngineOptions,
    ) -> None:
        self.requests = PageRequests(fetch, robots, frontier, partition.archive.write, options)
        self.late_documents = LateDocuments(partition, parser, options.max_body)
        self.parser, self.frontier, self.partition = parser, frontier, partition
        self.tries, self.ordered, self.size = options.tries, options.ordered, options.batch
        self.documents_wait = False  # examples are learned from at once; documents wait only once there is a judge
        self.in_progress: deque[Fetch] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._finished = 0
        self._wanted = 1  # finished fetches that ring the bell
        self._bell = asyncio.Event()
        self._parsing, self._reading = asyncio.Lock(), asyncio.Lock()
        self._slices: deque[tuple[list[Candidate], asyncio.Event]] = deque()  # one of each sitemap; set when taken

    # --- in and out ------------------------------------------------------------------------------------------------

    def start(self, leases: Sequence[Lease]) -> None:
        """Ask for these."""
        for lease in leases:
            fetch = Fetch(lease, self.frontier.lines.join(lease.host) if self.frontier.lines else None)
            self.in_progress.append(fetch)
            task = asyncio.create_task(self._run(fetch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def batch(self, seconds: float) -> list[Fetch]:
        """The next finished fetches; none where nothing happens for so long, or `wake` was called."""
        self._wanted = 1
        if not self._finished:
            await self._wait(seconds)
        else:
            await asyncio.sleep(0)  # there may be more in one turn than can be done in it, turn after turn
        self._wanted = min(self.size, len(self.in_progress))
        if not self.ordered and 0 < self._finished < self._wanted:
            await self._wait(LINGER)
        elif self.ordered and not self._whole_batch():
            await self._wait(NAP)
        taken = self._take_in_order() if self.ordered else self._take()
        self._finished -= len(taken)
        return taken

    def sitemap_pages(self) -> list[Candidate]:
        """Pages that large sitemaps name, some of each at a time; to be asked for with each batch."""
        found: list[Candidate] = []
        for _ in range(min(_MOST_SLICES, len(self._slices))):
            pages, taken = self._slices.popleft()
            found += pages
            taken.set()
        if self._slices:
            asyncio.get_running_loop().call_soon(self._bell.set)  # once `batch` waits
        return found

    def wake(self) -> None:
        """Let `batch` return now."""
        self._bell.set()

    async def close(self) -> list[Lease]:
        """Give up what is in progress: what has to be queued again."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.late_documents.close()
        leases = [fetch.lease for fetch in self.in_progress]
        self.in_progress.clear()
        return leases

    async def _wait(self, seconds: float) -> None:
        self._bell.clear()
        alarm = asyncio.get_running_loop().call_later(seconds, self._bell.set)
        await self._bell.wait()
        alarm.cancel()

    def _whole_batch(self) -> bool:
        return all(self.in_progress[i].result for i in range(min(self.size, len(self.in_progress))))

    def _take_in_order(self) -> list[Fetch]:
        count = min(self.size, len(self.in_progress)) if self._whole_batch() else 0
        return [self.in_progress.popleft() for _ in range(count)]

    def _take(self) -> list[Fetch]:
        """Those that have finished, or so many of them as can be worked on without keeping others waiting."""
        taken: list[Fetch] = []
        rest: deque[Fetch] = deque()
        work = 0
        for fetch in self.in_progress:
            if fetch.result and work < MUCH:
                taken.append(fetch)
                work += _work(fetch)
            else:
                rest.append(fetch)
        self.in_progress = rest
        return taken

    # --- one fetch -------------------------------------------------------------------------------------------------

    async def _run(self, fetch: Fetch) -> None:
        lease = fetch.lease
        try:
            fetch.result = await self._fetched(fetch)
        except asyncio.CancelledError:
            fetch.result = NoResponse(lease.url, "closed", retry=True)
        except Exception as error:  # a fault of ours must cost this URL, not the crawl
            fetch.result = NoResponse(lease.url, "client", f"{type(error).__name__}: {error}")
        self._finished += 1
        if self._finished >= self._wanted:
            self._bell.set()

    async def _fetched(self, fetch: Fetch) -> FetchResult:
        """What came of asking for a page. Each is parsed in a turn of its own, so that other work comes between."""
        result = await self.requests.ask(fetch)
        if isinstance(result, NoResponse):
            return result
        kind = kind_of_answer(fetch.lease, result, self.tries)
        if kind == ResponseKind.PAGE:
            fetch.page = await (self._parse_apart if self.parser.heavy(result) else self._parse)(fetch.lease, result)
        elif kind == ResponseKind.PROBE and 200 <= result.status < 300 and not self.parser.heavy(result):
            fetch.page = await self._parse(fetch.lease, result)  # nobody says "not found" with a book
        elif kind == ResponseKind.SITEMAP and not self.ordered and len(result.body) > _SMALL_MAP:
            fetch.sitemap = await self._read_sitemap(fetch.lease, result)
        return result

    async def _parse(self, lease: Lease, answer: Response) -> Page | ParserDied:
        """Parse a page that is not heavy, here and now."""
        self.partition.parsing(lease.id)
        try:
            return self.parser(answer, UrlRef(lease.url, lease.id, lease.host), heavy=False)
        except ParserDied as died:
            return died
        finally:
            self.partition.parsing(0)

    async def _parse_apart(self, lease: Lease, answer: Response) -> Page | ParserDied:
        """A page that looks dangerous is parsed in a child, while the others go on; documents may have to wait.

        There is a child for pages and one for documents. Whoever waits for one holds no thread.
        """
        target = UrlRef(lease.url, lease.id, lease.host)
        unread, late = self.parser.unread(answer, target), self.late_documents
        # A crawl in order does nothing earlier or later than another time.
        if unread and late.full() and self.documents_wait and not self.ordered:
            return unread
        late.under_way += unread is not None
        try:
            async with self._reading if unread else self._parsing:
                return await asyncio.to_thread(self.parser, answer, target, True)
        except ParserDied as died:
            return died
        finally:
            late.under_way -= unread is not None

    async def _read_sitemap(self, lease: Lease, answer: Response) -> Sitemap:
        """Read a large sitemap while everything else goes on, and give out its pages some at a time.

        The lease ends with the last of them, so that after a kill the sitemap is read again.
        """
        sitemap = await asyncio.to_thread(read_sitemap, answer.body, answer.url)
        for _ in range(0, len(sitemap.urls) - _SLICE, _SLICE):
            taken = asyncio.Event()
            self._slices.append((sitemap_pages(sitemap.urls[:_SLICE], lease), taken))
            del sitemap.urls[:_SLICE]
            self._bell.set()
            await taken.wait()
        return sitemap


def _work(fetch: Fetch) -> int:
    """How much there is still to do: characters to judge, and links that take as long as so many."""
    page = fetch.page
    return min(len(page.text), LOOKED_AT) + _LINK * len(page.links) if isinstance(page, Page) else 0


def sitemap_candidates(targets: Sequence[UrlRef], parent: int, redirects: int) -> list[Candidate]:
    """Sitemaps, to be read for their links."""
    return [Candidate(t, _SITEMAP_PRIORITY, -1, 0, parent, FoundBy.MAP, redirects=redirects) for t in targets]


def sitemap_pages(targets: Sequence[UrlRef], lease: Lease) -> list[Candidate]:
    """The pages that a sitemap names: worth a little, for nothing is known of them."""
    found = (lease.topic, lease.depth + 1, lease.id, FoundBy.SITEMAP)
    return [Candidate(target, _SITEMAP_PRIORITY, *found) for target in targets]
