import re

from analecta.settings.edit import EXAMPLES, first_settings
from analecta.settings.load import load, parse
from analecta.settings.schema import Topic

TOPICS = [Topic('R"oses #1', ("https://a.test/", "https://b.test/?x='y'")), Topic("Ærø", ("http://c.test/",))]


def test_what_is_written_is_read_back(tmp_path):
    (tmp_path / "s.toml").write_text(first_settings(TOPICS, "synthesis", "me@b.test"), encoding="utf-8")
    settings = load(tmp_path / "s.toml")
    assert settings.topics == tuple(TOPICS)
    assert (settings.recipe, settings.contact, settings.policy.cutoff) == ("synthesis", "me@b.test", 0)


def test_the_commented_examples_are_valid_settings():
    text = first_settings(TOPICS, "adaptive")
    active = re.sub(r"(?m)^# (?=\[|\w+ = )", "", text)
    assert parse(active, "s")["scope"]["hosts"] == ["example.org"]
    assert set(parse(EXAMPLES, "s")) == {"scope", "judge", "fetch", "stop"}
