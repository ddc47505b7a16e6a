"""Archetypes: pages that a crawl found and that are so good that the judge learns from them too (B9).

Learning from one's own findings can lead astray, page by page. Three things hold against it: a page joins only above
the mean confidence of the person's examples, those that join are chosen anew each time, so that a page leaves again
when the judge comes to doubt it, and a retraining after which the person's examples look clearly worse is refused.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean

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
