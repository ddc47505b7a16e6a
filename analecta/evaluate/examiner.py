"""The evaluation classifier of P11, for webs without labels: it has seen more than any crawler it marks.

It learns from all examples of a topic, of which a crawl gets a few, and from random other pages of the web; then it
says of every page how probably it is on the topic.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from analecta.errors import BadUse
from analecta.evaluate.graph import Graph
from analecta.judge import JUDGES
from analecta.model import Answer, Example, Page, Verdict
from analecta.parse import Parser, ParserDied
from analecta.protocols import Judge
from analecta.testweb.webs import Web
from analecta.text.tokens import words
from analecta.urls import canonical

_OTHERS = 5  # random pages to each example: what a web is mostly about must be well known
_BATCH = 64
_LEAST = 4


def read_examples(path: Path, graph: Graph) -> list[int]:
    """The pages of a file that the web has, one URL a line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadUse(f"cannot read the examples {path}: {error}") from error
    urls = [line.split("\t")[0].strip() for line in lines if line.strip() and not line.startswith("#")]
    found = list(dict.fromkeys(n for url in urls if (n := graph.find(url)) is not None))
    if len(found) < _LEAST:
        raise BadUse(f"{path} names {len(found)} pages of the web; at least {_LEAST} are needed to learn from")
    return found


class Examiner:
    """Says how probably each page of a web is on a topic."""

    def __init__(self, web: Web, graph: Graph, examples: dict[str, list[int]]) -> None:
        self.web, self.graph, self.examples = web, graph, examples

    def worth(self, step: Callable[[int], None] = lambda done: None) -> dict[str, dict[int, float]]:
        """The probability of each page, by topic."""
        with Parser() as parser:
            judges = {topic: self._taught(topic, pages, parser) for topic, pages in self.examples.items()}
            found: dict[str, dict[int, float]] = {topic: {} for topic in judges}
            done = 0
            for batch in _batches(self._pages(self.web.pages(), parser)):
                numbers = [self.graph.number[page.id] for page in batch]
                cut = words([page.text for page in batch])
                for topic, judge in judges.items():
                    found[topic] |= zip(numbers, map(probability, judge.judge_words(cut)), strict=True)
                step(done := done + len(batch))
        return found

    def _taught(self, topic: str, pages: list[int], parser: Parser) -> Judge:
        rng, known = Random(topic), {n for pages in self.examples.values() for n in pages}
        rest = [n for n in range(len(self.graph)) if n not in known]
        others = rng.sample(rest, min(len(rest), _OTHERS * len(pages)))
        examples = [*self._examples(0, pages, parser), *self._examples(-1, others, parser)]
        make: Callable[[], Any] = JUDGES.get("bayes", JUDGES["centroid"])
        judge: Judge = make().fit(examples, [topic])
        return judge

    def _examples(self, topic: int, pages: Sequence[int], parser: Parser) -> list[Example]:
        answers = iter([self.web.get(self.graph.urls[n]) for n in pages])
        return [Example(topic, page.url, page.text) for page in self._pages(answers, parser)]

    def _pages(self, answers: Iterator[Answer], parser: Parser) -> Iterator[Page]:
        for answer in answers:
            target = canonical(answer.url)
            if target is None or target.id not in self.graph.number or not 200 <= answer.status < 300:
                continue
            try:
                yield parser(answer, target)
            except ParserDied as died:
                yield died.page


def probability(verdict: Verdict) -> float:
    """Pr(+|page): a judge is as sure of the topic as it says, or of its contrary."""
    return verdict.confidence if verdict.topic == 0 else min(verdict.confidence, 1 - verdict.confidence)


def _batches(pages: Iterator[Page]) -> Iterator[list[Page]]:
    while batch := list(islice(pages, _BATCH)):
        yield batch
