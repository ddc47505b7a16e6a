"""Page to Verdict, link to priority: the registry of judges, and a judge from settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import msgspec

from analecta.judge.base import TrainedJudge
from analecta.judge.bayes import BayesOptions, NaiveBayes
from analecta.judge.centroid import Centroid, CentroidOptions
from analecta.judge.committee import Committee, CommitteeOptions
from analecta.judge.profile import Profile, ProfileOptions
from analecta.judge.svm import Svm, SvmOptions
from analecta.model import Example, Page, Verdict
from analecta.protocols import Judge
from analecta.settings.schema import Settings
from analecta.text.tokens import Words


class Unjudged(TrainedJudge[msgspec.Struct]):
    """No judge at all: every page is OTHERS. For crawls without topics, breadth first."""

    kind = "none"
    options_type = msgspec.Struct
    saved_facts = ()

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """There is nothing to learn."""
        return self

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        """OTHERS, each of them."""
        return [Verdict()] * len(batch)

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """No words made the verdict."""
        return []


# Each judge by its name, by which a recipe picks one.
AnyJudge = Profile | Centroid | NaiveBayes | Svm | Committee | Unjudged
JUDGES: dict[str, type[AnyJudge]] = {
    judge.kind: judge for judge in (Profile, Centroid, NaiveBayes, Svm, Committee, Unjudged)
}


def new_judge(settings: Settings) -> Judge:
    """An untrained judge as the settings describe it."""
    s, learn = settings.judge, settings.learn
    match s.kind:
        case "profile":
            return Profile(
                ProfileOptions(
                    away=s.away,
                    overlap=s.overlap,
                    threshold=s.threshold,
                    share=learn.archetype_share,
                    trust=learn.archetype_weight,
                    joining=learn.archetypes,
                )
            )
        case "bayes":
            return NaiveBayes(BayesOptions(s.threshold, s.overlap, s.negatives))
        case "svm":
            return Svm(SvmOptions(s.spaces, s.threshold, s.overlap, s.candidates, s.features, s.window))
        case "committee":
            member = s.threshold, s.overlap, s.candidates, s.features, s.window
            return Committee(CommitteeOptions(s.mode, s.spaces, *member))
        case "centroid":
            return Centroid(
                CentroidOptions(
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
            )
    return Unjudged()


def load_judge(settings: Settings, models: Path, model: str) -> Judge:
    """A trained judge by the hash of its model."""
    return JUDGES[settings.judge.kind].load(models, model)
