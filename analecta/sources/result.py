"""What was understood of a file that a person brought, and what was not."""

import msgspec

from analecta.settings.schema import NegativeSettings, Topic


class SkippedLine(msgspec.Struct, frozen=True):
    """A line or an entry that makes no sense, and why; line 0 where a file has no lines to speak of."""

    line: int
    text: str
    why: str
    file: str = ""


class SourceResult(msgspec.Struct, frozen=True):
    """Topics with their seeds; what was skipped; how many seeds were named more than once.

    A topic that has no seeds is none yet: `queries` keeps what a search engine would be asked for it, by its
    name (S1). `merged` are the topics that a file names more than once. `others` is what is not meant. `files` are
    the examples among the topics and others that are files as brought, each with its place in the library.
    """

    topics: tuple[Topic, ...]
    skipped: tuple[SkippedLine, ...] = ()
    repeated: int = 0
    queries: dict[str, str] = {}
    merged: tuple[str, ...] = ()
    others: NegativeSettings = NegativeSettings()
    files: dict[str, str] = {}
