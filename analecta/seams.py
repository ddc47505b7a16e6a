"""The seams: where one part can be put in place of another. Each is one verb, or two where state has a life."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol, Self

from analecta.model import Answer, Candidate, Example, Fetched, Lease, Page, Request, Tally, Verdict

Fetch = Callable[[Request], Awaitable[Fetched]]
Parse = Callable[[Answer], Page]
StopRule = Callable[[Tally], str | None]


class Judge(Protocol):
    """Learns topics from examples, then judges pages: a batch in, a batch out."""

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Learn from examples; topic i is named topics[i]."""

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """A verdict for each page, in order."""

    def save(self, folder: Path) -> str:
        """Write the model below `folder`, named by the hash of its content, which is returned."""


class LinkPolicy(Protocol):
    """Says what the links of judged pages are worth."""

    def __call__(self, page: Page, verdict: Verdict, lease: Lease, fresh: Sequence[int]) -> list[Candidate]:
        """Candidates for those links of `page` whose positions are in `fresh`."""


class Transport(Protocol):
    """Carries messages between partitions; may lose, repeat and reorder them (the exchange does not mind)."""

    def send(self, to: int, message: bytes) -> None:
        """Send without waiting; a message that cannot be sent now is lost."""

    def receive(self) -> list[bytes]:
        """All that has arrived since the last call."""
