"""Reading a PDF in a child process with limits on memory and time: a hostile file kills the child, not us (F32)."""

import resource
import subprocess
import sys
from pathlib import Path

import msgspec

from analecta.errors import BadUse
from analecta.sources.papers.paper import Paper
from analecta.sources.papers.reader import read_paper

MAX_FILE = 256 * 1024 * 1024
_MAX_REPLY = 64 * 1024 * 1024
_CHILD = "import sys; from analecta.sources.papers.child import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"


class _Reply(msgspec.Struct):
    """What the child says: a paper, or why there is none."""

    paper: Paper | None = None
    error: str = ""


def read_paper_apart(
    path: Path, seconds: float = 60.0, memory: int = 1024 * 1024 * 1024, max_file: int = MAX_FILE
) -> Paper:
    """Read the paper in a file; raises BadUse with one sentence where that cannot be done within the limits."""
    data = _contents(path, max_file)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, str(memory), str(int(seconds) + 1)],
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BadUse(f"{path}: reading it took more than {seconds:g} s and was stopped") from None
    try:
        reply = msgspec.msgpack.decode(done.stdout[:_MAX_REPLY], type=_Reply)
    except msgspec.MsgspecError:
        raise BadUse(f"{path}: the PDF is broken, reading it ended the reader") from None
    if reply.paper is None:
        raise BadUse(f"{path}: {reply.error}")
    return reply.paper


def _contents(path: Path, max_file: int) -> bytes:
    try:
        if not path.is_file():
            raise BadUse(f"{path}: there is no such file")
        if (size := path.stat().st_size) > max_file:
            raise BadUse(f"{path}: {size >> 20} MB are too much for a paper (the limit is {max_file >> 20} MB)")
        return path.read_bytes()
    except OSError as wrong:
        raise BadUse(f"{path}: it cannot be read ({wrong.strerror})") from None


def serve(memory: int, seconds: int) -> None:
    """The child's side: the PDF comes on stdin, the reply goes to stdout."""
    for what, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (limit, limit))
    try:
        reply = _Reply(read_paper(sys.stdin.buffer.read()))
    except BadUse as wrong:
        reply = _Reply(error=str(wrong))
    except MemoryError:
        reply = _Reply(error="reading it takes more memory than is allowed")
    except Exception as wrong:
        reply = _Reply(error=f"the PDF could not be read ({type(wrong).__name__})")
    sys.stdout.buffer.write(msgspec.msgpack.encode(reply))
