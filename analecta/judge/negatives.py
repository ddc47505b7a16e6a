"""OTHERS: what pages are like that are about none of the topics (B5).

The paper takes some 50 pages of a web directory for this. Here nothing is copied: stock.txt holds the words that
everyday pages use, by what they are about, and pages are drawn from them as words come in language, the first few
often and the others seldom. They teach a judge which words are common; they can not teach what lies near a topic.
That is taught by other topics, and by pages the crawl met far away (examples of topic -1).
"""

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from analecta.model import Example

COMMON = "common"
LENGTH = 240  # words of a stock page
PAGES = 60  # the paper has 50
NEAR = 4.0  # times as often as is usual, and a kind's words may be those of the topic


@cache
def kinds() -> dict[str, tuple[str, ...]]:
    """The kinds of everyday pages with their words."""
    lines = Path(__file__).with_name("stock.txt").read_text("utf-8").splitlines()
    pairs = (line.partition(":") for line in lines if not line.startswith("#"))
    return {name: tuple(rest.split()) for name, _, rest in pairs}


class Stock(NamedTuple):
    """A made-up page: its kind, its text, and what a link to it might say."""

    kind: str
    text: str
    anchor: str


@cache
def stock_pages(pages: int = PAGES, length: int = LENGTH) -> tuple[Stock, ...]:
    """Made-up everyday pages: always the same ones, the kinds in turn."""
    rng = random.Random(5)
    names = [name for name in kinds() if name != COMMON]
    made = []
    for name in (names[i % len(names)] for i in range(pages)):
        own = rng.sample(kinds()[name], len(kinds()[name]))
        drawn = _draw(rng, kinds()[COMMON], length // 2) + _draw(rng, own, length // 2)
        rng.shuffle(drawn)
        made.append(Stock(name, " ".join(drawn), " ".join(own[:3])))
    return tuple(made)


def stock_examples(examples: Sequence[Example], pages: int = PAGES) -> list[Example]:
    """Examples of OTHERS for these topics: stock pages, but none of a kind that a topic may be about."""
    near = {kind for topic in {e.topic for e in examples} - {-1} for kind in _near(examples, topic)}
    made = (page for page in stock_pages(pages) if page.kind not in near)
    return [Example(-1, "", page.text, page.anchor, page.text) for page in made]


def _near(examples: Sequence[Example], topic: int) -> set[str]:
    """The kinds of pages whose words are far more frequent in examples of a topic than those of most kinds."""
    said = Counter(word for e in examples if e.topic == topic for word in e.text.lower().split())
    often = {kind: sum(said[word] for word in own) / len(own) for kind, own in kinds().items() if kind != COMMON}
    usual = sorted(often.values())[len(often) // 2]
    return {kind for kind, n in often.items() if n > max(NEAR * usual, 1)}


def _draw(rng: random.Random, words: Sequence[str], n: int) -> list[str]:
    """Words by their rank, the k-th 1/(k + 10) as often as another: the flat head of Zipf's law without stop words."""
    return rng.choices(words, weights=[1 / (k + 10) for k in range(len(words))], k=n)
