import inspect
from functools import partial

import pytest

from analecta.judge import JUDGES
from analecta.judge.centroid import PAPER, Centroid
from tests.checks.judges import CHECKS

MAKERS = JUDGES | {"paper": partial(Centroid, **PAPER), "overlap": partial(Centroid, overlap=3)}
MAKERS["live"] = partial(Centroid, live_idf=True, every=1000)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MAKERS)
def test_judge(name, check, tmp_path):
    wanted = inspect.signature(check).parameters
    check(MAKERS[name], *([tmp_path] if "folder" in wanted else []))
