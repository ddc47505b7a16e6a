import inspect
from functools import partial

import pytest

from analecta.judge import JUDGES
from analecta.judge.centroid import Centroid, CentroidOptions
from analecta.judge.committee import Committee, CommitteeOptions
from analecta.judge.svm import Svm, SvmOptions
from tests.checks.judges import CHECKS, LEARNING, LENGTHY, PAPER

LEARNERS = {name: judge for name, judge in JUDGES.items() if name != "none"}
LEARNERS |= {f"committee {mode}": partial(Committee, CommitteeOptions(mode)) for mode in ("unanimous", "best")}
LEARNERS |= {
    "pairs": partial(Svm, SvmOptions(["terms", "pairs"])),
    "chosen": partial(Svm, SvmOptions(kept=(50, 500))),
}
ALL = LEARNERS | {
    "none": JUDGES["none"],
    "paper": partial(Centroid, CentroidOptions(**PAPER)),
    "centroid overlap": partial(Centroid, CentroidOptions(overlap=3)),
    "svm overlap": partial(Svm, SvmOptions(overlap=3)),
    "live": partial(Centroid, CentroidOptions(live_idf=True, every=1000)),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ALL)
def test_judge(name, check, tmp_path):
    wanted = inspect.signature(check).parameters
    check(ALL[name], *([tmp_path] if "folder" in wanted else []))


@pytest.mark.parametrize("check", LENGTHY, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", JUDGES)
def test_judge_at_length(name, check):
    check(JUDGES[name])


@pytest.mark.parametrize("check", LEARNING, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", LEARNERS)
def test_learner(name, check):
    check(LEARNERS[name])
