"""Sets are topics: "Science / Biology" is the set science:biology, which lies in the set science."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain, count

import msgspec

from analecta.model import BELOW

_ILLEGAL = re.compile(r"[^A-Za-z0-9_.!~*'()-]+")
SPEC = re.compile(r"[A-Za-z0-9_.!~*'()-]+(:[A-Za-z0-9_.!~*'()-]+)*")  # as the protocol's schema has it


class Sets(msgspec.Struct, frozen=True):
    """The set of each topic by number, and the names of all sets by spec, those above before those below."""

    of_topic: tuple[str, ...]
    names: dict[str, str]


def sets_of(topics: Sequence[str]) -> Sets:
    """The sets of a library's topics; numbers and names of topics stay, so sets keep their specs."""
    specs: dict[str, str] = {}  # by path
    for number, topic in enumerate(topics):
        for path in paths(topic):
            if path not in specs:
                specs[path] = _spec(path, number, specs)
    return Sets(tuple(specs[topic] for topic in topics), {spec: path for path, spec in specs.items()})


def paths(topic: str) -> list[str]:
    """A topic with all above it, the highest first: a, a / b, a / b / c."""
    parts = topic.split(BELOW)
    return [BELOW.join(parts[: n + 1]) for n in range(len(parts))]


def _spec(path: str, number: int, known: dict[str, str]) -> str:
    """A spec that no other set has; where two names read alike, the later one gets a number: its topic's, if free."""
    above, _, name = path.rpartition(BELOW)
    before = known[above] + ":" if above in known else ""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    spec = before + (_ILLEGAL.sub("-", plain).strip("-") or f"topic-{number}")
    specs = chain((spec,), (f"{spec}-{n}" for n in count(number)))
    return next(one for one in specs if one not in known.values())
