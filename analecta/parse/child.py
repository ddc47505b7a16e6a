"""The child's side of the sandbox, and the messages between it and its parent: msgpack with a length in front."""

import contextlib
import ctypes
import importlib
import os
import resource
import signal
import struct
import time
from typing import Any, BinaryIO, Generic, TypeVar, get_type_hints

import msgspec

LENGTH = struct.Struct("<I")
Value = TypeVar("Value")


class ChildReply(msgspec.Struct, Generic[Value]):
    """What a child says: what its function returned, or why that is nothing."""

    error: str = ""
    value: Value | None = None


def serve(function: str, memory: str, seconds: str, nice: str) -> None:
    """Call the function with what comes on stdin until that ends; an error ends the child too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes the pipe
    module, _, name = function.partition(":")
    call = getattr(importlib.import_module(module), name)
    hints = [hint for name, hint in get_type_hints(call).items() if name != "return"]
    arguments: msgspec.msgpack.Decoder[tuple[Any, ...]] = msgspec.msgpack.Decoder(tuple[*hints])  # type: ignore[valid-type]
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing a library prints gets between the messages
    os.nice(int(nice))
    _confine(int(memory))
    _say(sink, b"")
    while head := source.read(LENGTH.size):
        _allow_cpu(int(seconds))
        try:
            message = source.read(LENGTH.unpack(head)[0])
            payload = arguments.decode(message)
            del message
            _say(sink, msgspec.msgpack.encode(ChildReply(value=call(*payload))))
            del payload
            _trim_memory()
        except Exception as wrong:
            _say(sink, msgspec.msgpack.encode(ChildReply(error=f"{type(wrong).__name__}: {wrong}"[:500])))
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
