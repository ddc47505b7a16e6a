"""The course of a crawl: what the coordinator sees from all partitions' counts and tells each of them.

Three things depend on the whole: whether the crawl is still learning (B10), which topics are full (S7), and how many
off-topic pages a path may cross (S6). They are looked at every few pages, so that a crawl in order can wait for them.
"""

from collections.abc import Sequence

from analecta.frontier.policy import CrawlPhase
from analecta.model import UNLIMITED, Tally

_LOOK_EVERY = 50  # pages
_MOVE_EVERY = 200  # pages after which the cutoff may move again
_LOW, _HIGH = 0.1, 0.5  # shares of pages on topic: below the first it moves down, above the second up
_ROOM = 2  # how far above where it was set


class CrawlPhases:
    """Sets the course of one run."""

    def __init__(
        self,
        topics: Sequence[str],
        *,
        before: int = 0,
        learning: int = 0,
        full: int = 0,
        cutoff: int = -1,
        ordered: bool = False,
    ) -> None:
        """`before`: pages the library holds; it learns until there are `learning`; a topic retires with `full` pages.

        A `cutoff` of 0 or more is moved. 0 (-1 for the cutoff) leaves each of them out. An `ordered` crawl waits for
        each look, so that it can be repeated.
        """
        self.topics = topics
        self.before = before
        self.learning = learning
        self.full = full
        self.ordered = ordered
        self._cutoff, self._highest_cutoff = cutoff, cutoff + _ROOM
        self._pages = self._on_topic = 0  # when it was last looked at
        self.course = CrawlPhase(learning=before < learning)
        self._next = self._after(0)

    def limit(self) -> int:
        """How many pages of this run may be fetched before the next look: the harvest is always waited for."""
        if self.ordered:
            return self._next
        return self.learning - self.before if self.course.learning else UNLIMITED

    def step(self, tally: Tally) -> list[str]:
        """Set the course again if it is time: what has changed, in words."""
        if tally.pages < self._next:
            return []
        self._next = self._after(tally.pages)
        old = self.course
        retired = self._retired(tally)
        said = [self._move_cutoff(tally)]
        learning = self.before + tally.pages < self.learning
        self.course = CrawlPhase(learning, retired, self._cutoff if self._cutoff >= 0 else None)
        if old.learning and not learning:
            said.append(f"the harvest began, after {self.before + tally.pages:,} pages")
        full = [self.topics[topic] for topic in retired if topic not in old.retired]
        said += [f"{name} has {self.full:,} pages and is left at that" for name in full]
        return [words for words in said if words]

    def _move_cutoff(self, tally: Tally) -> str:
        """Down by one where few of the last pages were on topic, up by one where many were (S6); why, if it moved."""
        pages = tally.pages - self._pages
        if self._cutoff < 0 or pages < _MOVE_EVERY:
            return ""
        share = (tally.on_topic - self._on_topic) / pages
        self._pages, self._on_topic = tally.pages, tally.on_topic
        before = self._cutoff
        if share < _LOW:
            self._cutoff = max(0, before - 1)
        elif share > _HIGH:
            self._cutoff = min(self._highest_cutoff, before + 1)
        if self._cutoff == before:
            return ""
        last = f"{share:.0%} of the last {pages:,} pages were on topic"
        return f"the cutoff is {self._cutoff} now, after {before}: {last}"

    def _retired(self, tally: Tally) -> tuple[int, ...]:
        full = {topic for topic, count in tally.topics.items() if self.full and count >= self.full}
        return tuple(sorted(full | {*self.course.retired}))

    def _after(self, pages: int) -> int:
        """The number of pages at which to look next."""
        steady = pages // _LOOK_EVERY * _LOOK_EVERY + _LOOK_EVERY if self.full or self._cutoff >= 0 else UNLIMITED
        left = self.learning - self.before
        return min(steady, left) if left > pages else steady
