"""What every judge must do. Each check takes a way to make an untaught judge; `test_judges` runs all over all."""

import random

from analecta.model import Example, Page, Verdict

TOPICS = ["astronomy", "music", "cooking"]
VOCABULARY = [
    "star planet telescope orbit galaxy comet nebula asteroid eclipse cosmos".split(),
    "melody violin chord orchestra rhythm sonata piano concert choir opera".split(),
    "recipe oven flour butter onion garlic sauce boil roast pepper".split(),
]


def page(text):
    return Page(url="http://a.test/", id=1, host="a.test", mime="text/html", text=text)


def text_of(vocabulary, rng, length=60):
    return "the page says " + " and ".join(rng.choices(vocabulary, k=length))


def examples(each=5, vocabularies=VOCABULARY):
    rng = random.Random(7)
    return [
        Example(t, f"http://e.test/{t}/{i}", text_of(v, rng)) for i in range(each) for t, v in enumerate(vocabularies)
    ]


def some_pages(n=40):
    rng = random.Random(8)
    mixed = [*VOCABULARY, [word for words in VOCABULARY for word in words], "nothing of all this belongs here".split()]
    return [page(text_of(mixed[i % len(mixed)], rng, rng.randrange(1, 90))) for i in range(n)]


def check_a_batch_is_judged_as_its_pages_are_alone(make):
    judge, pages = make().fit(examples(), TOPICS), some_pages()
    assert judge.judge(pages) == [judge.judge([p])[0] for p in pages]


def check_the_order_of_pages_does_not_matter(make):
    judge, pages = make().fit(examples(), TOPICS), some_pages()
    assert judge.judge(pages[::-1]) == judge.judge(pages)[::-1]


def check_the_order_of_examples_does_not_matter(make):
    pages = some_pages()
    assert make().fit(examples()[::-1], TOPICS).judge(pages) == make().fit(examples(), TOPICS).judge(pages)


def check_without_topics_all_is_others(make):
    assert [v.topic for v in make().fit([], []).judge(some_pages(5))] == [-1] * 5


def check_topics_without_examples_are_never_chosen(make):
    judge = make().fit(examples(), [*TOPICS, "empty"])
    assert 3 not in {v.topic for v in judge.judge(some_pages())}
    assert {v.topic for v in make().fit([], TOPICS).judge(some_pages())} == {-1}


def check_a_saved_judge_judges_the_same(make, folder):
    judge = make().fit(examples(), TOPICS)
    judge.judge(some_pages(7))
    again = type(judge).load(folder, judge.save(folder))
    assert again.judge(some_pages()) == judge.judge(some_pages())


def check_equal_models_have_equal_names(make, folder):
    names = {make().fit(examples(), TOPICS).save(folder / str(i)) for i in range(2)}
    assert len(names) == 1


def check_a_page_without_words_is_others(make):
    judge = make().fit(examples(), TOPICS)
    assert judge.judge([page(""), page("1 2 3 !")]) == [Verdict(), Verdict()]
    assert judge.judge([]) == []


def check_fifty_topics_are_no_trouble(make):
    vocabularies = [[f"word{t}x{i}" for i in range(12)] for t in range(50)]
    judge = make().fit(examples(4, vocabularies), [f"topic {t}" for t in range(50)])
    verdicts = judge.judge([page(text_of(v, random.Random(1))) for v in vocabularies])
    assert all(v.topic in (-1, t) for t, v in enumerate(verdicts))


def check_a_verdict_is_whole(make):
    for verdict in make().fit(examples(), TOPICS).judge(some_pages()):
        confidences = [confidence for _, confidence in verdict.topics]
        assert confidences == sorted(confidences, reverse=True)
        assert (verdict.topic == -1) == (not verdict.topics)
        assert not verdict.topics or verdict.topics[0] == (verdict.topic, verdict.confidence)


CHECKS = [f for name, f in list(globals().items()) if name.startswith("check_")]
