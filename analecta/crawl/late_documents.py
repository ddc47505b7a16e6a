"""Documents that wait to be read. One costs as much as ten or twenty pages, and pages do not wait for documents.

Where the crawl has time, as it has when hosts must be waited for, each document is read as it comes. When pages keep
this process at work, or many documents are under way, they are archived and kept unread, judged by the page that links
to them (S10), and read one after another later; now and then one is read all the same. The pile is a mark in the shard,
so that a kill loses nothing and the next crawl goes on with it.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable

import msgspec

from analecta.fetch.message import decode, parse_head
from analecta.model import Lease, Page, Response, UrlRef
from analecta.parse import Parser
from analecta.store.archive import RecordPlace, read_answer
from analecta.store.recovery import Partition

FEW = 6  # documents under way that are read as they come
_NOW_AND_THEN = 32  # batches for a document
_AT_WORK = 0.4  # of a core: with more there is no time. Waiting tells less, for with more workers than cores all wait
_LOOK = 0.25  # seconds between looks at the clocks


class LateDocument(msgspec.Struct):
    """A document that was kept unread and is read now: its row, how it was come by, and what it holds."""

    seq: int
    lease: Lease
    page: Page


class LateDocuments:
    """The documents of one partition that wait, and the reading of them."""

    def __init__(
        self,
        partition: Partition,
        parser: Parser,
        max_body: int,
        few: int = FEW,
        clock: Callable[[], float] = time.monotonic,
        worked: Callable[[], float] = time.process_time,
    ) -> None:
        """`worked()` is the time this process has been at work, in seconds."""
        self.partition = partition
        self.parser = parser
        self.max_body = max_body
        self.few = few
        self._clock = clock
        self._worked = worked
        self._looked = clock(), worked()
        self.waiting = deque(partition.unread())
        self.under_way = 0  # those that are read as they come
        self.busy = False  # whether pages take all the time
        self._turns = 0
        self._reading: asyncio.Task[None] | None = None
        self._read: list[LateDocument] = []

    def __len__(self) -> int:
        """How many wait, or are being read from the pile."""
        return len(self.waiting) + (self._reading is not None) + len(self._read)

    def full(self) -> bool:
        """Whether one more should go on the pile."""
        return self.busy or self.under_way >= self.few

    def taken(self) -> list[LateDocument]:
        """Those that have been read meanwhile."""
        read, self._read = self._read, []
        return read

    def go_on(self, more: Iterable[int], ring: Callable[[], None]) -> None:
        """Take `more` rows, and read the next if nothing else is being read and there is time; `ring` when done."""
        self.waiting.extend(more)
        self._look()
        self._turns += 1
        in_time = not self.busy or self._turns % _NOW_AND_THEN == 0
        if in_time and self._reading is None and self.waiting and not self.under_way:
            self._reading = asyncio.create_task(self._read_one(self.waiting.popleft(), ring))

    def _look(self) -> None:
        """How much of the last moments this process was at work."""
        now, worked = self._clock(), self._worked()
        since, before = self._looked
        if now - since >= _LOOK:
            self.busy = worked - before > _AT_WORK * (now - since)
            self._looked = now, worked

    async def _read_one(self, seq: int, ring: Callable[[], None]) -> None:
        try:
            row = self.partition.unread_page(seq)
            if row is None:  # it was fetched again
                return
            lease, file, offset, length, mime = row
            place = RecordPlace(file, offset, length)
            target = UrlRef(lease.url, lease.id, lease.host)
            try:
                page = await asyncio.to_thread(self._parse, target, place, mime)
            except Exception as wrong:  # whatever it is, the document is kept, and says why it has no text
                page = Page(lease.url, lease.id, lease.host, mime, limits=f"{type(wrong).__name__}: {wrong}")
            self._read.append(LateDocument(seq, lease, page))
        finally:
            self._reading = None
            ring()

    def _parse(self, target: UrlRef, place: RecordPlace, mime: str) -> Page:
        """Parse what the server said then, from the archive."""
        found = read_answer(self.partition.archive.path(place.file), place)
        head = parse_head(found[0].splitlines(keepends=True)) if found else None
        if found is None or head is None:
            return Page(target.url, target.id, target.host, mime, limits="the archived copy cannot be read")
        status, raw, headers = head
        coding = headers.get("content-encoding", "")
        body = decode(found[1], coding, self.max_body)[0] if coding else found[1]
        return self.parser(Response(target.url, status, raw, headers, b"", body), target, True)

    async def close(self) -> None:
        """Give up what is being read: it stays on the pile."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
