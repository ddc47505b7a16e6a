import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analecta.analyse import clustering
from analecta.analyse.clustering import space


def of(texts, basis=None):
    return space(lambda numbers: [texts[i] for i in numbers.tolist()], len(texts), basis)


def test_p7_what_is_on_few_pages_or_on_nearly_all_is_no_part_of_it():
    texts = ["garden wren"] * 40 + ["garden thrush"] * 60 + ["garden kestrel"]
    found = of(texts)
    assert sorted(found.names) == ["thrush", "wren"]
    assert found.rows.shape == (101, 2)


def test_p7_forms_of_a_word_are_one_and_shown_as_a_whole_word():
    found = of(["nesting bird", "nests and bees", "nests of bees", "the bird nests", "bees hum", "bird song"])
    assert "nests" in found.names
    assert "nest" not in found.names


def test_p7_idf_is_that_of_the_collection_and_rows_have_length_1():
    found = of(["wren wren owl", "wren", "owl hawk", "hawk"])
    assert found.idf[found.names.index("wren")] == pytest.approx(np.log(4 / 2))
    assert np.sqrt(found.rows.power(2).sum(axis=1)).ravel().tolist()[0] == pytest.approx([1] * 4, abs=1e-6)


def test_p7_pages_outside_the_basis_get_rows_but_have_no_say():
    basis = np.array([True] * 4 + [False] * 4)
    found = of(["wren owl", "wren", "owl hawk", "hawk"] + ["spam wren"] * 4, basis)
    assert "spam" not in found.names
    assert found.rows[7].nnz == 1


def test_p7_a_large_collection_is_read_in_batches_and_stems_are_learnt_from_a_sample(monkeypatch):
    texts = [f"{('wren', 'owl', 'hawk')[i % 3]} number{i}" for i in range(300)]
    whole = of(texts)
    monkeypatch.setattr(clustering, "_STEM_SAMPLE", 50)
    monkeypatch.setattr(clustering, "_BATCH", 7)
    assert sorted(of(texts).names) == sorted(whole.names) == ["hawk", "owl", "wren"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=8))
def test_f29_any_texts_make_a_space_with_a_row_for_each(texts):
    found = of(texts)
    assert found.rows.shape[0] == len(texts)
    assert np.isfinite(found.rows.data).all()
