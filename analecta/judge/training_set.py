"""What judges learn from: examples in an order of their own, stock pages of no topic, and new archetypes."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
import xxhash

from analecta.arrays import Bools, Floats, Ints
from analecta.model import UNLABELLED, Example

# --- OTHERS: what pages are like that are about none of the topics (B5) ----------------------------------------------
# The paper takes some 50 pages of a web directory for this. Here nothing is copied: stock.txt holds the words that
# everyday pages use, by what they are about, and pages are drawn from them as words come in language, the first few
# often and the others seldom. They teach a judge which words are common; they can not teach what lies near a topic.
# That is taught by other topics, and by pages the crawl met far away (examples of topic -1).


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


class MadeUpPage(NamedTuple):
    """A made-up page: its kind, its text, and what a link to it might say."""

    kind: str
    text: str
    anchor: str


@cache
def stock_pages(pages: int = PAGES) -> tuple[MadeUpPage, ...]:
    """Made-up everyday pages: always the same ones, the kinds in turn."""
    rng = random.Random(5)
    names = [name for name in kinds() if name != COMMON]
    made = []
    for name in (names[i % len(names)] for i in range(pages)):
        own = rng.sample(kinds()[name], len(kinds()[name]))
        drawn = _draw(rng, kinds()[COMMON], LENGTH // 2) + _draw(rng, own, LENGTH // 2)
        rng.shuffle(drawn)
        made.append(MadeUpPage(name, " ".join(drawn), " ".join(own[:3])))
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


# --- training set ----------------------------------------------------------------------------------------------------
# Examples made ready to learn from: in an order of their own, with stock pages added, not more than can be handled.


MOST = 3000  # examples of all topics together: their scalar products take 72 MB


class TrainingSet(NamedTuple):
    """Examples with their topics and weights; `stock` are the pages that we made up."""

    examples: list[Example]
    labels: Ints
    weights: Floats
    stock: Bools


def material(examples: Sequence[Example], topics: int, stock: int, most: int = MOST) -> TrainingSet:
    """All that is learnt from; the order in which examples came does not matter."""
    ordered = sorted((e for e in examples if e.topic < topics and e.weight > 0), key=_digest)
    share = min(1.0, most / max(len(ordered), 1))
    if share < 1:  # each topic gives up alike
        ordered = sorted((e for t in range(UNLABELLED, topics) for e in _some(ordered, t, share)), key=_digest)
    made = stock_examples(ordered, stock) if stock and any(e.topic >= 0 for e in ordered) else []
    return TrainingSet(
        ordered + made,
        np.array([e.topic for e in ordered + made], np.int64),
        np.array([e.weight for e in ordered + made], np.float64),
        np.arange(len(ordered) + len(made)) >= len(ordered),
    )


def _some(ordered: list[Example], topic: int, share: float) -> list[Example]:
    own = [e for e in ordered if e.topic == topic]
    return own[: max(int(len(own) * share), 1)]


def _digest(example: Example) -> tuple[int, int, str, float]:
    content = "\0".join((example.text, example.anchors, example.neighbours))
    return xxhash.xxh3_64_intdigest(content.encode("utf-8", "replace")), example.topic, example.url, example.weight


# --- Archetypes: pages that a crawl found and that are so good that the judge learns from them too (B9) --------------
# Learning from one's own findings can lead astray, page by page. Three things hold against it: a page joins only above
# the mean confidence of the person's examples, those that join are chosen anew each time, so that a page leaves again
# when the judge comes to doubt it, and a retraining after which the person's examples look clearly worse is refused.


LOST = 0.5  # an example is lost that has less than this share of its confidence left
MOST_LOST = 0.25  # share of the examples that may be lost
# Share of the mean confidence that examples must keep. Measured on the pocket web with 4 or 8 examples and all judges:
# after 4 to 30 right pages had joined they kept 0.97 or more where the judge knew real pages of OTHERS, else 0.70 or
# more. After 30 wrong ones: profile 0 to 0.8, centroid 0 to 0.85, SVM 0.5 to 0.85, Naive Bayes 0.9 to 1.1. So no good
# retraining is refused, and of bad ones those that do harm at once.
MEAN_KEPT = 0.65


def archetypes(
    confidences: Mapping[int, float], authorities: Mapping[int, float], training: Sequence[float], most: int
) -> list[int]:
    """The pages of a topic that join its training documents, best first.

    `confidences` are those of the topic's pages that do not train it yet, `authorities` the scores of the link
    analysis, `training` the confidences of the current training documents. Candidates are the `most` best by either;
    pages of other topics and authorities of 0 are none. Those above the mean of `training` join, at most
    min(N_auth, N_conf) of them, in turn from both lists: by confidence alone no authority would ever come in. Without
    link analysis, give the confidences twice.
    """
    linked = {page: score for page, score in authorities.items() if page in confidences and score > 0}
    by_authority, by_confidence = _ranks(linked, most), _ranks(confidences, most)
    if not training:
        return []
    line = fmean(training)
    good = [page for page in {*by_authority, *by_confidence} if confidences[page] > line]

    def place(page: int) -> tuple[int, int, float, int]:
        ranks = by_authority.get(page, most), by_confidence.get(page, most)
        return min(ranks), sum(ranks), -confidences[page], page

    return sorted(good, key=place)[: min(len(by_authority), len(by_confidence))]


def drifted(before: Sequence[float], after: Sequence[float]) -> str:
    """Why a retraining is refused: the person's own examples look clearly worse after it; "" where they do not.

    Both are confidences of the same examples in the same order, for their own topic (0 where another was found). A
    judge knows by heart what it learnt from, above all Naive Bayes: examples that were held back tell more.
    """
    pairs = list(zip(before, after, strict=True))
    if not pairs:
        return ""
    was, now = fmean(before), fmean(after)
    lost = sum(new < LOST * old for old, new in pairs)
    if lost > MOST_LOST * len(pairs):
        return f"{lost} of your {len(pairs)} examples would no longer be recognised as well as before"
    if now < MEAN_KEPT * was:
        return f"the mean confidence of your examples would fall from {was:.2f} to {now:.2f}"
    return ""


def _ranks(scores: Mapping[int, float], most: int) -> dict[int, int]:
    """The best pages with their places, from 0."""
    best = sorted(scores, key=lambda page: (-scores[page], page))[: max(most, 0)]
    return {page: place for place, page in enumerate(best)}
