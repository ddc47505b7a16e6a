"""Judges: a Page in, a Verdict out. Each is named here; a recipe picks one by its name."""

from analecta.judge.bayes import NaiveBayes
from analecta.judge.centroid import Centroid
from analecta.judge.committee import Committee
from analecta.judge.profile import Profile
from analecta.judge.svm import Svm
from analecta.judge.unjudged import Unjudged

AnyJudge = Profile | Centroid | NaiveBayes | Svm | Committee | Unjudged

JUDGES: dict[str, type[AnyJudge]] = {
    "profile": Profile,
    "centroid": Centroid,
    "bayes": NaiveBayes,
    "svm": Svm,
    "committee": Committee,
    "none": Unjudged,
}
