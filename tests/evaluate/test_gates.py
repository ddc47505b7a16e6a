"""The short form of the gates, so that they cannot rot; `make gate` runs the full one."""

import shutil
import tomllib

import pytest

from gates.check import FILES, Missing, failures, measure, pin, sources


def gates(kind):
    return tomllib.loads(FILES[kind].read_text())


@pytest.mark.parametrize("kind", FILES)
def test_the_pocket_web_s_floors_are_held(kind):
    gate = gates(kind)["pocket"]
    found, digest = measure(kind, gate, jobs=1)
    assert failures(gate, found, digest) == []


def test_what_falls_below_its_floor_or_is_not_measured_fails():
    gate = {"sha256": "", "floors": {"adaptive": 0.5, "gone": 0.1}}
    assert len(failures(gate, {"adaptive": 0.4}, "")) == 2
    assert failures(gate, {"adaptive": 0.5, "gone": 0.1}, "") == []


def test_other_data_than_pinned_fail():
    (told,) = failures({"sha256": "a", "floors": {"adaptive": 0.0}}, {"adaptive": 1.0}, "b")
    assert "pin anew" in told


def test_missing_data_are_told(tmp_path):
    with pytest.raises(Missing):
        sources(gates("recall")["wikischools"], tmp_path)


def test_pinning_writes_floors_and_keeps_the_rest(tmp_path):
    path = shutil.copy(FILES["recall"], tmp_path)
    pin(tmp_path / "recall.toml", "pocket", {"adaptive": 0.9}, "digest")
    before, after = gates("recall"), tomllib.loads((tmp_path / "recall.toml").read_text())
    assert after["pocket"]["floors"]["adaptive"] == round(0.9 - before["pocket"]["margin"], 3)
    assert (path, after["wikischools"]) == (str(tmp_path / "recall.toml"), before["wikischools"])
