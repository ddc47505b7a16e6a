from analecta.judge.training_set import COMMON, kinds, stock_examples, stock_pages
from analecta.model import Example


def test_b5_there_are_as_many_stock_pages_as_the_paper_has_and_always_the_same():
    assert len(stock_pages()) >= 50
    stock_pages.cache_clear()
    assert stock_pages()[0] == stock_pages(1)[0]


def test_b5_stock_pages_are_of_many_kinds_and_use_the_common_words():
    assert len({page.kind for page in stock_pages()}) > 20
    assert all(len(set(page.text.split()) & set(kinds()[COMMON])) > 20 for page in stock_pages())


def test_b5_what_a_topic_is_about_is_not_taught_as_others():
    football = [Example(0, "", "football match league goal coach stadium cup referee score fans tournament " * 3)] * 3
    left = " ".join(example.text for example in stock_examples(football))
    assert "referee" not in left
    assert "recipe" in left


def test_every_kind_has_enough_words_of_its_own():
    for kind, own in kinds().items():
        assert len(set(own) - set(kinds()[COMMON])) >= 10 or kind == COMMON
