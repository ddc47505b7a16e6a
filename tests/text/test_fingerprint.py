import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.text.fingerprint import FEW, LINE, PROSE, NearDuplicates, fingerprints
from analecta.text.tokens import words

RNG = random.Random(5)
LEXICON = ["".join(RNG.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(3000)]


def text(seed, length=400):
    return " ".join(random.Random(seed).choices(LEXICON, k=length))


def prints(*texts, title="A title"):
    return fingerprints(words(texts), [title] * len(texts))


def apart(a, b):
    return ((a ^ b) & (2**64 - 1)).bit_count()


def test_equal_texts_have_equal_fingerprints_whatever_their_markup():
    a, b = prints(text(1), "  " + text(1).upper().replace(" ", "\n,"))
    assert a == b != 0


def test_a_changed_word_changes_few_bits_and_another_text_many():
    a, b, c = prints(text(1, 1000), text(1, 1000).replace(LEXICON[7], "changed", 1) + " more", text(2, 1000)).tolist()
    assert apart(a, b) <= 3
    assert apart(a, c) > 10


def test_pages_of_one_template_differ_by_their_title():
    body = text(1)
    a, b = fingerprints(words([body + " rna", body + " dna"]), ["RNA counts", "DNA counts"])
    index = NearDuplicates.load(np.array([a]), np.array([1]))
    assert index.find(np.array([b])) == [None]


def article(seed, menu, length=2 * PROSE):
    """A page as the parser gives it: a line of prose among short ones, which depend on `menu`."""
    around = [text(f"{menu} {i}", 4) for i in range(length // 10)]
    return "\n".join([*around, text(seed, length), *around])


def near(one, other):
    """Whether two pages, each a title and a text, are near-duplicates."""
    (title, text_), (title2, text2) = one, other
    a, b = fingerprints(words([text_, text2]), [title, title2])
    return NearDuplicates.load(np.array([a]), np.array([1])).find(np.array([b])) == [1]


@pytest.mark.parametrize("title", ["Bees", "bees  - Our site", "Bees (print)", "Bees | Hives: all of them"])
def test_f25_a_copy_with_another_menu_and_site_name_is_found(title):
    assert near(("Bees — A site", article(1, "here")), (title, article(1, "there")))
    assert not near(("Bees — A site", article(1, "here")), (title, article(2, "here")))


@pytest.mark.parametrize("title", ["Wasps — A site", "Bees and wasps — A site", "Bees — A site 2", "Bees 2 — A site"])
def test_the_same_prose_under_another_title_is_another_page(title):
    assert not near(("Bees — A site", article(1, "here")), (title, article(1, "here")))


def test_with_little_prose_the_whole_page_and_its_whole_title_count():
    short = article(1, "here", PROSE - 1)
    assert near(("Bees - A site", short), ("Bees - A site", short))
    assert not near(("Bees - A site", short), ("Bees - B site", short))
    assert not near(("Bees", short), ("Bees", article(1, "there", PROSE - 1)))


def test_prose_that_is_a_small_part_of_its_page_does_not_stand_for_it():
    one, other = ("\n".join([text(1, PROSE), *(text(f"{name} {i}", 9) for i in range(PROSE // 3))]) for name in "ab")
    assert not near(("Bees", one), ("Bees", other))


pieces = st.lists(st.sampled_from([text(1, 300), text(2, 30), "İİİ ẞ ς Ⱥ", "日本語です", "\ud800", ""]), max_size=6)


@given(st.lists(pieces.map("\n".join), max_size=6))
def test_prose_is_found_alike_in_a_batch_and_alone(texts):
    together = fingerprints(words(texts), ["T"] * len(texts)).tolist()
    assert together == [int(fingerprints(words([t]), ["T"])[0]) for t in texts]


def test_lines_are_measured_where_lower_case_takes_other_bytes():
    page = "İ" * LINE + "\n" + article(1, "here")
    assert near(("Bees - A", page), ("Bees - B", page.replace("İ", "Ⱥ")))


def test_numbers_count_in_titles():
    a, b = fingerprints(words([text(1), text(1)]), ["Release 5.1", "Release 5.2"])
    assert a != b


def test_short_pages_are_equal_only_when_all_of_their_text_is():
    short = text(3, FEW - 1)
    a, b, c = prints(short, short + " 4", short.upper()).tolist()
    assert a == c
    assert apart(a, b) > 3


def test_a_page_without_words_is_nobody_s_duplicate():
    empty = prints("", "1 2 3")
    assert empty.tolist() == [0, 0]
    index = NearDuplicates()
    assert index.sift(empty, np.array([1, 2])) == [None, None]
    assert len(index) == 0


@given(st.lists(st.integers(0, 600), max_size=8))
def test_a_batch_gives_what_each_page_gives_alone(lengths):
    texts = [text(i, n) for i, n in enumerate(lengths)]
    assert prints(*texts).tolist() == [prints(t).tolist()[0] for t in texts]


def test_repeated_runs_count_once():
    a, b = prints(text(1), text(1) + (" buy cheap now" * 500)).tolist()
    assert apart(a, b) <= 3


cases = st.tuples(st.integers(0, 2**63 - 1), st.lists(st.integers(0, 47), max_size=5, unique=True))


@given(st.lists(cases, max_size=30))
def test_the_index_finds_what_a_full_search_finds(cases):
    stored = np.array([p for p, _ in cases], np.int64)
    sought = np.array([p ^ sum(1 << b for b in flips) for p, flips in cases], np.int64)
    found = NearDuplicates.load(stored, np.arange(len(stored))).find(sought)
    for wanted, got in zip(sought.tolist(), found, strict=True):
        fit = [(apart(wanted, s), i) for i, s in enumerate(stored.tolist()) if s and wanted >> 48 == s >> 48]
        fit = [pair for pair in fit if pair[0] <= 3 and wanted]
        assert got == (min(fit)[1] if fit else None)


def test_sift_finds_duplicates_within_a_batch_and_remembers_the_first():
    index = NearDuplicates()
    a, b = prints(text(1), text(2)).tolist()
    assert index.sift(np.array([a, b, a ^ 1]), np.array([10, 20, 30])) == [None, None, 10]
    assert index.sift(np.array([b ^ 2]), np.array([40])) == [20]
    assert len(index) == 2


def test_the_index_grows_and_is_the_same_when_loaded_at_once():
    rng = np.random.default_rng(1)
    stored = rng.integers(-(2**63), 2**63 - 1, 20_000)
    grown = NearDuplicates()
    for i in range(0, len(stored), 999):
        grown.add(stored[i : i + 999], np.arange(i, min(i + 999, len(stored))))
    loaded = NearDuplicates.load(stored, np.arange(len(stored)))
    sought = stored ^ 0b1000000100000001
    assert grown.find(sought) == loaded.find(sought) == list(range(20_000))


def test_beyond_its_limit_the_index_forgets_the_oldest():
    stored = np.random.default_rng(2).integers(1, 2**62, 1000)
    index = NearDuplicates(limit=600)
    for i in range(0, 1000, 100):
        index.add(stored[i : i + 100], np.arange(i, i + 100))
    assert len(index) <= 600
    assert index.find(stored[[0, 999]]) == [None, 999]
