import sqlite3
from contextlib import closing

import msgspec
import pytest

from analecta.errors import UsageError
from analecta.settings.edit import first_settings
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder
from analecta.views.collections import collections
from analecta.views.status import status
from tests.publish.shelf import TOPICS, Shelf


def topic_numbers(library, topics, **more):
    with library.snapshot() as snapshot:
        return snapshot.topic_numbers(topics, **more)


def shown_topics(library):
    with library.snapshot() as snapshot:
        return snapshot.listed_topics()


@pytest.fixture
def library(tmp_path):
    made = LibraryFolder.create(tmp_path / "lib", "")
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
    with pytest.raises(UsageError, match="no topic 'Science'"):
        topic_numbers(library, ["Science"], below=False)


def test_capitals_do_not_matter_unless_two_topics_differ_by_them(library):
    assert topic_numbers(library, ["art"]) == topic_numbers(library, ["ART"]) == [0, 1]
    library.topic_names(("ART",))
    assert topic_numbers(library, ["ART"], below=False) == [4]


def test_a_topic_that_is_not_there_is_told_with_the_nearest(library):
    with pytest.raises(UsageError, match="no topic 'Arts'; did you mean 'Art'"):
        topic_numbers(library, ["Arts"])


def test_a_library_without_topics_says_so(tmp_path):
    with pytest.raises(UsageError, match="no topic 'x' yet: crawl it first"):
        topic_numbers(LibraryFolder.create(tmp_path / "lib", ""), ["x"])


@pytest.fixture
def renamed(tmp_path):
    """A library whose topic was called so for a while, and then otherwise again."""
    with Shelf(tmp_path / "lib") as shelf:
        shelf.page("http://a.test/", topic=0, topics=msgspec.msgpack.encode([(0, 0.9), (1, 0.6)]))
    shelf.library.settings_path.write_text(first_settings([Topic("bees", ("http://b.test/",))], "adaptive"))
    return shelf.library


def test_topics_that_the_settings_no_longer_name_are_shown_while_they_have_pages(renamed):
    renamed.topic_names(("wasps",))
    assert [renamed.topic_names()[n] for n in shown_topics(renamed)] == list(TOPICS)
    with closing(sqlite3.connect(renamed.shard_path(0))) as db, db:
        db.execute("UPDATE pages SET topic = 2, topics = NULL")
    assert shown_topics(renamed) == topic_numbers(renamed, None) == [2]
    assert list(status(renamed).topics) == [one.topic for one in collections(renamed)] == ["bees"]


def test_a_topic_that_is_no_longer_shown_is_not_suggested(renamed):
    renamed.topic_names(("wasps",))
    with pytest.raises(UsageError, match=r"no topic 'wasp'; valid are: bees, birds, birds / owls$"):
        topic_numbers(renamed, ["wasp"])


def test_where_the_settings_cannot_be_read_all_topics_are_shown(renamed):
    renamed.topic_names(("wasps",))
    renamed.settings_path.write_text("recipe = 7")
    assert shown_topics(renamed) == [0, 1, 2, 3]
