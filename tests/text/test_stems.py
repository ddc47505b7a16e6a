import numpy as np
import pytest
import Stemmer

from analecta.text.stems import learn_stems, stem_all
from analecta.text.tokens import LANGUAGES, words


def learnt(*texts):
    return learn_stems(words(list(texts)))


def test_every_stemmer_there_is_has_its_language_and_a_list_of_stop_words():
    unused = {"porter", "dutch_porter"}  # older forms of English and Dutch
    without = {"ja", "ko", "uk", "zh"}  # languages that have no stemmer
    assert len(set(Stemmer.algorithms()) - unused) == len(set(LANGUAGES) - without)
    assert all(Stemmer.Stemmer(language) for language in set(LANGUAGES) - without)
    assert stem_all(["столи"], "uk") == ["столи"]


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("The volcanoes are near the volcano", "volcano"),
        ("Die Häuser sind nicht bei dem Haus, aber das Haus ist", "haus"),
        ("Вулканы были на острове, и вулкан был, и вулкана не было", "вулкан"),
        ("Les chevaux sont dans le pré avec des cheval et le cheval", "cheval"),
    ],
)
def test_forms_of_a_word_are_one_by_the_stemmer_of_the_page_s_language(text, one):
    lexicon = learnt(text)
    assert one in lexicon.names
    assert len(lexicon.names) < len(lexicon.hashes)


def test_each_page_has_its_own_language():
    lexicon = learnt("Der Hund und die Katzen sind nicht auf dem Baum", "The dogs and the cats are not on the tree")
    assert dict(zip(lexicon.names, lexicon.languages, strict=True))["katzen"] == "de"
    assert dict(zip(lexicon.names, lexicon.languages, strict=True))["dogs"] == "en"


def test_the_order_of_texts_does_not_matter():
    texts = ["one cat sees cats", "the dog sees the cat", "ein Hund und der Hund"]
    assert learnt(*texts).stems == learnt(*texts[::-1]).stems
    assert learnt(*texts).rules == learnt(*texts[::-1]).rules


def test_forms_not_met_stem_back_and_met_ones_keep_their_stem():
    lexicon = learnt("walks walked walking talk paints painted hunting hunts")
    hashes, features = lexicon.words_of(np.arange(len(lexicon.stems)))
    known = dict(zip(hashes.tolist(), features.tolist(), strict=True))
    for word in ("talked", "painting", "hunted", "walk"):
        assert lexicon.stems[known[int(words([word]).hashes[0])]] == stem_all([word], "en")[0]
    assert len(known) == len(hashes)


def test_nothing_is_learnt_from_nothing():
    assert learnt().stems == learnt("", "the and of").stems == []
