"""The seams: where one part can be put in place of another. Each is one verb, or two where state has a life."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol, Self

from analecta.model import Example, FetchResult, Page, Request, Tally, Verdict
from analecta.text.tokens import Words

FetchFunction = Callable[[Request], Awaitable[FetchResult]]
Locate = Callable[[str], Awaitable[str]]  # the IP address of a host; "" where it has none
StopRule = Callable[[Tally, float], str | None]  # the tally, and the seconds since the start


class Judge(Protocol):
    """Learns topics from examples, then judges pages: a batch in, a batch out."""

    @property
    def needs(self) -> frozenset[str]:
        """What it looks at besides a page's own words: "anchors" of links to it, words of its "neighbours"; and
        whether it learns from pages "met" of which nobody said what they are."""

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Learn from examples; topic i is named topics[i]."""

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """A verdict for each page, in order."""

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        """The same, for pages whose words are already cut."""

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """The terms that made the verdict, heaviest first."""

    def save(self, folder: Path) -> str:
        """Write the model below `folder`, named by the hash of its content, which is returned."""


class Transport(Protocol):
    """Carries messages between partitions; may lose, repeat and reorder them (the exchange does not mind)."""

    def send(self, to: int, message: bytes) -> None:
        """Send without waiting; a message that cannot be sent now is lost."""

    def receive(self) -> list[bytes]:
        """All that has arrived since the last call."""
