"""The child's side of the sandbox, and the messages between it and its parent: msgpack with a length in front."""

import contextlib
import ctypes
import importlib
import os
import resource
import signal
import struct
import time
from collections.abc import Callable
from typing import BinaryIO, get_type_hints

import msgspec

from analecta.model import Page, Response, UrlRef

LENGTH = struct.Struct("<I")


class ParseJob(msgspec.Struct):
    """What a child is told to parse."""

    answer: Response
    target: UrlRef
    mime: str


class ParseReply(msgspec.Struct):
    """What a child says: a page in plain values, or why there is none."""

    error: str = ""
    page: msgspec.Raw = msgspec.Raw(b"\xc0")  # nil


# A Page whose lazy parts have been asked for; the types are checked when the parent reads it.
_PLAIN = {name: hint for name, hint in get_type_hints(Page).items() if name not in ("link_context", "main_text")}
_Flat = msgspec.defstruct("_Flat", [*_PLAIN.items(), ("words", list[str]), ("main_text", str)])


def write_page(page: Page) -> bytes:
    """The message that holds a page."""
    plain = {name: getattr(page, name) for name in _PLAIN}
    words = [page.link_context(i) for i in range(len(page.links))]
    flat = _Flat(**plain, words=words, main_text=page.main_text())
    return msgspec.msgpack.encode(ParseReply(page=msgspec.Raw(msgspec.msgpack.encode(flat))))


def read_reply(message: bytes) -> Page | str:
    """The page in a message, or the error it tells of; raises MsgspecError where it is neither."""
    reply = msgspec.msgpack.decode(message, type=ParseReply)
    if reply.error:
        return reply.error
    flat = msgspec.structs.asdict(msgspec.msgpack.decode(reply.page, type=_Flat))
    words: list[str] = flat.pop("words")
    main: str = flat.pop("main_text")
    return Page(**flat, link_context=words.__getitem__, main_text=lambda: main)


def serve(parser: str, memory: str, seconds: str, nice: str = "0") -> None:
    """Parse what comes on stdin until it ends; a page that breaks the parser ends the child too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes the pipe
    module, _, name = parser.partition(":")
    parse: Callable[[Response, UrlRef, str], Page] = getattr(importlib.import_module(module), name)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing a library prints gets between the messages
    os.nice(int(nice))
    _confine(int(memory))
    _say(sink, b"")
    while head := source.read(LENGTH.size):
        message = source.read(LENGTH.unpack(head)[0])
        _allow_cpu(int(seconds))
        try:
            job = msgspec.msgpack.decode(message, type=ParseJob)
            del message
            _say(sink, write_page(parse(job.answer, job.target, job.mime)))
            del job
            _trim_memory()
        except Exception as wrong:
            _say(sink, msgspec.msgpack.encode(ParseReply(error=f"{type(wrong).__name__}: {wrong}"[:500])))
            return


def _say(sink: BinaryIO, data: bytes) -> None:
    sink.write(LENGTH.pack(len(data)))
    sink.write(data)
    sink.flush()


def _trim_memory() -> None:
    """Give freed memory back to the system: a large page leaves 40 to 100 MB behind, which nobody else could use."""
    with contextlib.suppress(AttributeError):  # only glibc has it, and others need it less
        ctypes.CDLL(None).malloc_trim(0)


def _confine(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _allow_cpu(seconds: int) -> None:
    """Let the next page have so much CPU time; the limit counts the whole life of the process."""
    used = int(time.process_time()) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, hard))
