"""What is asked of a crawl: topics, seeds drawn for them, the pages that ought to be found, and a budget."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from analecta.errors import BadUse
from analecta.evaluate.graph import Graph
from analecta.evaluate.labels import draw

TOGETHER = "(together)"

OnTopic = Mapping[str, Sequence[int]]  # the pages on each topic


class Question:
    """One or several topics with one draw of seeds. `relevant` are the pages on topic that the seeds can reach."""

    def __init__(
        self,
        topic: str,
        number: int,
        seeds: dict[str, list[int]],
        on_topic: OnTopic,
        graph: Graph,
        asked: str,
        worth: Mapping[int, float] | None = None,
    ) -> None:
        """`worth` says how probably a page is on topic, where a classifier has judged it."""
        self.topic, self.draw, self.seeds = topic, number, seeds
        self.worth = worth
        reached = set(graph.breadth_first(self.all_seeds))
        self.relevant = {name: {n for n in pages if n in reached} for name, pages in on_topic.items()}
        self.budget = budget(asked, self.size)

    @cached_property
    def all_seeds(self) -> list[int]:
        """The seeds of all topics."""
        return list(dict.fromkeys(n for pages in self.seeds.values() for n in pages))

    @cached_property
    def all_relevant(self) -> set[int]:
        """The relevant pages of all topics."""
        return set().union(*self.relevant.values())

    @property
    def size(self) -> int:
        """R: how many relevant pages there are."""
        return len(self.all_relevant)


class Draws:
    """Draws the seeds and makes the questions."""

    def __init__(self, graph: Graph, seeds: int, draws: int, budget: str, hosts: int = 0) -> None:
        self.graph, self.seeds, self.draws, self.budget, self.hosts = graph, seeds, draws, budget, hosts

    def each(self, on_topic: OnTopic) -> list[Question]:
        """A question for each topic and draw."""
        return [self._question(t, n, {t: pages}) for t, pages in on_topic.items() for n in range(self.draws)]

    def examined(self, examples: OnTopic, worth: Mapping[str, Mapping[int, float]]) -> list[Question]:
        """The same where a classifier says what is on topic; seeds are drawn from the examples it learnt from."""
        return [
            self._question(topic, number, {topic: pages}, {topic: likely}, worth[topic])
            for topic, pages in examples.items()
            for likely in [sorted({*pages, *(n for n, p in worth[topic].items() if p > 0.5)})]
            for number in range(self.draws)
        ]

    def together(self, on_topic: OnTopic) -> list[Question]:
        """A question for each draw, about all topics at once (S7)."""
        return [self._question(TOGETHER, number, on_topic) for number in range(self.draws)]

    def _question(
        self,
        name: str,
        number: int,
        examples: OnTopic,
        on_topic: OnTopic | None = None,
        worth: Mapping[int, float] | None = None,
    ) -> Question:
        seeds = {t: draw(t, number, pages, self.graph, self.seeds, self.hosts) for t, pages in examples.items()}
        return Question(name, number, seeds, on_topic or examples, self.graph, self.budget, worth)


def budget(text: str, size: int) -> int:
    """`4R` or a number of pages."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)R|(\d+)", text.strip())
    pages = round(float(found[1]) * size) if found and found[1] else int(found[2]) if found else 0
    if pages < 1:
        raise BadUse(f"the budget is a number of pages or a multiple of R, such as 4R, not {text!r}")
    return pages
