import pytest

from analecta.errors import BadUse
from analecta.publish.topic_names import topic_numbers
from analecta.store.library import Library


@pytest.fixture
def library(tmp_path):
    made = Library.create(tmp_path / "lib", "")
    made.topic_names(("Art", "Art / Dance", "Artists", "Science / Birds"))
    return made


def test_b1_a_topic_comes_with_those_below_it(library):
    assert topic_numbers(library, ["Art"]) == [0, 1]
    assert topic_numbers(library, ["Artists", "Art / Dance"]) == [1, 2]
    assert topic_numbers(library, None) == [0, 1, 2, 3]


def test_b1_a_part_of_names_that_is_no_topic_stands_for_those_below_it(library):
    assert topic_numbers(library, ["Science"]) == [3]


def test_b1_a_topic_may_be_asked_for_alone(library):
    assert topic_numbers(library, ["Art"], below=False) == [0]
    with pytest.raises(BadUse, match="no topic 'Science'"):
        topic_numbers(library, ["Science"], below=False)


def test_a_topic_that_is_not_there_is_told_with_the_nearest(library):
    with pytest.raises(BadUse, match="no topic 'art'; did you mean 'Art'"):
        topic_numbers(library, ["art"])


def test_a_library_without_topics_says_so(tmp_path):
    with pytest.raises(BadUse, match="no topic 'x' yet: crawl it first"):
        topic_numbers(Library.create(tmp_path / "lib", ""), ["x"])
