import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.text.tokens import BLOCK, LANGUAGES, LONGEST, Vocabulary, counts, likely_language, stop_words, words

texts = st.lists(st.text(max_size=60), max_size=5)
ascii_texts = st.lists(st.text(st.characters(max_codepoint=127), max_size=80), max_size=5)


def word_hash(word):
    (found,) = words([word]).hashes
    return int(found)


def page_strings(batch, i):
    return batch.strings()[batch.starts[i] : batch.starts[i + 1]]


@given(ascii_texts)
def test_ascii_words_are_what_a_regular_expression_finds(batch):
    found = words(batch)
    for i, text in enumerate(batch):
        plain = [w for w in re.findall("[a-z0-9]+", text.lower()) if 1 < len(w) <= LONGEST and not w.isdigit()]
        assert page_strings(found, i) == plain


@given(texts)
def test_a_batch_gives_what_each_text_gives_alone(batch):
    found = words(batch)
    for i, text in enumerate(batch):
        alone = words([text])
        assert page_strings(found, i) == alone.strings()
        assert np.array_equal(found.hashes[found.starts[i] : found.starts[i + 1]], alone.hashes)


@given(texts)
def test_word_hash_is_the_hash_of_the_batch(batch):
    found = words(batch)
    assert [word_hash(string) for string in found.strings()] == found.hashes.tolist()


@given(st.text(max_size=40))
def test_case_does_not_matter(text):
    assert words([text]).hashes.tolist() == words([text.lower()]).hashes.tolist()


def test_punctuation_of_all_scripts_parts_words():
    text = "“Grüße”—an alle… «tout»\u00a0va。日本語、です　Привет,мир！ x86-64 naïve🙂ok"
    expected = "grüße an alle tout va 日本 本語 です привет мир x86 naïve ok".split()
    assert words([text]).strings() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都に行く", "東京 京都 都に に行 行く"),
        ("iPhone用の中 中", "iphone 用の の中"),
        ("データベース", "デー ータ タベ ベー ース"),
        ("한국어 중", "한국 국어"),
        ("𠀀𠀁中x", "𠀀𠀁 𠀁中"),
        ("ไทย", "ไท ทย"),
    ],
)
def test_scripts_without_spaces_are_cut_into_pairs_of_characters(text, expected):
    assert words(["before", text, "after"]).strings() == ["before", *expected.split(), "after"]


def test_long_text_without_spaces_is_no_endless_run():
    found = words(["字" * 100 + " " + "漢字" * 40_000])
    assert len(found.hashes) == 99 + 79_999
    assert len(set(found.hashes.tolist())) == 3


def test_every_character_with_a_lower_case_is_folded():
    cased = [c for c in map(chr, range(0x80, 0x20000)) if c.lower() != c]
    upper, lower = (words(texts).strings() for texts in ([f"a{c}a" for c in cased], [f"a{c.lower()}a" for c in cased]))
    assert (len(cased) > 1000, upper) == (True, lower)
    assert words(["ΟΔΟΣ.Α"]).strings() == words(["οδος"]).strings()


def test_single_characters_numbers_and_endless_runs_are_left_out():
    assert words(["a é 中 7 2024 3d " + "x" * LONGEST + " " + "y" * (LONGEST + 1)]).strings() == ["3d", "x" * LONGEST]


def test_no_texts_and_empty_texts_have_no_words():
    assert len(words([])) == 0
    assert words(["", " ", "!"]).starts.tolist() == [0, 0, 0, 0]


def test_lone_surrogates_do_not_harm():
    assert words(["good\ud800morning"]).strings() == ["good", "morning"]


def test_words_beyond_the_first_block_are_hashed_alike():
    text = " ".join(f"word{i}" for i in range(20_000))
    found = words([text])
    assert len(text) > 3 * BLOCK
    assert found.hashes[::997].tolist() == [word_hash(w) for w in found.strings()[::997]]


@pytest.mark.parametrize("shift", [-LONGEST - 1, -LONGEST, -7, -2, -1, 0, 1])
def test_a_word_at_the_edge_of_a_block_is_hashed_alike(shift):
    found = words(["." * (BLOCK + shift - 1) + "boundary next"])  # -1: a 0 goes before the first text
    assert found.begins[0] == BLOCK + shift
    assert found.hashes.tolist() == [word_hash("boundary"), word_hash("next")]


def test_many_words_have_no_hash_in_common():
    found = words(
        [" ".join(f"{a}{b}{c}x{d}" for a in "abcdefgh" for b in "stuvw" for c in range(99) for d in range(9))]
    )
    assert len(set(found.hashes.tolist())) == len(set(found.strings())) == len(found.hashes)


@given(st.lists(st.lists(st.sampled_from(["ape", "bee", "cat", "dog", "eel"]), max_size=9), max_size=6))
def test_counts_are_the_plain_counts(pages):
    known = ["dog", "ape", "eel"]
    found = counts(words([" ".join(page) for page in pages]), Vocabulary([word_hash(w) for w in known]))
    assert found.shape == (len(pages), 3)
    assert found.toarray().tolist() == [[page.count(w) for w in known] for page in pages]


def test_words_can_share_a_feature():
    vocabulary = Vocabulary([word_hash(w) for w in ("crawl", "crawls", "page")], features=[0, 0, 1])
    assert counts(words(["a crawl crawls a page", "none"]), vocabulary).toarray().tolist() == [[2, 1], [0, 0]]


@pytest.mark.parametrize("size", [1, 100, 70_000, 300_000])
def test_all_words_of_a_vocabulary_are_found_and_no_others(size):
    rng = np.random.default_rng(1)
    known, others = rng.integers(1, 1 << 63, (2, size)).astype(np.uint64) * np.uint64(2) + np.array(
        [[0], [1]], np.uint64
    )
    known[: size // 3][:50] = (known[: size // 3][:50] >> np.uint64(20)) | np.uint64(5 << 61)  # many at the same places
    known = np.unique(known)
    mixed = np.concatenate([others, known[::-1]])
    at, features = Vocabulary(known).find(mixed)
    assert at.tolist() == list(range(len(others), len(mixed)))
    assert features.tolist() == list(range(len(known)))[::-1]


def test_an_empty_vocabulary_finds_nothing():
    assert counts(words(["some words"]), Vocabulary([])).nnz == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_stop_words_are_words_of_their_language(language):
    least = {"en": 300}.get(language, 60)
    assert len(stop_words(language)) >= least
    assert likely_language(sorted(stop_words(language))) == language


def test_a_language_without_a_list_has_no_stop_words():
    assert stop_words("xx") == stop_words("../en") == stop_words("") == frozenset()
    assert {"the", "and", "don"} <= stop_words("en-GB")
