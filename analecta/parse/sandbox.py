"""Hostile documents: read by a function in a killable child, or by external programs, both within limits."""

import contextlib
import ctypes
import importlib
import os
import resource
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar, get_type_hints

import msgspec

from analecta.errors import AnalectaError

_CHUNK = 1 << 16


def _begin(command: Sequence[str], **more: Any) -> subprocess.Popen[bytes]:
    """Start a process to talk to; in a session of its own, so that what it starts itself can be killed with it."""
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, bufsize=0, start_new_session=True, **more)


def _exchange(
    process: subprocess.Popen[bytes],
    data: bytes | bytearray,
    until: float,
    enough: Callable[[bytearray], bool],
    close: bool = False,
) -> bytearray:
    """Write `data`, then `close` if asked, and read until there is `enough` or no more comes.

    A process that reads no more loses what is left of `data`. TimeoutExpired holds what was read.
    """
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    left, got = memoryview(data), bytearray()
    os.set_blocking(stdin.fileno(), False)
    with selectors.PollSelector() as selector:
        selector.register(stdin, selectors.EVENT_WRITE)
        selector.register(stdout, selectors.EVENT_READ)
        while not enough(got):
            ready = selector.select(max(0.0, until - time.monotonic()))
            if time.monotonic() >= until:
                raise subprocess.TimeoutExpired("", 0, bytes(got))
            for key, _ in ready:
                if key.fileobj is stdin:
                    left = _write(key.fd, left)
                    if not left:
                        selector.unregister(stdin)
                        if close:
                            stdin.close()
                elif part := os.read(key.fd, _CHUNK):
                    got += part
                else:
                    return got
    return got


def _write(fd: int, left: memoryview) -> memoryview:
    """What is left after another write; nothing once the process reads no more."""
    try:
        return left[os.write(fd, left) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        return left[:0]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _limit(bounds: Mapping[int, int]) -> None:
    """Set limits of this process, none above what it is allowed."""
    for what, most in bounds.items():
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


# --- child -----------------------------------------------------------------------------------------------------------
# Parent and child send each other msgpack with its length in front.


_MAX_REPLY = 256 * 1024 * 1024
_READY_SECONDS = 30.0  # that a child may take to start
_LENGTH = struct.Struct("<I")
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


class Sandbox(Generic[Reply]):
    """Calls a function, named "module:function", in a child process that is killed at its limits.

    The child decodes the arguments as the function's own hints say, the parent the reply as `reply`. Several threads
    may call: they wait for one another. A child that failed is replaced at the next call.
    """

    def __init__(self, function: str, reply: type[Reply], limits: ChildLimits = ChildLimits()) -> None:
        self.function = function
        self.limits = limits
        # What went wrong, or what the function has returned.
        self._reply: msgspec.msgpack.Decoder[tuple[str, Reply | None]] = msgspec.msgpack.Decoder(
            tuple[str, reply | None]  # type: ignore[valid-type]
        )
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def call(self, *payload: object) -> Reply:
        """What the function returns; raises ChildLate, or ChildFailed where there is no reply."""
        message = _message(payload)
        with self._lock:
            try:
                child = self._child or self._start()
                # A child that lets others go first may have to wait for the processor.
                seconds = self.limits.seconds * (3 if self.limits.nice else 1)
                error, value = self._reply.decode(_ask(child, message, seconds))
            except subprocess.TimeoutExpired:
                self._end()
                raise ChildLate("it took too long") from None
            except (EOFError, msgspec.MsgspecError):
                raise ChildFailed(self._end()) from None
            if error:
                self._end()
        if value is None:
            raise ChildFailed(error or "no reply")
        return value

    def close(self) -> None:
        """End the child and wait for it."""
        with self._lock:
            self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        code = "import sys; from analecta.parse.sandbox import serve; serve(*sys.argv[1:])"
        limits = [str(self.limits.memory), str(int(self.limits.seconds) + 1), str(self.limits.nice)]
        self._child = _begin([sys.executable, "-c", code, self.function, *limits])
        _ask(self._child, b"", _READY_SECONDS)
        return self._child

    def _end(self) -> str:
        """Kill the child, if there is one, and say how it ended."""
        child, self._child = self._child, None
        if child is None:
            return ""
        with child:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(0.05)  # one that is dying of itself may tell why
            _kill(child)
        code = child.returncode
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def _ask(child: subprocess.Popen[bytes], message: bytes | bytearray, seconds: float) -> memoryview:
    """What a child replies to a message; raises EOFError where it ended before, or would say too much."""
    got = _exchange(child, message, time.monotonic() + seconds, lambda got: not len(got) < _size(got) <= _MAX_REPLY)
    if len(got) < _size(got):
        raise EOFError
    return memoryview(got)[_LENGTH.size :]


def _size(got: bytearray) -> int:
    """How long the message is of which so much has come."""
    return _LENGTH.size + _LENGTH.unpack_from(got)[0] if len(got) >= _LENGTH.size else _LENGTH.size


def _message(value: object) -> bytearray:
    message = bytearray(_LENGTH.size)
    msgspec.msgpack.Encoder().encode_into(value, message, _LENGTH.size)
    _LENGTH.pack_into(message, 0, len(message) - _LENGTH.size)
    return message


def serve(function: str, memory: str, seconds: str, nice: str) -> None:
    """The child's side: call the function with what comes on stdin until that ends; an error ends the child too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes the pipe
    module, _, name = function.partition(":")
    call = getattr(importlib.import_module(module), name)
    hints = [hint for name, hint in get_type_hints(call).items() if name != "return"]
    arguments: msgspec.msgpack.Decoder[tuple[Any, ...]] = msgspec.msgpack.Decoder(tuple[*hints])  # type: ignore[valid-type]
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing a library prints gets between the messages
    os.nice(int(nice))
    _limit({resource.RLIMIT_AS: int(memory), resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0})
    _say(sink)  # it is ready
    while head := source.read(_LENGTH.size):
        _allow_cpu(int(seconds))
        try:
            message = source.read(_LENGTH.unpack(head)[0])
            payload = arguments.decode(message)
            del message
            _say(sink, value=call(*payload))
            del payload
            # A large page leaves 40 to 100 MB behind, which nobody else could use. Only glibc can give them back.
            with contextlib.suppress(AttributeError):
                ctypes.CDLL(None).malloc_trim(0)
        except Exception as wrong:
            _say(sink, f"{type(wrong).__name__}: {wrong}"[:500])
            return


def _say(sink: BinaryIO, error: str = "", value: object = None) -> None:
    sink.write(_message((error, value)))
    sink.flush()


def _allow_cpu(seconds: int) -> None:
    """Let the next page have so much CPU time; the limit counts the whole life of the process."""
    used = int(time.process_time()) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, hard))


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
        return _feed(_isolated(command), data, limits)
    folder = tempfile.mkdtemp(prefix="analecta-", dir=os.environ.get("TMPDIR") or "/tmp")
    try:
        return _feed(command, data, limits, folder)
    finally:
        with contextlib.suppress(OSError):  # the program's process has removed it, unless it could not be started
            os.rmdir(folder)


@cache
def can_isolate(program: str) -> bool:
    """Whether bubblewrap is installed, may make namespaces here, and the program starts in one."""
    if not shutil.which("bwrap", path=_PATH):
        return False
    with contextlib.suppress(OSError):
        return _feed(_isolated([program, "--version"]), b"", ProgramLimits(seconds=_START_SECONDS)).status == 0
    return False


def _isolated(command: Sequence[str]) -> list[str]:
    """The command in namespaces of its own, where no further processes may be started.

    That limit may not be set before, for bubblewrap needs two.
    """
    bwrap = shutil.which("bwrap", path=_PATH) or "bwrap"
    visible = [word for path in _VISIBLE for word in ("--ro-bind-try", path, path)]
    folder = ["--dir", "/tmp", "--remount-ro", "/", "--chdir", "/tmp"]
    variables = ["--setenv", "TMPDIR", "/tmp", "--setenv", "HOME", "/tmp"]
    alone = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    one = ["prlimit", "--nproc=0", "--"] if shutil.which("prlimit", path=_PATH) else []
    return [bwrap, *alone, *visible, *folder, *variables, *one, *command]


def _feed(command: Sequence[str], data: bytes, limits: ProgramLimits, folder: str = "") -> Finished:
    """Run a command within limits; in a private `folder` if there is one, which it removes as it starts."""
    bounds = {
        resource.RLIMIT_AS: limits.memory,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
    }
    if folder:
        bounds[resource.RLIMIT_NPROC] = 0

    def confine() -> None:
        _limit(bounds)
        resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 1))  # SIGXCPU first, then SIGKILL
        with contextlib.suppress(OSError, AttributeError):  # there is no prctl but on Linux
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if folder:
            os.rmdir(folder)

    place = folder or "/"
    variables = {"PATH": _PATH, "LANG": "C.UTF-8", "TMPDIR": place, "HOME": place}
    until = time.monotonic() + _WALL * limits.seconds
    stopped = ""
    with _begin(command, cwd=place, env=variables, preexec_fn=confine) as process:
        try:
            output = bytes(_exchange(process, data, until, lambda got: len(got) > limits.output, close=True))
            if len(output) > limits.output:
                stopped = "output"
            else:
                process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired as late:
            output, stopped = late.output or b"", "time"
        finally:
            _kill(process)
    if process.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        stopped = "time"
    return Finished(output[: limits.output], process.returncode, stopped)
