"""The judge that the settings describe, new or trained: all of a recipe that the coordinator needs."""

from pathlib import Path

from analecta.judge import JUDGES
from analecta.judge.bayes import NaiveBayes
from analecta.judge.centroid import Centroid
from analecta.judge.committee import Committee
from analecta.judge.profile import Profile
from analecta.judge.svm import Svm
from analecta.judge.unjudged import Unjudged
from analecta.protocols import Judge
from analecta.settings.schema import Settings


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
