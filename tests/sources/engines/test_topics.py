from analecta.sources.engines.engine import EngineHit
from analecta.sources.engines.examples import topic_examples, topic_queries

MATHS = {
    "Mathematics": ["Mathematics"],
    "Algebra": ["Mathematics", "Algebra"],
    "Groups": ["Mathematics", "Algebra", "Groups"],
    "Geometry": ["Mathematics", 'So-called  "Geometry"'],
}


def test_s2_a_leaf_s_query_is_its_path_most_specific_first() -> None:
    queries = topic_queries(MATHS)
    assert queries == {"Groups": "Groups Algebra Mathematics", "Geometry": "So-called Geometry Mathematics"}


def test_s2_a_name_that_stands_twice_on_the_path_is_asked_once() -> None:
    assert topic_queries({"b": ["Bees", "Wild", "bees"]}) == {"b": "bees Wild"}
    assert topic_queries({"Bees": []}) == {"Bees": "Bees"}


def test_s2_the_best_hits_are_examples_and_too_few_are_told() -> None:
    hits = {"q1": [EngineHit(f"https://a.test/{i}") for i in range(9)], "q2": [EngineHit("https://b.test/")]}
    found = topic_examples({"one": "q1", "two": "q2", "three": "q3"}, hits)
    assert {topic: len(pages) for topic, pages in found.hits.items()} == {"one": 7, "two": 1, "three": 0}
    assert [told.partition(" example")[0] for told in found.few] == ["two: 1 of at least 4", "three: 0 of at least 4"]
