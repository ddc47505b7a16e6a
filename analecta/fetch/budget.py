"""A budget of memory for all bodies of a partition: on the wire, waiting to be decoded, and being taken in.

Bytes count from the moment they come until their `Response` is dropped; a body ready to be parsed counts for all
that is made of it. Where the budget is used up, transfers are paused and large bodies wait in their content coding.
Nothing small ever waits, and one thing always goes on: of the transfers the first that was paused, of the bodies the
first that waits, if no other large one is left that will make room.
"""

import asyncio
import contextlib
import threading
import weakref
from collections.abc import Callable
from functools import partial

from analecta.model import Response

PARSED = 4  # bytes that a byte of a body comes to while it is parsed and taken in, as measured
SMALL = 1 << 19  # bytes of an answer that need no room of their own
_PATIENCE = 5.0  # seconds without anything released after which one more goes on, room or not
_IN_ORDER = 0.25  # the same for a crawl in order


def needed(size: int, on_the_wire: bool) -> int:
    """Bytes that a body of this size needs, besides those that were counted as they came."""
    return size * (PARSED - on_the_wire)


class MemoryBudget:
    """Counts bytes, pauses transfers and makes large bodies wait. Bound to the loop it is first used in.

    Whoever holds an answer may itself wait for one that waits for room, as a crawl in order does (`ordered`), which
    takes answers as they were asked for: so one more goes on whenever nothing has been released for a while.
    """

    def __init__(self, limit: int, ordered: bool = False) -> None:
        self.limit = limit
        self.patience = _IN_ORDER if ordered else _PATIENCE
        self.used = 0
        self.peak = 0
        self._held: dict[int, weakref.ref[Response]] = {}  # answers that count
        self._large = 0  # answers held, or about to be made, that are not small
        self._releases = 0
        self._waiting: dict[asyncio.Future[None], int] = {}  # bodies that wait for so many bytes, first come first
        self._paused: dict[object, Callable[[], None]] = {}  # how transfers go on
        self._leader: object = None  # the one transfer that goes on whatever is used
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._timer: asyncio.TimerHandle | None = None

    # --- bytes on the wire -------------------------------------------------------------------------------------------

    def take(self, size: int) -> None:
        """So many bytes more are held."""
        self.used += size
        if self.used > self.peak:
            self.peak = self.used

    def must_pause(self, transfer: object, resume: Callable[[], None]) -> bool:
        """Whether a transfer must wait before it takes more; `resume` lets it go on."""
        if self.used < self.limit or transfer is self._leader:
            return False
        if self._may_lead():
            self._leader = transfer
            return False
        self._paused[transfer] = resume
        self._watch()
        return True

    def ended(self, transfer: object) -> None:
        """A transfer is over."""
        self._paused.pop(transfer, None)
        if transfer is self._leader:
            self._leader = None
            self._go_on()

    def release(self, size: int) -> None:
        """So many bytes are no longer held."""
        self.used -= size
        self._releases += size > 0
        if self._waiting or self._paused:
            self._go_on()

    # --- decoded bodies ----------------------------------------------------------------------------------------------

    async def room(self, size: int) -> None:
        """Wait until a large body of up to `size` bytes may be made; they count at once."""
        if self._waiting or not self._fits(size):
            future = asyncio.get_running_loop().create_future()
            self._waiting[future] = size
            self._watch()
            try:
                await future
            except asyncio.CancelledError:
                if self._waiting.pop(future, None) is None:  # it was let in at the same moment
                    self._large -= 1
                    self.release(size)
                raise
            return
        self._let_in(size)

    def hold(self, answer: Response, room: int = 0) -> None:
        """Count an answer until it is dropped; its wire was taken already, and so was `room` if it was waited for."""
        more, large = needed(len(answer.body), answer.body is answer.wire), len(answer.body) > SMALL
        held = weakref.ref(answer, partial(self._dropped, len(answer.wire) + more, large))
        self._held[id(held)] = held
        self._large += large - (room > 0)
        self.take(more - room)
        if self._loop is None:
            self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        if room:
            self._go_on()  # it was perhaps not all needed

    def figures(self) -> dict[str, int]:
        """Bytes in use now, at most so far, and allowed."""
        return {"used": self.used, "peak": self.peak, "limit": self.limit}

    def close(self) -> None:
        """The loop ends: nothing is paused or waits any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._paused.clear()

    # --- going on ----------------------------------------------------------------------------------------------------

    def _fits(self, size: int) -> bool:
        return self.used + size <= self.limit or not self._large

    def _let_in(self, size: int) -> None:
        self._large += 1
        self.take(size)

    def _may_lead(self) -> bool:
        """Whether nothing else will make room: neither a large answer that is taken in nor a body that waits."""
        return self._leader is None and not self._large and not self._waiting

    def _dropped(self, size: int, large: bool, held: weakref.ref[Response]) -> None:
        """An answer of this size is gone; that may happen in a thread that parses."""
        if threading.get_ident() == self._thread:
            self._forget(size, large, held)
        elif self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody counts any more
                self._loop.call_soon_threadsafe(self._forget, size, large, held)

    def _forget(self, size: int, large: bool, held: weakref.ref[Response]) -> None:
        del self._held[id(held)]
        self._large -= large
        self.release(size)

    def _go_on(self) -> None:
        """Let in what has room now: bodies first, for they make room."""
        while self._waiting and self._fits(next(iter(self._waiting.values()))):
            self._let_first_in()
        while self._paused and (self.used < self.limit or self._may_lead()):
            self._resume_first()

    def _let_first_in(self) -> None:
        future = next(iter(self._waiting))
        size = self._waiting.pop(future)
        if not future.done():
            self._let_in(size)
            future.set_result(None)

    def _resume_first(self) -> None:
        transfer = next(iter(self._paused))
        resume = self._paused.pop(transfer)
        if self.used >= self.limit:
            self._leader = transfer
        asyncio.get_running_loop().call_soon(resume)  # never from inside libcurl

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.patience, self._hurry, self._releases)

    def _hurry(self, releases: int) -> None:
        """Where nothing was released since, let one more go on."""
        self._timer = None
        if self._releases == releases:
            if self._waiting:
                self._let_first_in()
            elif self._paused:
                self._leader = None
                self._resume_first()
        if self._waiting or self._paused:
            self._watch()
