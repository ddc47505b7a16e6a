import numpy as np
import pytest

from analecta.errors import UsageError
from analecta.evaluate.graph import Node, PageGraph
from analecta.evaluate.questions import choose_topics, covers, draw, pages_of, read_labels
from tests.making import target


@pytest.fixture
def graph():
    none = np.array([], np.int64).tobytes()
    urls = [f"http://h{i % 4}.test/{i}" for i in range(20)]
    return PageGraph([Node(target(url).id, url, True, none) for url in urls])


def labels(graph, tmp_path, text):
    (tmp_path / "labels.tsv").write_text(text)
    return read_labels(tmp_path / "labels.tsv", graph)


def test_a_topic_covers_what_lies_below_it_at_a_dot():
    assert covers("Science.Biology", "Science.Biology.Birds")
    assert covers("Science", "Science")
    assert not covers("Science.Bio", "Science.Biology")


def test_labels_are_of_urls_and_hosts(graph, tmp_path):
    found = labels(graph, tmp_path, "# ours\nhttps://h1.test/1\tA.B|C\nh0.test\tmusic\n")
    assert pages_of("A", found) == [1]
    assert pages_of("music", found) == [0, 4, 8, 12, 16]


@pytest.mark.parametrize("text", ["no tab here\n", "http://h1.test/1\t\n", "http://else.test/\tA\n", ""])
def test_labels_that_make_no_sense_are_bad_use(graph, tmp_path, text):
    with pytest.raises(UsageError):
        labels(graph, tmp_path, text)


def test_the_default_topics_are_of_the_second_level(graph, tmp_path):
    lines = [f"http://h{i % 4}.test/{i}\tA.{'B' if i < 12 else 'C'}.D" for i in range(20)]
    found = labels(graph, tmp_path, "\n".join(lines))
    assert choose_topics([], found, 10) == ["A.B"]
    assert choose_topics([], found, 8) == ["A.B", "A.C"]
    assert choose_topics(["A.C.D", "A"], found, 8) == ["A.C.D", "A"]


def test_without_levels_all_labels_are_topics(graph, tmp_path):
    assert choose_topics([], labels(graph, tmp_path, "h0.test\tx\nh1.test\ty\n"), 5) == ["x", "y"]


@pytest.mark.parametrize(("wanted", "least"), [(["Z"], 1), (["x"], 6), ([], 6)])
def test_topics_that_are_missing_or_too_small_are_bad_use(graph, tmp_path, wanted, least):
    with pytest.raises(UsageError):
        choose_topics(wanted, labels(graph, tmp_path, "h0.test\tx\n"), least)


def test_a_draw_is_the_same_each_time_and_whatever_the_order(graph):
    pages = list(range(20))
    assert draw("a", 0, pages, graph, 5) == draw("a", 0, pages[::-1], graph, 5)
    assert draw("a", 0, pages, graph, 5) != draw("a", 1, pages, graph, 5)


def test_seeds_can_come_from_one_host(graph):
    hosts = {graph.hosts[n] for n in draw("a", 0, range(20), graph, 4, hosts=1)}
    assert len(hosts) == 1
