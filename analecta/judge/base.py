"""What all judges have in common: options, pages cut into words, ranked topics as verdicts, a model on disk."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import msgspec
import numpy as np

from analecta.arrays import Array, Floats
from analecta.errors import UsageError
from analecta.judge.model_files import load_model, save_model
from analecta.model import Example, Page, Verdict
from analecta.text.tokens import Words, words

OptionsT = TypeVar("OptionsT", bound=msgspec.Struct)


class TrainedJudge(ABC, Generic[OptionsT]):
    """Learns topics from examples, then judges pages: a batch in, a batch out.

    What it has learned are attributes whose names end in an underscore. `saved_facts` and `saved_arrays` name those
    that are written to a model, with or without the underscore.
    """

    kind: ClassVar[str]
    options_type: type[OptionsT]
    saved_facts: ClassVar[Sequence[str]] = ("topics",)
    saved_arrays: ClassVar[Sequence[str]] = ()

    def __init__(self, options: OptionsT | None = None) -> None:
        self.options: OptionsT = options or self.options_type()

    @property
    def needs(self) -> frozenset[str]:
        """What it looks at besides a page's own words: "anchors" of links to it, words of its "neighbours"; and
        whether it learns from pages "met" of which nobody said what they are."""
        return frozenset()

    @abstractmethod
    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Learn from examples, those of topic -1 being of none (OTHERS); topic i is named topics[i]."""

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """A verdict for each page, in order."""
        return self.judge_words(words([page.text for page in pages]))

    @abstractmethod
    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        """The same, for pages whose words are already cut."""

    @abstractmethod
    def explain(self, page: Page) -> list[tuple[str, float]]:
        """The words that made the verdict, heaviest first."""

    def save(self, folder: Path) -> str:
        """Write the model below `folder`, named by the hash of its content, which is returned."""
        facts, arrays = self.state()
        return save_model(folder, {"judge": self.kind} | facts, arrays)

    @classmethod
    def load(cls, folder: Path, name: str) -> Self:
        """The judge that was saved under this name."""
        facts, arrays = load_model(folder, name, cls.kind)
        try:
            return cls(cls.options_type(**facts.get("settings", {}))).restore(facts, arrays)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise UsageError(f"model {name} is not whole: learn it anew") from error

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What is saved: facts as text, arrays as numbers."""
        settings = msgspec.structs.asdict(self.options)
        facts = {name: getattr(self, _attribute(name)) for name in self.saved_facts}
        arrays = {name: getattr(self, _attribute(name)) for name in self.saved_arrays}
        return ({"settings": settings} if settings else {}) | facts, arrays

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Take over what was saved."""
        for names, found in ((self.saved_facts, facts), (self.saved_arrays, arrays)):
            for name in names:
                setattr(self, _attribute(name), found[name])
        return self.prepare()

    def prepare(self) -> Self:
        """Work out from what was learned what judging needs."""
        return self


Judge = TrainedJudge[Any]  # whatever its options


def _attribute(name: str) -> str:
    return name.rstrip("_") + "_"


def best_verdicts(scores: Floats, confidences: Floats, threshold: float, overlap: int) -> list[Verdict]:
    """A verdict for each row: at most `overlap` topics with the highest scores of which the judge is sure enough."""
    if not scores.shape[1]:
        return [Verdict()] * len(scores)
    if scores.shape[1] == 1:
        return [_verdict([0], [one], threshold) for one in confidences[:, 0].tolist()]
    order = np.argsort(-scores, axis=1, kind="stable")[:, : max(overlap, 1)]
    ranked = np.take_along_axis(confidences, order, axis=1)
    return [_verdict(*row, threshold) for row in zip(order.tolist(), ranked.tolist(), strict=True)]


def _verdict(topics: list[int], ranked: list[float], threshold: float) -> Verdict:
    if ranked[0] < threshold:
        return Verdict(-1, ranked[0])
    return Verdict(topics[0], ranked[0], tuple((t, c) for t, c in zip(topics, ranked, strict=True) if c >= threshold))


def strongest(names: Iterable[str], weights: Iterable[float]) -> list[tuple[str, float]]:
    """The names that speak for a topic, and how much each does, the heaviest first."""
    found = [(name, weight) for name, weight in zip(names, weights, strict=True) if weight > 0]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))
