"""SIGINT, SIGTERM and SIGHUP mean the same to every command: end cleanly, with exit code 130.

A signal that was ignored when the command was started stays ignored, as is the custom: `nohup` ignores SIGHUP, and a
shell script ignores SIGINT for what it puts into the background. SIGTERM then still ends it.
"""

import contextlib
import signal
from collections.abc import Callable, Iterator

INTERRUPTED = 130  # the exit code
_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_received = False


def stop_signals() -> list[signal.Signals]:
    """Those that are not to be ignored."""
    return [number for number in _STOP if signal.getsignal(number) is not signal.SIG_IGN]


def was_stopped() -> bool:
    """Whether one of them has come in this process."""
    return _received


@contextlib.contextmanager
def interrupt_on_stop() -> Iterator[None]:
    """The first of them raises KeyboardInterrupt; after it any ends the process at once, so that no cleanup hangs."""
    global _received
    _received = False

    def interrupt() -> None:
        for number in stop_signals():
            signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    with stop_handler(interrupt):
        yield


@contextlib.contextmanager
def stop_handler(handle: Callable[[], None]) -> Iterator[None]:
    """Call `handle` for each of them instead, as long as the context lasts."""

    def note(*_: object) -> None:
        global _received
        _received = True
        handle()

    before = [(number, signal.signal(number, note)) for number in stop_signals()]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def leave_stop_to_parent(*but: signal.Signals) -> None:
    """Ignore them in a child whose parent hears them and ends it; all `but` some."""
    for number in _STOP:
        if number not in but:
            signal.signal(number, signal.SIG_IGN)
