import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.errors import ResourceError, SettingsError, UsageError
from analecta.settings.edit import add, first_settings, rewrite
from analecta.settings.schema import NegativeSettings, Topic
from tests.effort import little_work

EDITED = """# mine
recipe = "bingo"   # the tree

[[topics]]  # the first
name = "a"
seeds = [
    "https://a.test/",  # best
    "https://b.test/"   # last
]

[[topics]]
name = "b"
seeds = ["https://c.test/"]

# about the scope
[scope]
hosts = ["x.test"]
"""


def topics(text):
    return {topic["name"]: topic.get("seeds", []) for topic in tomllib.loads(text)["topics"]}


def test_comments_and_order_stay_and_new_topics_come_last():
    added = add(EDITED, [Topic("c", ("https://d.test/",)), Topic("a", ("http://b.test/", "https://e.test/"))], "s")
    assert list(topics(added.text)) == ["a", "b", "c"]
    assert topics(added.text)["a"] == ["https://a.test/", "https://b.test/", "https://e.test/"]
    lines = iter(added.text.splitlines())
    kept = [line.replace('test/"   #', 'test/",   #') for line in EDITED.splitlines() if line]
    assert all(any(line == other for other in lines) for line in kept), added.text


def test_what_is_new_and_what_was_there_is_told_apart():
    added = add(EDITED, [Topic("c", ("https://d.test/",)), Topic("a", ("http://b.test/", "https://e.test/"))], "s")
    assert added.topics == (Topic("c", ("https://d.test/",)),)
    assert added.more == (Topic("a", ("https://e.test/",)),)
    assert added.known == 1


SCATTERED = """# mine
[[topics]]
name = "a"
seeds = ["https://a.test/"]

# when to stop
[stop]
pages = 5

# about b
[[topics]]
name = "b"  # that is b
seeds = [
    # [stop] is no table here
    "https://b.test/",
]

# what is not meant
[others]
seeds = [
    "https://o.test/",
]

# about c
[[topics]]
name = "c"
examples = ['''
[fetch]''']

# how to fetch
[fetch]
delay = 1.0
"""


def test_topics_with_other_tables_between_them_stay_where_they_are():
    new = [Topic("d", ("https://d.test/",)), Topic("b", ("https://e.test/",))]
    text = add(SCATTERED, new, "s", NegativeSettings(("https://p.test/",))).text
    lines = iter(text.splitlines())
    assert all(any(line == other for other in lines) for line in SCATTERED.splitlines()), text
    wanted = tomllib.loads(SCATTERED)
    wanted["topics"][1]["seeds"].append("https://e.test/")
    wanted["others"]["seeds"].append("https://p.test/")
    wanted["topics"].append({"name": "d", "seeds": ["https://d.test/"]})
    assert tomllib.loads(text) == wanted


FILES = Topic("a", ("https://a.test/",), ("https://s.test/", "http://b.test/"), ("topics/x/1.txt",))


def test_starts_and_files_are_added_to_topics_and_a_seed_is_no_start():
    added = add(EDITED, [FILES, Topic("c", (), (), ("topics/x/2.txt",))], "s")
    tables = {topic.pop("name"): topic for topic in tomllib.loads(added.text)["topics"]}
    assert (tables["a"]["starts"], tables["a"]["examples"]) == (["https://s.test/"], ["topics/x/1.txt"])
    assert tables["c"] == {"examples": ["topics/x/2.txt"]}
    again = add(added.text, [FILES], "s")
    assert (bool(again), again.text, again.known) == (False, added.text, 2)


@pytest.mark.parametrize(
    "text", [EDITED, "", EDITED + "[others]\nseeds = ['https://o.test/'] # wine\n", "others = {}\n"]
)
def test_what_is_not_meant_is_added_too(text):
    more = NegativeSettings(("http://o.test/", "https://p.test/"), ("topics/x/o.txt",))
    added = add(text, [], "s", more)
    got = tomllib.loads(added.text)["others"]
    assert (len(got["seeds"]), got["examples"]) == (2, ["topics/x/o.txt"])
    assert not add(added.text, [], "s", more)
    assert ("# wine" in added.text) == ("# wine" in text)


def test_what_is_there_already_changes_nothing():
    added = add(EDITED, [Topic("a", ("https://a.test/#x",)), Topic("b", ())], "s")
    assert added.text == EDITED
    assert not added.topics
    assert not added.more


@pytest.mark.parametrize(
    "text",
    [
        "",
        "recipe = 'bingo'\n",
        "topics = []\n[scope]\ndepth = 3\n",
        'topics = [{name = "a", seeds = ["https://a.test/"]}, {name = "b"}]\nrecipe = "bingo"\n',
        '[[topics]]\nname = "b"\n',
        '[[topics]]\nname = "a"\nseeds = []\n[scope]\ndepth = 1\n[[topics]]\nname = "b"\n# end\n',
        "topics.0 = 1",
        EDITED.replace("\n", "\r\n"),
        first_settings([Topic("a", ("https://a.test/",))], "adaptive"),
    ],
)
def test_settings_in_any_form_are_added_to(text):
    new = [Topic("b", ("https://n.test/",)), Topic('new "one"', ("https://n.test/",))]
    if "topics.0" in text:
        with pytest.raises(SettingsError):
            add(text, new, "s")
        return
    for _ in range(2):
        text = add(text, new, "s").text
    assert topics(text)["b"][-1] == "https://n.test/"
    assert list(topics(text))[-1] == 'new "one"'


def test_the_examples_of_settings_stay_at_the_end():
    text = add(
        first_settings([Topic("a", ("https://a.test/",))], "adaptive"), [Topic("b", ("https://b.test/",))], "s"
    ).text
    assert text.index('name = "b"') < text.index("# What people change most")
    assert text.count("# What people change most") == 1


names = st.text(max_size=6)
urls = st.integers(0, 20).map(lambda n: f"https://a.test/{n}")
some = st.lists(st.tuples(names, st.lists(urls, min_size=1, unique=True)), max_size=5, unique_by=lambda pair: pair[0])


@given(some, some)
def test_nothing_is_lost_and_all_is_added(there, new):
    text = first_settings([Topic(name, tuple(seeds)) for name, seeds in there], "adaptive")
    found = topics(add(text, [Topic(name, tuple(seeds)) for name, seeds in new], "s").text) if there or new else {}
    for name, seeds in there:
        assert found[name][: len(seeds)] == seeds
    assert all(set(seeds) <= set(found[name]) for name, seeds in new)


def test_five_thousand_seeds_are_written_and_added_quickly():
    seeds = tuple(f"https://a.test/{n}" for n in range(5000))
    with little_work():
        text = first_settings([Topic("a", seeds)], "adaptive")
        added = add(text, [Topic("a", tuple(f"{url}/x" for url in seeds))], "s")
    assert len(added.more[0].seeds) == 5000


def test_the_former_settings_are_kept(tmp_path):
    path = tmp_path / "analecta.toml"
    path.write_text("old")
    assert rewrite(path, "new").read_text() == "old"
    assert path.read_text() == "new"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["analecta.toml", "analecta.toml.before"]


def test_settings_behind_a_link_are_changed_there_and_stay_private(tmp_path):
    path, real = tmp_path / "analecta.toml", tmp_path / "elsewhere" / "mine.toml"
    real.parent.mkdir()
    real.write_text("old")
    real.chmod(0o600)
    path.symlink_to(real)
    before = rewrite(path, "new")
    assert (path.is_symlink(), real.read_text(), before.read_text()) == (True, "new", "old")
    assert {file.stat().st_mode & 0o777 for file in (real, before)} == {0o600}


def test_settings_that_cannot_be_changed_stay_as_they_are(tmp_path):
    path = tmp_path / "analecta.toml"
    path.write_text("old")
    (tmp_path / "analecta.toml.before").mkdir()
    with pytest.raises(ResourceError, match="cannot change"):
        rewrite(path, "new")
    assert path.read_text() == "old"


def test_settings_that_make_no_sense_are_named():
    with pytest.raises(UsageError, match="unknown key"):
        add("delai = 1", [Topic("a", ("https://a.test/",))], "s")
