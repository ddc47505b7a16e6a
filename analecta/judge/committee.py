"""Several judges that look at different things, and one decision (B8).

Members are support vector machines over different feature spaces, and vote at each node of the topic tree. Every way
to decide is a way to make one confidence of theirs, such that it reaches 0.5 just when the decision is yes:

- unanimous: the least sure member's (the paper's learning phase);
- majority: that of the member in the middle;
- weighted: the average, each with its precision by the xi-alpha estimate (the paper's harvesting phase);
- best: that of the one member whose estimate is best; the others are not asked, which is fastest.

A member abstains where it has nothing to go by: no link leads to the page, or none said anything to learn from.
The paper's meta classifier abstains where the votes are split and the rule wants them united; here too such a page
goes to OTHERS, with a confidence below the threshold.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import msgspec
import numpy as np

from analecta.arrays import Array, Floats
from analecta.errors import UsageError
from analecta.judge.base import TrainedJudge
from analecta.judge.features import WINDOW
from analecta.judge.svm import Svm, SvmOptions, best_of
from analecta.judge.training_set import PAGES
from analecta.model import Example, Page, Verdict
from analecta.text.tokens import Words


class CommitteeOptions(msgspec.Struct, frozen=True):
    """A member is named by its feature spaces, joined by + if there are several; the rest is for every member."""

    mode: str = "weighted"
    members: Sequence[str] = ("terms", "pairs", "anchors", "neighbours")
    threshold: float = 0.5
    overlap: int = 1
    candidates: int = 5000
    kept: int = 2000
    window: int = WINDOW
    stock: int = PAGES
    cost: float = 1.0
    outside: float = 0.5


_SHARED = ("candidates", "kept", "window", "stock", "cost", "outside")  # options that every member gets


class Committee(TrainedJudge[CommitteeOptions]):
    """Judges pages by the votes of several support vector machines."""

    kind = "committee"
    options_type = CommitteeOptions
    saved_facts = ()

    def __init__(self, options: CommitteeOptions | None = None) -> None:
        super().__init__(options)
        if self.options.mode not in DECISIONS:
            raise UsageError(f"a committee cannot decide by {self.options.mode!r}; it can by: {', '.join(DECISIONS)}")

    @property
    def needs(self) -> frozenset[str]:
        """What its members look at besides a page's own words."""
        asked = self.asked_ if hasattr(self, "members_") else self.options.members
        return frozenset(kind for member in asked for kind in member.split("+")) & {"anchors", "neighbours"}

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Have every member learn from the examples."""
        self.members_ = {member: self._member(member).fit(examples, topics) for member in self.options.members}
        return self.prepare()

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        """What the members decide of each page."""
        votes = np.stack([self.members_[m].confidences(batch, anchors, neighbours) for m in self.asked_])
        return self._tree.verdicts(
            decide(self.options.mode, votes, self._weights), self.options.threshold, self.options.overlap
        )

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """The features that speak for the page's topic, of all members that see any."""
        found = [pair for member in self.asked_ for pair in self.members_[member].explain(page)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def weights(self) -> Floats:
        """Members x nodes: what each vote weighs; cross-validation is asked where xi-alpha promises nothing of one."""
        members = [self.members_[m] for m in self.asked_]
        promised, seen = (np.stack([getattr(m, name)[:, 0] for m in members]) for name in ("estimates_", "observed_"))
        known = np.stack([m.known_ for m in members])
        weight = np.where((promised > 0).all(axis=0, where=known), promised, seen)
        return np.where(known, np.maximum(weight, 1e-3), 0.0)

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        facts, arrays = super().state()
        facts["members"] = {}
        for member, judge in self.members_.items():
            facts["members"][member], own = judge.state()
            arrays |= {f"{member}:{name}": array for name, array in own.items()}
        return facts, arrays

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        parts = {m: facts["members"][m] for m in self.options.members}
        self.members_ = {
            m: Svm(SvmOptions(**part["settings"])).restore(part, _below(f"{m}:", arrays)) for m, part in parts.items()
        }
        return self.prepare()

    def _member(self, member: str) -> Svm:
        return Svm(SvmOptions(member.split("+"), **{name: getattr(self.options, name) for name in _SHARED}))

    def prepare(self) -> Self:
        """Choose the members that are asked, and what their votes weigh."""
        able = [m for m in self.options.members if self.members_[m].known_.any()] or list(self.options.members[:1])
        if self.options.mode == "best":
            able = [able[best_of([self.members_[m].quality() for m in able])]]
        self.asked_ = able
        self._weights = self.weights()
        self._tree = self.members_[able[0]].tree_
        return self


def decide(mode: str, votes: Floats, weights: Floats) -> Floats:
    """One confidence from members x pages x nodes of them; where nobody votes it is 0."""
    return np.nan_to_num(DECISIONS[mode](votes, weights), nan=0.0)


def _unanimous(votes: Floats, _: Floats) -> Floats:
    return np.asarray(np.fmin.reduce(votes, axis=0), np.float64)


def _majority(votes: Floats, _: Floats) -> Floats:
    """The highest confidence that more than half of those who vote reach."""
    ranked = np.sort(votes, axis=0)  # not a number comes last
    voting = (~np.isnan(votes)).sum(axis=0)
    at = np.maximum((voting - 1) // 2, 0)  # ascending: so many are below, more than half at or above
    return np.asarray(np.take_along_axis(ranked, at[None], axis=0)[0], np.float64)


def _weighted(votes: Floats, weights: Floats) -> Floats:
    heard = np.where(np.isnan(votes), 0.0, weights[:, None, :])
    total = heard.sum(axis=0)
    said = (np.nan_to_num(votes, nan=0.0) * heard).sum(axis=0)
    return np.asarray(np.divide(said, total, out=np.full_like(said, np.nan), where=total > 0), np.float64)


DECISIONS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "unanimous": _unanimous,
    "majority": _majority,
    "weighted": _weighted,
    "best": lambda votes, _: votes[0],
}


def _below(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {key[len(prefix) :]: array for key, array in arrays.items() if key.startswith(prefix)}
