"""Datestamps, and resumption tokens, which say where a list goes on."""

import base64
import binascii
import contextlib
import hmac
import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import msgspec

# --- Dates as the protocol has them, and a clock that never goes back: harvesters live by both -----------------------
# A harvester asks for what changed since the date of an earlier answer. So whatever becomes visible after an answer
# must bear that answer's date or a later one. While a batch of changes is written, answers are dated with the batch's
# own stamp, the moment its writing began: who does not see the batch yet finds it under that date.

_FORMS = {
    "%Y-%m-%d": re.compile(r"\d{4}-\d\d-\d\d", re.ASCII),
    "%Y-%m-%dT%H:%M:%SZ": re.compile(r"\d{4}(-\d\d){2}T\d\d(:\d\d){2}Z", re.ASCII),
}
_LAST_SECOND = 24 * 60 * 60 - 1


def first_moment(text: str) -> int | None:
    """The first second of a day, or the second itself; None where it is no date of the protocol."""
    for form, pattern in _FORMS.items():
        if pattern.fullmatch(text):
            with contextlib.suppress(ValueError):  # the 31st of June
                return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp())
    return None


def last_moment(text: str) -> int | None:
    """The last second of a day, or the second itself; None where it is no date of the protocol."""
    first = first_moment(text)
    return first if first is None or "T" in text else first + _LAST_SECOND


def same_form(a: str, b: str) -> bool:
    """Whether both are days or both are seconds, as the two ends of a span must be."""
    return ("T" in a) == ("T" in b)


class Clock:
    """Whole seconds that never go back. `last` is the latest that was ever told, from an earlier run."""

    def __init__(self, now: Callable[[], float], last: int = 0) -> None:
        self._now, self.last = now, last
        self._stamp: int | None = None
        self._lock = threading.Lock()

    def date(self) -> int:
        """The date of an answer; to be asked for before the records are read."""
        with self._lock:
            return self._tick() if self._stamp is None else self._stamp

    @contextlib.contextmanager
    def stamping(self) -> Iterator[int]:
        """The stamp for changes that are written, and committed, inside."""
        with self._lock:
            self._stamp = stamp = self._tick()
        try:
            yield stamp
        finally:
            with self._lock:
                self._stamp = None

    def _tick(self) -> int:
        self.last = max(self.last, int(self._now()))
        return self.last


# --- Resumption tokens: where a list goes on. The server remembers nothing; a seal shows that a token is its own -----

LIFE = 24 * 60 * 60  # seconds from when it was given
_SEAL = 16  # bytes of HMAC-SHA-256


class Token(msgspec.Struct, frozen=True, array_like=True):
    """The list that was asked for, and how far it has been given."""

    verb: str
    prefix: str
    set: str
    since: int | None
    until: int | None
    after: int  # the change number of the last record given
    top: int  # the highest change number when the list began
    cursor: int  # records given so far
    size: int  # of the whole list, when it began
    expires: int


def sealed(token: Token, key: bytes) -> str:
    """The token as a harvester gets it: letters, digits, - and _ only."""
    packed = msgspec.msgpack.encode(token)
    return base64.urlsafe_b64encode(_seal(packed, key) + packed).decode().rstrip("=")


def opened(text: str, key: bytes, now: int) -> Token | None:
    """The token that was given; None where it is not ours, was changed, or has expired."""
    try:
        raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    seal, packed = raw[:_SEAL], raw[_SEAL:]
    # What is spelt otherwise than we spell it is refused too, though it may decode to the same bytes.
    if not hmac.compare_digest(seal, _seal(packed, key)) or base64.urlsafe_b64encode(raw).decode().rstrip("=") != text:
        return None
    token = msgspec.msgpack.decode(packed, type=Token)
    return token if token.expires >= now else None


def _seal(packed: bytes, key: bytes) -> bytes:
    return hmac.digest(key, packed, "sha256")[:_SEAL]
