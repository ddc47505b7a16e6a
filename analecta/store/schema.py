"""Texts as page rows hold them: compressed, for they are most of a shard."""

import msgspec
from isal import isal_zlib

from analecta.model import Verdict

unpack_topics = msgspec.msgpack.Decoder(tuple[tuple[int, float], ...]).decode  # (number, confidence), best first


def pack_text(text: str) -> bytes | None:
    """A text as it is kept; nothing for an empty one."""
    packed: bytes = isal_zlib.compress(text.encode(), 0)  # a sixth larger than level 1, in half the time
    return packed if text else None


def unpack_text(packed: bytes | None) -> str:
    """The text that was kept."""
    return isal_zlib.decompress(packed).decode() if packed else ""


def unpacked(topic: int, confidence: float | None, topics: bytes | None, _model: str | None = None) -> Verdict:
    """A verdict as a page row holds it."""
    sure = confidence or 0.0
    several = unpack_topics(topics) if topics else ((topic, sure),) * (topic >= 0)
    return Verdict(topic, sure, several)


def packed_topics(verdict: Verdict) -> bytes | None:
    """The topics of a page as its row holds them: nothing where there is but one."""
    return msgspec.msgpack.encode(verdict.topics) if len(verdict.topics) > 1 else None
