import numpy as np
import pytest

from analecta.judge.tree import Tree

SCIENCE = ["Science / Biology", "Science", "Arts / Music", "Science / Physics"]


def verdict(tree, threshold=0.5, overlap=1, **sure):
    """The verdict on a page of which nodes, given by the last part of their names, are so sure."""
    nodes = np.zeros((1, len(tree)))
    for name, confidence in sure.items():
        nodes[0, next(n for path, n in tree.nodes.items() if path[-1] == name)] = confidence
    return tree.verdicts(nodes, threshold, overlap)[0]


def test_b1_names_make_a_tree_and_parts_of_names_are_nodes_too():
    tree = Tree(SCIENCE)
    assert len(tree) == 5
    assert sorted(tree.topics) == [-1, 0, 1, 2, 3]


def test_b4_a_page_goes_down_to_the_surest_child():
    found = verdict(Tree(SCIENCE), Science=0.8, Biology=0.6, Physics=0.7, Arts=0.75, Music=0.9)
    assert (found.topic, found.confidence) == (3, 0.7)


def test_b4_a_page_stops_where_no_child_says_yes():
    assert verdict(Tree(SCIENCE), Science=0.8, Biology=0.3).topic == 1
    assert verdict(Tree(SCIENCE), Science=0.4, Biology=0.9).topic == -1


def test_b4_a_page_that_stops_at_a_mere_part_of_names_is_others():
    found = verdict(Tree(SCIENCE), Arts=0.9, Music=0.4, Science=0.6)
    assert (found.topic, found.confidence, found.topics) == (-1, 0.4, ())


def test_s9_other_branches_may_have_the_page_too_but_not_its_ancestors():
    found = verdict(Tree(SCIENCE), overlap=3, Science=0.9, Biology=0.8, Physics=0.7, Arts=0.75, Music=0.75)
    assert found.topics == ((0, 0.8), (2, 0.75), (3, 0.7))


def test_b5_rivals_are_siblings_the_parent_s_own_examples_and_others():
    tree, labels = Tree(SCIENCE), np.array([0, 1, 2, 3, -1])
    biology = int(tree.node_of[0])
    assert tree.inside(biology, labels).tolist() == [True, False, False, False, False]
    assert tree.rivals(biology, labels).tolist() == [False, True, False, True, True]
    assert tree.rivals(int(tree.node_of[1]), labels).tolist() == [False, False, True, False, True]


@pytest.mark.parametrize("names", [[], ["a"], ["a", "a"], ["a / b / c"], ["a / b", "a / b"]])
def test_every_topic_has_a_node_of_its_own(names):
    tree = Tree(names)
    assert sorted(t for t in tree.topics if t >= 0) == list(range(len(names)))
    assert [tree.topics[n] for n in tree.node_of] == list(range(len(names)))
