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

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from analecta.errors import UsageError
from analecta.judge.features import WINDOW
from analecta.judge.model_files import load_model, save_model
from analecta.judge.svm import Svm, best_of
from analecta.judge.training_set import PAGES
from analecta.model import Example, Page, Verdict
from analecta.text.tokens import Words, words

Floats = npt.NDArray[np.float64]

MEMBERS = ("terms", "pairs", "anchors", "neighbours")
MODES = ("unanimous", "majority", "weighted", "best")


class Committee:
    """Judges pages by the votes of several support vector machines."""

    def __init__(
        self,
        mode: str = "weighted",
        members: Sequence[str] = MEMBERS,
        threshold: float = 0.5,
        overlap: int = 1,
        candidates: int = 5000,
        kept: int = 2000,
        window: int = WINDOW,
        stock: int = PAGES,
        cost: float = 1.0,
        outside: float = 0.5,
    ) -> None:
        """Keep the settings; a member is named by its feature spaces, joined by + if there are several."""
        if mode not in MODES:
            raise UsageError(f"a committee cannot decide by {mode!r}; it can by: {', '.join(MODES)}")
        self.mode = mode
        self.members = list(members)
        self.threshold = threshold
        self.overlap = overlap
        self.candidates = candidates
        self.kept = kept
        self.window = window
        self.stock = stock
        self.cost = cost
        self.outside = outside

    @property
    def needs(self) -> frozenset[str]:
        """What its members look at besides a page's own words."""
        asked = self._asked if hasattr(self, "members_") else self.members
        return frozenset(kind for member in asked for kind in member.split("+")) & {"anchors", "neighbours"}

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """Have every member learn from the examples."""
        self.members_ = {member: self._member(member).fit(examples, topics) for member in self.members}
        return self._prepare()

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """What the members decide of each page."""
        return self.judge_words(words([page.text for page in pages]))

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        """The same for words already cut."""
        votes = np.stack([self.members_[m].confidences(batch, anchors, neighbours) for m in self._asked])
        return self._tree.verdicts(self._decide(votes), self.threshold, self.overlap)

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """The features that speak for the page's topic, of all members that see any."""
        found = [pair for member in self._asked for pair in self.members_[member].explain(page)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def weights(self) -> Floats:
        """Members x nodes: what each vote weighs; cross-validation is asked where xi-alpha promises nothing of one."""
        members = [self.members_[m] for m in self._asked]
        promised, seen = (np.stack([getattr(m, name)[:, 0] for m in members]) for name in ("estimates_", "observed_"))
        known = np.stack([m.known_ for m in members])
        weight = np.where((promised > 0).all(axis=0, where=known), promised, seen)
        return np.where(known, np.maximum(weight, 1e-3), 0.0)

    def save(self, folder: Path) -> str:
        """Write what was learnt; gives the name to load it by."""
        settings = {k: v for k, v in vars(self).items() if not k.startswith("_") and not k.endswith("_")}
        facts = {m: judge.facts() for m, judge in self.members_.items()}
        arrays = {f"{m}:{k}": a for m, judge in self.members_.items() for k, a in judge.arrays().items()}
        return save_model(folder, {"judge": "committee", "settings": settings, "members": facts}, arrays)

    @classmethod
    def load(cls, folder: Path, name: str) -> Self:
        """The judge that was saved under this name."""
        facts, arrays = load_model(folder, name, "committee")
        try:
            judge = cls(**facts["settings"])
            judge.members_ = {m: Svm.restore(facts["members"][m], _below(f"{m}:", arrays)) for m in judge.members}
            return judge._prepare()
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"model {name} is not whole: learn it anew") from error

    def _member(self, member: str) -> Svm:
        return Svm(
            spaces=member.split("+"),
            candidates=self.candidates,
            kept=self.kept,
            window=self.window,
            stock=self.stock,
            cost=self.cost,
            outside=self.outside,
        )

    def _prepare(self) -> Self:
        able = [m for m in self.members if self.members_[m].known_.any()] or self.members[:1]
        if self.mode == "best":
            able = [able[best_of([self.members_[m].quality() for m in able])]]
        self._asked = able
        self._weights = self.weights()
        self._tree = self.members_[able[0]].tree_
        return self

    def _decide(self, votes: Floats) -> Floats:
        """One confidence from members x pages x nodes of them; where nobody votes it is 0."""
        return np.nan_to_num(_DECISIONS[self.mode](votes, self._weights), nan=0.0)


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


_DECISIONS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "unanimous": _unanimous,
    "majority": _majority,
    "weighted": _weighted,
    "best": lambda votes, _: votes[0],
}


def _below(prefix: str, arrays: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    return {key[len(prefix) :]: array for key, array in arrays.items() if key.startswith(prefix)}
