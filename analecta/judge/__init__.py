"""Page to Verdict, link to priority: the registry of judges, and a judge from settings."""

from collections.abc import Sequence
from typing import Self

import msgspec

from analecta.judge.base import Judge, TrainedJudge
from analecta.judge.bayes import BayesOptions, NaiveBayes
from analecta.judge.centroid import Centroid, CentroidOptions
from analecta.judge.committee import Committee, CommitteeOptions
from analecta.judge.profile import Profile, ProfileOptions
from analecta.judge.svm import Svm, SvmOptions
from analecta.model import Example, Page, Verdict
from analecta.settings.schema import Settings
from analecta.text.tokens import Words


class Unjudged(TrainedJudge[msgspec.Struct]):
    """No judge at all: every page is OTHERS. For crawls without topics, breadth first."""

    kind = "none"
    options_type = msgspec.Struct
    saved_facts = ()

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        return self

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        return [Verdict()] * len(batch)

    def explain(self, page: Page) -> list[tuple[str, float]]:
        return []


# Each judge by its name, by which a recipe picks one.
JUDGES: dict[str, type[Judge]] = {
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
            return Centroid(msgspec.convert(s, CentroidOptions, from_attributes=True))  # its options have their names
    return Unjudged()
