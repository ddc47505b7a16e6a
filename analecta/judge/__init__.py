"""Judges: a Page in, a Verdict out. Each is named here; a recipe picks one by its name."""

from analecta.judge.centroid import Centroid
from analecta.judge.unjudged import Unjudged

JUDGES: dict[str, type[Centroid] | type[Unjudged]] = {"centroid": Centroid, "none": Unjudged}
