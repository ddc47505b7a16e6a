"""What is asked of a crawl, what is known about the pages, and a classifier to mark its answers."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from analecta.errors import UsageError
from analecta.evaluate.graph import PageGraph
from analecta.judge.base import Judge
from analecta.judge.bayes import NaiveBayes
from analecta.model import Example, Page, Response, Verdict
from analecta.parse import Parser
from analecta.testweb.webs import StillWeb
from analecta.text.tokens import words
from analecta.urls import canonical

# --- labels ----------------------------------------------------------------------------------------------------------
# Which pages are on which topic: labels from a file, topics as prefixes of them, seeds drawn from them.


Labels = dict[int, tuple[str, ...]]  # of each page, by its number


def read_labels(path: Path, graph: PageGraph) -> Labels:
    """The labels of a file: `URL<TAB>label|label...`, or `host<TAB>label` for every page of a host."""
    pages: dict[str, tuple[str, ...]] = {}
    hosts: dict[str, tuple[str, ...]] = {}
    for number, line in _lines(path, "labels"):
        where, tab, names = line.partition("\t")
        labels = tuple(name.strip() for name in names.split("|") if name.strip())
        if not tab or not labels:
            raise UsageError(
                f"{path}, line {number}: wanted are URL<TAB>label|label or host<TAB>label, not {line[:80]!r}"
            )
        (pages if "://" in where else hosts)[where.strip()] = labels
    found = {n: hosts[host] for n, host in enumerate(graph.hosts) if host in hosts} | of_urls(pages, graph)
    if not found:
        raise UsageError(f"no page of the web is named in {path}: do the two belong together?")
    return found


def _lines(path: Path, what: str) -> Iterator[tuple[int, str]]:
    """The lines of a file by number, but empty ones and comments."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the {what} {path}: {error}") from error
    return ((n, line) for n, line in enumerate(lines, 1) if line.strip() and not line.startswith("#"))


def of_urls(pages: Mapping[str, tuple[str, ...]], graph: PageGraph) -> Labels:
    """Labels by URL as labels by page."""
    found: Labels = {}
    for url, labels in pages.items():
        n = graph.find(url)
        if n is not None:
            found[n] = tuple(dict.fromkeys((*found.get(n, ()), *labels)))
    return found


def covers(topic: str, label: str) -> bool:
    """Whether a label is a topic or lies below it: `Science.Biology` covers `Science.Biology.Birds`."""
    return label == topic or label.startswith(topic + ".")


def pages_of(topic: str, labels: Labels) -> list[int]:
    """The pages on a topic."""
    return [n for n, names in labels.items() if any(covers(topic, name) for name in names)]


def choose_topics(wanted: Sequence[str], labels: Labels, least: int) -> list[str]:
    """The topics asked for; by default those of the second level (or all, where there are no levels)."""
    sizes = _sizes(labels)
    if wanted:
        for topic in wanted:
            if not sizes.get(topic):
                raise UsageError(f"no page has the label {topic!r}{_hint(topic, sizes)}")
            if sizes[topic] < least:
                raise UsageError(f"{topic} has {sizes[topic]} pages; --min-pages {least} are asked for")
        return list(dict.fromkeys(wanted))
    level = 1 if any("." in topic for topic in sizes) else 0
    found = sorted(topic for topic, n in sizes.items() if n >= least and topic.count(".") == level)
    if not found:
        raise UsageError(f"no topic has {least} pages; see --min-pages")
    return found


def _sizes(labels: Labels) -> Counter[str]:
    """How many pages each label has, with those below it."""
    sizes: Counter[str] = Counter()
    for names in labels.values():
        above = set[str]()
        for name in names:
            parts = name.split(".")
            above.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
        sizes.update(above)
    return sizes


def _hint(topic: str, sizes: Iterable[str]) -> str:
    near = sorted(name for name in sizes if topic.lower() in name.lower())[:5]
    return f"; there are {', '.join(near)}" if near else ""


def draw(topic: str, number: int, pages: Iterable[int], graph: PageGraph, seeds: int, hosts: int = 0) -> list[int]:
    """Random pages to start from, the same for the same topic and number; from `hosts` hosts only, if given."""
    rng = Random(f"{topic}/{number}")
    chosen = sorted(pages, key=lambda n: graph.urls[n])
    if hosts:
        names = sorted({graph.hosts[n] for n in chosen})
        some = set(rng.sample(names, min(hosts, len(names))))
        chosen = [n for n in chosen if graph.hosts[n] in some]
    return rng.sample(chosen, min(seeds, len(chosen)))


# --- questions -------------------------------------------------------------------------------------------------------
# What is asked of a crawl: topics, seeds drawn for them, the pages that ought to be found, and a budget.


TOGETHER = "(together)"


class EvaluationPlan(msgspec.Struct, kw_only=True):
    """What is to be evaluated."""

    web: str
    recipes: list[str]
    labels: str = ""
    examples: dict[str, str] = {}  # files by topic, where there are no labels
    topics: list[str] = []
    together: bool = False
    seeds: int = 10
    draws: int = 3
    budget: str = "4R"
    seed_hosts: int = 0
    min_pages: int = 40
    jobs: int = 0
    settings: dict[str, Any] = {}


OnTopic = Mapping[str, Sequence[int]]  # the pages on each topic


class EvaluationTask:
    """One or several topics with one draw of seeds. `relevant` are the pages on topic that the seeds can reach."""

    def __init__(
        self,
        plan: EvaluationPlan,
        graph: PageGraph,
        topic: str,
        number: int,
        examples: OnTopic,
        on_topic: OnTopic,
        worth: Mapping[int, float] | None = None,
    ) -> None:
        """Seeds are drawn from `examples`; `worth` says how probably a page is on topic, where that was judged."""
        self.topic, self.draw, self.worth = topic, number, worth
        hosts = plan.seed_hosts
        self.seeds = {name: draw(name, number, pages, graph, plan.seeds, hosts) for name, pages in examples.items()}
        reached = set(graph.breadth_first(self.all_seeds))
        self.relevant = {name: {n for n in pages if n in reached} for name, pages in on_topic.items()}
        self.budget = budget(plan.budget, self.size)

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


def budget(text: str, size: int) -> int:
    """`4R` or a number of pages."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)R|(\d+)", text.strip())
    pages = round(float(found[1]) * size) if found and found[1] else int(found[2]) if found else 0
    if pages < 1:
        raise UsageError(f"the budget is a number of pages or a multiple of R, such as 4R, not {text!r}")
    return pages


# --- examiner --------------------------------------------------------------------------------------------------------
# The evaluation classifier of P11, for webs without labels: it has seen more than any crawler it marks.
#
# It learns from all examples of a topic, of which a crawl gets a few, and from random other pages of the web; then it
# says of every page how probably it is on the topic.


_OTHERS = 5  # random pages to each example: what a web is mostly about must be well known
_BATCH = 64
_LEAST = 4


def read_examples(path: Path, graph: PageGraph) -> list[int]:
    """The pages of a file that the web has, one URL a line."""
    urls = [line.split("\t")[0].strip() for _, line in _lines(path, "examples")]
    found = list(dict.fromkeys(n for url in urls if (n := graph.find(url)) is not None))
    if len(found) < _LEAST:
        raise UsageError(f"{path} names {len(found)} pages of the web; at least {_LEAST} are needed to learn from")
    return found


class EvaluationClassifier:
    """Says how probably each page of a web is on a topic."""

    def __init__(self, web: StillWeb, graph: PageGraph, examples: dict[str, list[int]]) -> None:
        self.web, self.graph, self.examples = web, graph, examples

    def worth(self, step: Callable[[int], None] = lambda done: None) -> dict[str, dict[int, float]]:
        """The probability of each page, by topic."""
        with Parser() as parser:
            judges = {topic: self._taught(topic, parser) for topic in self.examples}
            found: dict[str, dict[int, float]] = {topic: {} for topic in judges}
            done = 0
            pages = self._pages(self.web.pages(), parser)
            while batch := list(islice(pages, _BATCH)):
                numbers = [self.graph.number[page.id] for page in batch]
                cut = words([page.text for page in batch])
                for topic, judge in judges.items():
                    found[topic] |= zip(numbers, map(probability, judge.judge_words(cut)), strict=True)
                step(done := done + len(batch))
        return found

    def _taught(self, topic: str, parser: Parser) -> Judge:
        own, known = self.examples[topic], {n for pages in self.examples.values() for n in pages}
        rest = [n for n in range(len(self.graph)) if n not in known]
        others = Random(topic).sample(rest, min(len(rest), _OTHERS * len(own)))
        examples = []
        for number, pages in ((0, own), (-1, others)):
            answers = iter([self.web.get(self.graph.urls[n]) for n in pages])
            examples += [Example(number, page.url, page.text) for page in self._pages(answers, parser)]
        return NaiveBayes().fit(examples, [topic])

    def _pages(self, answers: Iterator[Response], parser: Parser) -> Iterator[Page]:
        for answer in answers:
            target = canonical(answer.url)
            if target is None or target.id not in self.graph.number or not 200 <= answer.status < 300:
                continue
            yield parser.page(answer, target)


def probability(verdict: Verdict) -> float:
    """Pr(+|page): a judge is as sure of the topic as it says, or of its contrary."""
    return verdict.confidence if verdict.topic == 0 else min(verdict.confidence, 1 - verdict.confidence)
