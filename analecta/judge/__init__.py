"""Page to Verdict, link to priority: the registry of judges, and a judge from settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from analecta.judge.bayes import NaiveBayes
from analecta.judge.centroid import Centroid
from analecta.judge.committee import Committee
from analecta.judge.model_files import load_model, save_model
from analecta.judge.profile import Profile
from analecta.judge.svm import Svm
from analecta.model import Example, Page, Verdict
from analecta.protocols import Judge
from analecta.settings.schema import Settings
from analecta.text.tokens import Words

# --- No judge at all: every page is OTHERS. For crawls without topics, breadth first ---------------------------------


class Unjudged:
    """Leaves pages as they are."""

    needs: frozenset[str] = frozenset()

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """There is nothing to learn."""
        return self

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """OTHERS, each of them."""
        return [Verdict()] * len(pages)

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        """The same for words already cut."""
        return [Verdict()] * len(batch)

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """No words made the verdict."""
        return []

    def save(self, folder: Path) -> str:
        """Write that there is no judge; gives the name to load it by."""
        return save_model(folder, {"judge": "none"}, {})

    @classmethod
    def load(cls, folder: Path, name: str) -> Self:
        """As it was saved."""
        load_model(folder, name, "none")
        return cls()


# --- Judges: a Page in, a Verdict out. Each is named here; a recipe picks one by its name ----------------------------


AnyJudge = Profile | Centroid | NaiveBayes | Svm | Committee | Unjudged

JUDGES: dict[str, type[AnyJudge]] = {
    "profile": Profile,
    "centroid": Centroid,
    "bayes": NaiveBayes,
    "svm": Svm,
    "committee": Committee,
    "none": Unjudged,
}


# --- The judge that the settings describe, new or trained: all of a recipe that the coordinator needs ----------------


def new_judge(settings: Settings) -> Judge:
    """An untrained judge as the settings describe it."""
    s = settings.judge
    if s.kind == "profile":
        learn = settings.learn
        return Profile(
            away=s.away,
            overlap=s.overlap,
            threshold=s.threshold,
            share=learn.archetype_share,
            trust=learn.archetype_weight,
            joining=learn.archetypes,
        )
    if s.kind == "bayes":
        return NaiveBayes(threshold=s.threshold, overlap=s.overlap, negatives=s.negatives)
    if s.kind == "svm":
        return Svm(s.spaces, s.threshold, s.overlap, s.candidates, s.features, s.window)
    if s.kind == "committee":
        return Committee(
            s.mode, s.spaces, s.threshold, s.overlap, candidates=s.candidates, kept=s.features, window=s.window
        )
    if s.kind == "centroid":
        return Centroid(
            terms=s.terms,
            min_shared=s.min_shared,
            correlation=s.correlation,
            threshold=s.threshold,
            overlap=s.overlap,
            live_idf=s.live_idf,
            min_examples=s.min_examples,
            smooth=s.smooth,
            damp=s.damp,
            outside=s.outside,
        )
    return Unjudged()


def load_judge(settings: Settings, models: Path, model: str) -> Judge:
    """A trained judge by the hash of its model."""
    return JUDGES[settings.judge.kind].load(models, model)
