"""A child process for pages that may be hostile: it has limits on memory and time, and can be killed.

One child lives long and takes one page at a time. Messages are msgpack with a length in front, never pickle:
what comes back from a child that parsed hostile bytes is data. The child starts as a fresh interpreter, not by
fork, so it holds nothing of the parent but two pipes; it ends when the parent does.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import msgspec

from analecta.errors import AnalectaError
from analecta.model import Answer, Page, Target
from analecta.parse.child import LENGTH, Job, read_reply
from analecta.parse.fallback import rough_page

_MAX_REPLY = 256 * 1024 * 1024
TIME_UP = "parse-limited: stopped after"  # how the limits of a page begin that took too long


class ParserDied(AnalectaError):
    """The parser broke on a page. `page` says so in its limits and holds nothing else."""

    def __init__(self, why: str, page: Page) -> None:
        super().__init__(why)
        self.page = page


class _TimeUp(Exception):
    """The child did not answer in time."""


class _Gone(Exception):
    """The child closed its pipe."""


class Sandbox:
    """Parses pages in a killable child; `parser` names the child's function as "module:function".

    `instead` makes the page of an answer that took too long.

    `parse` blocks for `limit_seconds` at most (and the time a child needs to start); it may be called from
    several threads, which then wait for one another.
    """

    def __init__(
        self,
        parser: str = "analecta.parse:parse_in_child",
        limit_seconds: float = 5.0,
        memory: int = 512 * 1024 * 1024,
        start_seconds: float = 30.0,
        max_body: int = 4 * 1024 * 1024,
        instead: Callable[[Answer, Target, str, str], Page] = rough_page,
        now: Callable[[], float] = time.monotonic,
        nice: int = 0,
    ) -> None:
        self.parser = parser
        self.nice = nice
        self.limit_seconds = limit_seconds
        self.memory = memory
        self.start_seconds = start_seconds
        self.max_body = max_body
        self.instead = instead
        self.now = now
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def parse(self, answer: Answer, target: Target, mime: str = "text/html") -> Page:
        """The page, complete or with its limits told; raises ParserDied if the parser broke on it."""
        body = answer.body[: self.max_body]
        sent = msgspec.structs.replace(answer, wire=b"", asked=b"", body=body)
        message = msgspec.msgpack.encode(Job(sent, target, mime))
        with self._lock:
            try:
                reply = read_reply(self._ask(message))
            except _TimeUp:
                self._end()
                why = f"{TIME_UP} {self.limit_seconds:g} s"
                return self.instead(answer, target, mime, why)
            except (_Gone, msgspec.MsgspecError) as wrong:
                raise self._died(self._end() or str(wrong), target, mime) from None
            if isinstance(reply, str):
                self._end()
                raise self._died(reply, target, mime)
        page = reply
        if len(body) < len(answer.body):
            why = f"parse-limited: only the first {self.max_body} bytes"
            page.limits = "; ".join(filter(None, (why, page.limits)))
        return page

    def close(self) -> None:
        """End the child and wait for it."""
        with self._lock:
            self._end()

    def _died(self, why: str, target: Target, mime: str) -> ParserDied:
        why = f"parse-crashed: {why}"
        return ParserDied(why, Page(target.url, target.id, target.host, mime, limits=why))

    def _ask(self, message: bytes) -> bytes:
        child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        # A child that lets others go first may have to wait for the processor.
        until = self.now() + self.limit_seconds * (3 if self.nice else 1)
        _send(child.stdin.fileno(), LENGTH.pack(len(message)), until, self.now)
        _send(child.stdin.fileno(), message, until, self.now)
        return _receive(child.stdout.fileno(), until, self.now)

    def _start(self) -> subprocess.Popen[bytes]:
        code = "import sys; from analecta.parse.child import serve; serve(*sys.argv[1:])"
        limits = [str(self.memory), str(int(self.limit_seconds) + 1), str(self.nice)]
        child = subprocess.Popen(
            [sys.executable, "-c", code, self.parser, *limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # so that what it starts itself (Ghostscript) can be killed with it
        )
        self._child = child
        assert child.stdin is not None
        assert child.stdout is not None
        os.set_blocking(child.stdin.fileno(), False)
        os.set_blocking(child.stdout.fileno(), False)
        _receive(child.stdout.fileno(), self.now() + self.start_seconds, self.now)  # an empty message: ready
        return child

    def _end(self) -> str:
        """Kill the child, if there is one, and say how it ended."""
        child, self._child = self._child, None
        if child is None:
            return ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.05)  # one that is dying of itself may tell why
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        code = child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def _wait(fd: int, event: int, until: float, now: Callable[[], float]) -> None:
    poll = select.poll()  # not select(), which stops at descriptor 1,024
    poll.register(fd, event)
    left = until - now()
    if left <= 0 or not poll.poll(left * 1000):
        raise _TimeUp


def _send(fd: int, data: bytes, until: float, now: Callable[[], float]) -> None:
    view = memoryview(data)
    while view:
        _wait(fd, select.POLLOUT, until, now)
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            continue
        except BrokenPipeError:
            raise _Gone("the child is gone") from None


def _receive(fd: int, until: float, now: Callable[[], float]) -> bytes:
    (length,) = LENGTH.unpack(_exactly(fd, LENGTH.size, until, now))
    if length > _MAX_REPLY:
        raise _Gone(f"a reply of {length} bytes")
    return _exactly(fd, length, until, now)


def _exactly(fd: int, length: int, until: float, now: Callable[[], float]) -> bytes:
    got = bytearray()
    while len(got) < length:
        _wait(fd, select.POLLIN, until, now)
        try:
            part = os.read(fd, min(length - len(got), 1 << 20))
        except BlockingIOError:
            continue
        if not part:
            raise _Gone("the child closed its pipe")
        got += part
    return bytes(got)
