import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.errors import UsageError
from analecta.topics.split import split
from analecta.views.clusters import ClusterPage, PageCluster

TEXT = """# My library.
contact = "me@example.org"  # that is me

[[topics]]
name = "Life"  # all of it
seeds = [
    # birds first
    "http://l.test/owl", # hoots
    "http://l.test/wren",
    "http://l.test/oak",
    "http://l.test/elm",
    "http://l.test/cell",
    "http://l.test/gene",
]

[[topics]]
name = "Stars"
seeds = ["http://s.test/sun"]

[others]
seeds = ["http://l.test/nolife"]
# the end
"""


def part(label, *names):
    """A cluster, its nearest page first."""
    return cluster(label, [f"http://l.test/{name}" for name in names])


def cluster(label, urls):
    members = [ClusterPage(n, url, "", "l.test", 1.0, 1.0) for n, url in enumerate(urls)]
    return PageCluster(label, [], len(urls), 1.0, [], [], [], [], members)


BIRDS = part("Birds", "robin", "owl", "nolife", "jay", "crow")
TREES = part("Trees", "ash", "fir", "oak", "yew")


def topics(text):
    return {topic["name"]: topic["seeds"] for topic in tomllib.loads(text)["topics"]}


def test_b19_the_pages_nearest_to_the_centre_show_a_subtopic():
    made = split(TEXT, "t", "Life", [BIRDS, TREES], 2)
    assert made.names == ("Life / Birds", "Life / Trees")
    found = topics(made.added.text)
    assert found["Life / Birds"] == ["http://l.test/owl", "http://l.test/robin", "http://l.test/jay"]
    assert found["Life / Trees"] == ["http://l.test/oak", "http://l.test/ash", "http://l.test/fir"]


def test_seeds_in_a_cluster_are_shared_out_and_the_topic_keeps_the_others():
    made = split(TEXT, "t", "Life", [part("Inside", "x", "gene", "cell"), TREES])
    inside = "Life / Inside"
    assert made.shared == {
        "http://l.test/cell": inside,
        "http://l.test/gene": inside,
        "http://l.test/oak": "Life / Trees",
    }
    assert topics(made.added.text)["Life"] == [f"http://l.test/{name}" for name in ("owl", "wren", "elm")]


def test_comments_and_all_other_settings_stay():
    made = split(TEXT, "t", "Life", [BIRDS, TREES])
    remarks = ("# My library.", "# that is me", "# all of it", "# birds first", "# the end")
    assert all(remark in made.added.text for remark in remarks)
    old, new = tomllib.loads(TEXT), tomllib.loads(made.added.text)
    assert (new["contact"], new["others"], new["topics"][1]) == (old["contact"], old["others"], old["topics"][1])


def test_a_topic_with_other_tables_behind_it_is_split_in_its_place():
    text = TEXT.replace('[[topics]]\nname = "Stars"', '# when\n[stop]\npages = 5\n\n# far\n[[topics]]\nname = "Stars"')
    made = split(text, "t", "Life", [BIRDS, TREES]).added.text
    assert '# when\n[stop]\npages = 5\n\n# far\n[[topics]]\nname = "Stars"' in made
    assert list(topics(made)) == ["Life", "Stars", "Life / Birds", "Life / Trees"]


def test_splitting_the_same_again_brings_nothing_new():
    made = split(TEXT, "t", "Life", [BIRDS], 2)
    again = split(made.added.text, "t", "Life", [BIRDS], 2)
    assert made.added
    assert (again.added.text, again.names) == (made.added.text, made.names)
    assert not again.added


def test_f37_a_label_from_the_web_makes_one_name_below_the_topic():
    made = split(TEXT, "t", "Life", [part('a / b\n"]\n[fetch]\x00', "robin"), part("\ud800", "jay")])
    assert made.names[0].count(" / ") == 1
    assert set(topics(made.added.text)) == {"Life", "Stars", *made.names}


def test_what_is_no_web_page_shows_nothing():
    bad = cluster("Bad", ["javascript:alert(1)", "file:///etc/passwd", "http://l.test/ok"])
    assert topics(split(TEXT, "t", "Life", [bad]).added.text)["Life / Bad"] == ["http://l.test/ok"]


def test_a_topic_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(UsageError, match="no topic 'Live'; did you mean 'Life'"):
        split(TEXT, "t", "Live", [BIRDS])


def test_topics_in_one_line_can_be_split_too():
    text = 'topics = [{name = "A", seeds = ["http://a.test/"]}]\n'
    assert topics(split(text, "t", "A", [part("B", "b")]).added.text)["A / B"] == ["http://l.test/b"]


@given(st.lists(st.sampled_from("abcdefghij"), unique=True), st.lists(st.sampled_from("abcdefghijklmnop"), unique=True))
def test_every_seed_is_in_one_topic_and_none_is_lost(seeds, near):
    urls = [f"http://l.test/{name}" for name in seeds]
    made = split(f'[[topics]]\nname = "A"\nseeds = {urls}\n', "t", "A", [part("B", *near)], 3)
    found = topics(made.added.text)
    everywhere = [url for listed in found.values() for url in listed]
    assert set(urls) <= set(everywhere)
    assert len(everywhere) == len(set(everywhere))
    assert set(found["A"]) == set(urls) - {f"http://l.test/{name}" for name in near}
