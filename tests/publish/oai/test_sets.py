from hypothesis import given
from hypothesis import strategies as st

from analecta.publish.oai.answers import SPEC, sets_of
from analecta.store.oai_records import with_above

names = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3).map(" / ".join)


def test_topics_are_sets_within_sets():
    sets = sets_of(["Science / Biology", "Roses"])
    assert sets.of_topic == ("science:biology", "roses")
    assert sets.names == {"science": "Science", "science:biology": "Science / Biology", "roses": "Roses"}


def test_names_that_read_alike_or_have_no_latin_letters_get_numbers():
    assert sets_of(["Bees", "bees!", "Bees?", "蜜蜂"]).of_topic == ("bees", "bees!", "bees-2", "topic-3")


@given(st.lists(names, unique=True, max_size=12))
def test_every_topic_has_a_set_of_its_own_and_specs_are_legal(topics):
    sets = sets_of(topics)
    assert len(set(sets.of_topic)) == len(topics)
    assert all(SPEC.fullmatch(spec) for spec in sets.names)


@given(st.lists(names, unique=True, min_size=1, max_size=12))
def test_new_topics_change_no_spec(topics):
    before, after = sets_of(topics[:-1]), sets_of(topics)
    assert after.of_topic[:-1] == before.of_topic
    assert before.names.items() <= after.names.items()


def test_a_set_lies_in_all_above_it():
    assert with_above(["a:b:c", "d"]) == {"a", "a:b", "a:b:c", "d"}


def test_a_number_that_another_name_has_taken_is_passed_over():
    assert sets_of(["Bees-2", "Bees", "bees"]).of_topic == ("bees-2", "bees", "bees-3")
