"""Resumption tokens: where a list goes on. The server remembers nothing; a seal shows that a token is its own."""

import base64
import binascii
import hmac

import msgspec

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
