import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analecta.analyse.labels import labels_of, terms_of_clusters
from analecta.analyse.phrases import find_phrases, prose

FILLING = "today green often window paper quiet seldom table narrow lamp winter".split()


def pages(*subjects, count=12):
    """Pages of one cluster: each says something of all subjects, in sentences of their own."""
    return [
        " ".join(
            f"We saw {FILLING[(i + j) % 11]} {one}, {FILLING[(3 * i + j) % 11]} too." for j, one in enumerate(subjects)
        )
        for i in range(count)
    ]


def terms(*clusters, most=5):
    of = np.repeat(np.arange(len(clusters)), [len(texts) for texts in clusters])
    return terms_of_clusters([text for texts in clusters for text in texts], of, len(clusters), most)


def test_p9_terms_tell_a_cluster_from_the_others():
    birds, bees = terms(pages("wrens", "nests", "gardens"), pages("hives", "honey", "gardens"))
    assert set(birds[:2]) == {"wrens", "nests"}
    assert set(bees[:2]) == {"hives", "honey"}


def test_p9_words_that_go_together_are_a_phrase_and_take_the_place_of_the_words():
    found, _ = terms(pages("noble gases", "argon"), pages("hives", "honey"))
    assert "noble gases" in found
    assert not {"noble", "gases"} & set(found)


def test_p9_names_and_acronyms_keep_their_case_and_first_words_of_sentences_get_none():
    texts = [f"{text} Wrens sing. Wrens nest in DNA." for text in pages("South America", "DNA", "wrens")]
    found, _ = terms(texts, pages("hives", "honey"))
    assert {"South America", "DNA", "wrens"} <= set(found)


def test_p9_a_phrase_with_a_small_word_inside_must_be_a_name():
    found, _ = terms(pages("Bank of England", "kept in cellars"), pages("hives", "honey"))
    assert "Bank of England" in found
    assert "kept in cellars" not in found


def test_p9_what_always_stands_in_the_same_place_of_a_form_is_no_label():
    texts = [f"{text}\nKingdom Animalia Phylum Chordata Class" for text in pages("wrens", "nests")]
    found, _ = terms(texts, pages("hives", "honey"))
    assert not {"Animalia", "Phylum", "Chordata"} & set(found)


def test_p9_variants_of_a_word_are_there_once():
    found, _ = terms(pages("flavour", "flavor", "Russia", "Russians"), pages("hives", "honey"))
    assert len({"flavour", "flavor"} & set(found)) == 1
    assert len({"Russia", "Russians"} & set(found)) == 1


def test_p9_no_two_labels_are_the_same():
    same = ["a", "b", "c", "d"]
    assert labels_of([same, [*same[:3], "e"], same, same]) == [
        "a · b · c",
        "a · b · c · e",
        "a · b · c · d",
        "a · b · c (2)",
    ]
    assert labels_of([[], [], ["Pages"]]) == ["pages", "pages (2)", "Pages (3)"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from("aAbB"), max_size=3), max_size=6))
def test_p9_labels_differ_whatever_the_terms(terms):
    labels = labels_of(terms)
    assert len({label.casefold() for label in labels}) == len(terms)


def test_p9_phrases_are_found_in_scripts_without_spaces():
    texts = [f"{a}東京大学{b}" for a, b in zip("一二三四五六七八", "九十百千万円年月", strict=True)] * 2
    written = prose(texts)
    found = find_phrases(written)
    assert "東京大" in {written.written(found.first[[i]], found.last[[i]]) for i in range(len(found.of))}


def test_f37_hostile_text_leaves_only_words_in_labels():
    bad = "<script>alert(1)</script> \u202eevil\u202c =cmd|' {{7*7}} \x00 \ud800"
    found, _ = terms([f"{text} {bad}" for text in pages("wrens")], pages("hives"))
    assert all(character.isalnum() or character in " -" for term in found for character in term)
    assert "wrens" in found


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=6))
def test_f29_any_texts_have_words_where_they_are_said_to_be(texts):
    written = prose(texts)
    every = np.arange(len(written.forms))
    assert all(written.written(every[[i]], every[[i]]).strip() for i in every)
    assert len(terms_of_clusters(texts, np.zeros(len(texts), np.int64), 1)) == 1
