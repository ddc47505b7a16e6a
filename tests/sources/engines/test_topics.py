from analecta.sources.engines.examples import topic_queries


def test_s2_a_leaf_s_query_is_its_path_most_specific_first() -> None:
    names = ("Maths", "Maths / Algebra", "Maths / Algebra / Groups", 'Maths / So-called  "Geometry"')
    assert topic_queries(names) == {
        "Maths / Algebra / Groups": "Groups Algebra Maths",
        'Maths / So-called  "Geometry"': "So-called Geometry Maths",
    }


def test_s2_a_name_that_stands_twice_on_the_path_is_asked_once() -> None:
    assert topic_queries(["Bees / Wild / bees"]) == {"Bees / Wild / bees": "bees Wild"}
    assert topic_queries(["Bees"]) == {"Bees": "Bees"}
