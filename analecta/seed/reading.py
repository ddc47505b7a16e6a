"""What was understood of a file that a person brought, and what was not."""

import msgspec

from analecta.settings import Topic


class Skipped(msgspec.Struct, frozen=True):
    """A line that makes no sense, and why."""

    line: int
    text: str
    why: str


class Reading(msgspec.Struct, frozen=True):
    """Topics with their seeds; what was skipped; how many seeds were named more than once."""

    topics: tuple[Topic, ...]
    skipped: tuple[Skipped, ...] = ()
    repeated: int = 0
