"""Hostile documents: read by a function in a killable child, or by external programs, both within limits."""

import contextlib
import ctypes
import os
import resource
import select
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import IO, Generic, NamedTuple, TypeVar

import msgspec

from analecta.errors import AnalectaError
from analecta.parse.child import LENGTH, ChildReply

_MAX_REPLY = 256 * 1024 * 1024
_READY_SECONDS = 30.0  # that a child may take to start
Reply = TypeVar("Reply")


class ChildLimits(msgspec.Struct, frozen=True):
    """What a child may use for one call: seconds, both of CPU and on the clock, and bytes of memory.

    With `nice` it lets other processes go first, and so may take three times as long on the clock.
    """

    seconds: float = 5.0
    memory: int = 512 * 1024 * 1024
    nice: int = 0


class ChildFailed(AnalectaError):
    """The child ended, or its function raised; the text says how."""


class ChildLate(ChildFailed):
    """The child did not reply in time."""


class _Gone(Exception):
    """The child closed its pipe."""


class Sandbox(Generic[Reply]):
    """Calls a function, named "module:function", in a child process that is killed at its limits.

    The child decodes the arguments as the function's own hints say, the parent the reply as `reply`. Several threads
    may call: they wait for one another. A child that failed is replaced at the next call.
    """

    def __init__(self, function: str, reply: type[Reply], limits: ChildLimits = ChildLimits()) -> None:
        self.function = function
        self.limits = limits
        self._reply: msgspec.msgpack.Decoder[ChildReply[Reply]] = msgspec.msgpack.Decoder(ChildReply[reply])  # type: ignore[valid-type]
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def call(self, *payload: object) -> Reply:
        """What the function returns; raises ChildLate, or ChildFailed where there is no reply."""
        message = msgspec.msgpack.encode(payload)
        with self._lock:
            try:
                reply = self._reply.decode(self._exchange(message))
            except ChildLate:
                self._end()
                raise
            except (_Gone, msgspec.MsgspecError) as wrong:
                raise ChildFailed(self._end() or str(wrong)) from None
            if reply.error:
                self._end()
        if reply.error or reply.value is None:
            raise ChildFailed(reply.error or "no reply")
        return reply.value

    def close(self) -> None:
        """End the child and wait for it."""
        with self._lock:
            self._end()

    def _exchange(self, message: bytes) -> bytes:
        sink, source = self._pipes(self._child or self._start())
        # A child that lets others go first may have to wait for the processor.
        until = time.monotonic() + self.limits.seconds * (3 if self.limits.nice else 1)
        _send(sink, LENGTH.pack(len(message)), until)
        _send(sink, message, until)
        return _receive(source, until)

    def _start(self) -> subprocess.Popen[bytes]:
        code = "import sys; from analecta.parse.child import serve; serve(*sys.argv[1:])"
        limits = [str(self.limits.memory), str(int(self.limits.seconds) + 1), str(self.limits.nice)]
        child = subprocess.Popen(
            [sys.executable, "-c", code, self.function, *limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # so that what it starts itself (Ghostscript) can be killed with it
        )
        self._child = child
        sink, source = self._pipes(child)
        os.set_blocking(sink, False)
        os.set_blocking(source, False)
        _receive(source, time.monotonic() + _READY_SECONDS)  # an empty message: ready
        return child

    @staticmethod
    def _pipes(child: subprocess.Popen[bytes]) -> tuple[int, int]:
        assert child.stdin is not None
        assert child.stdout is not None
        return child.stdin.fileno(), child.stdout.fileno()

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


def _wait(fd: int, event: int, until: float) -> None:
    poll = select.poll()  # not select(), which stops at descriptor 1,024
    poll.register(fd, event)
    left = until - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise ChildLate("it took too long")


def _send(fd: int, data: bytes, until: float) -> None:
    view = memoryview(data)
    while view:
        _wait(fd, select.POLLOUT, until)
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            continue
        except BrokenPipeError:
            raise _Gone("the child is gone") from None


def _receive(fd: int, until: float) -> bytes:
    (length,) = LENGTH.unpack(_exactly(fd, LENGTH.size, until))
    if length > _MAX_REPLY:
        raise _Gone(f"a reply of {length} bytes")
    return _exactly(fd, length, until)


def _exactly(fd: int, length: int, until: float) -> bytes:
    got = bytearray()
    while len(got) < length:
        _wait(fd, select.POLLIN, until)
        try:
            part = os.read(fd, min(length - len(got), 1 << 20))
        except BlockingIOError:
            continue
        if not part:
            raise _Gone("the child closed its pipe")
        got += part
    return bytes(got)


# --- programs --------------------------------------------------------------------------------------------------------
# External programs on hostile documents: every program that the product runs is started here, by `run` (F53).
#
# A program gets its input on stdin and gives its output on stdout. Where bubblewrap works it runs in namespaces of its
# own: no network, no other processes, a read-only file system with nothing in it but programs and fonts. Elsewhere it
# gets a private working and temporary folder, which is removed as it starts, so nothing can be put into it; what else
# it may open is up to its own options (Ghostscript: -dSAFER). Time, memory, output, files and processes are limited in
# both cases, and the program dies with whoever runs it.


_PATH = "/usr/local/bin:/usr/bin:/bin"
# What a program may see of the machine: itself, its libraries and its fonts. What does not exist is left out.
_VISIBLE = (
    "/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/ghostscript",
    "/var/lib/ghostscript",
)  # fmt: skip
_CHUNK = 1 << 16
_OPEN_FILES = 64
_START_SECONDS = 10  # for the test whether a namespace can be had
_WALL = 2  # seconds on the clock for each of CPU time: on a busy machine a program must wait for its turn
_PR_SET_PDEATHSIG = 1


class ProgramLimits(NamedTuple):
    """What a program may use: seconds of CPU (twice that on the clock), bytes of memory, bytes of output."""

    seconds: int = 8
    memory: int = 512 * 1024 * 1024
    output: int = 16 * 1024 * 1024


class Finished(NamedTuple):
    """What a program wrote, its exit status, and what it was stopped for: "", "time" or "output"."""

    output: bytes
    status: int
    stopped: str = ""


def run(
    command: Sequence[str], data: bytes, limits: ProgramLimits = ProgramLimits(), namespace: bool | None = None
) -> Finished:
    """Run a program (named by its path) on `data`; in a namespace if that works, or as `namespace` says.

    Call it from a process with one thread, as the parser's child is: limits are set between fork and exec.
    """
    if namespace is None:
        namespace = can_isolate(command[0])
    if namespace:
        return _feed([*_bubblewrap(), *_one_process(), *command], data, limits, "/", _confine(limits))
    folder = tempfile.mkdtemp(prefix="analecta-", dir=os.environ.get("TMPDIR") or "/tmp")
    try:
        return _feed(command, data, limits, folder, _confine(limits, folder))
    finally:
        with contextlib.suppress(OSError):  # the program's process has removed it, unless it could not be started
            os.rmdir(folder)


@cache
def can_isolate(program: str) -> bool:
    """Whether bubblewrap is installed, may make namespaces here, and the program starts in one."""
    if not shutil.which("bwrap", path=_PATH):
        return False
    limits = ProgramLimits(seconds=_START_SECONDS)
    command = [*_bubblewrap(), *_one_process(), program, "--version"]
    with contextlib.suppress(OSError):
        return _feed(command, b"", limits, "/", _confine(limits)).status == 0
    return False


def _bubblewrap() -> list[str]:
    bwrap = shutil.which("bwrap", path=_PATH) or "bwrap"
    visible = [word for path in _VISIBLE for word in ("--ro-bind-try", path, path)]
    folder = ["--dir", "/tmp", "--remount-ro", "/", "--chdir", "/tmp"]
    variables = ["--setenv", "TMPDIR", "/tmp", "--setenv", "HOME", "/tmp"]
    alone = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    return [bwrap, *alone, *visible, *folder, *variables]


def _one_process() -> list[str]:
    """No further processes inside the namespace; the limit may not be set before, for bubblewrap needs two."""
    return ["prlimit", "--nproc=0", "--"] if shutil.which("prlimit", path=_PATH) else []


def _confine(limits: ProgramLimits, folder: str = "") -> Callable[[], None]:
    """Sets limits in the new process, and removes the private folder, in which it already is."""
    bounds = {
        resource.RLIMIT_AS: limits.memory,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
    }
    if folder:
        bounds[resource.RLIMIT_NPROC] = 0

    def confine() -> None:
        for what, most in bounds.items():
            hard = resource.getrlimit(what)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(what, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 1))  # SIGXCPU first, then SIGKILL
        with contextlib.suppress(OSError, AttributeError):  # there is no prctl but on Linux
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if folder:
            os.rmdir(folder)

    return confine


def _feed(
    command: Sequence[str], data: bytes, limits: ProgramLimits, folder: str, prepare: Callable[[], None]
) -> Finished:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=folder,
        env={"PATH": _PATH, "LANG": "C.UTF-8", "TMPDIR": folder, "HOME": folder},
        preexec_fn=prepare,
        start_new_session=True,
    )
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    until = time.monotonic() + _WALL * limits.seconds
    stopped = ""
    try:
        output = _exchange(stdin, stdout, data, limits.output, until)
        if len(output) > limits.output:
            stopped = "output"
        else:
            process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired as late:
        output, stopped = late.output or b"", "time"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        stdin.close()
        stdout.close()
    if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        stopped = "time"
    return Finished(output[: limits.output], status, stopped)


def _exchange(stdin: IO[bytes], stdout: IO[bytes], data: bytes, most: int, until: float) -> bytes:
    """Write `data` and read until the end of the output, or until there are more than `most` bytes of it."""
    left, got = memoryview(data), bytearray()
    os.set_blocking(stdin.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(stdin, selectors.EVENT_WRITE)
        selector.register(stdout, selectors.EVENT_READ)
        while len(got) <= most:
            ready = selector.select(max(0.0, until - time.monotonic()))
            if time.monotonic() >= until:
                raise subprocess.TimeoutExpired("", 0, bytes(got))
            for key, _ in ready:
                if key.fileobj is stdin:
                    left = _write(key.fd, left)
                    if not left:
                        selector.unregister(stdin)
                        stdin.close()
                elif part := os.read(key.fd, _CHUNK):
                    got += part
                else:
                    return bytes(got)
    return bytes(got)


def _write(fd: int, left: memoryview) -> memoryview:
    """What is left after another write; nothing once the program reads no more."""
    try:
        return left[os.write(fd, left) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        return left[:0]
