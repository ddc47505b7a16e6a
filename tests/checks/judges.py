"""What every judge must do. Each check takes a way to make an untaught judge; `test_judges` runs all over all."""

import random
from functools import cache

import msgspec

from analecta.model import Example, Page, Response, Verdict
from analecta.parse import Parser
from analecta.settings.load import parse, recipe_text
from analecta.testweb.pocket import PocketWeb
from analecta.text.tokens import words
from analecta.urls import canonical

# What the recipe of the first paper says of its judge.
PAPER = {key: value for key, value in parse(recipe_text("synthesis"), "synthesis")["judge"].items() if key != "kind"}

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


def check_confidence_is_a_share_and_the_threshold_parts_yes_from_no(make):
    judge = make().fit(examples(), TOPICS)
    for line in (0.2, 0.5, 0.8):
        if "threshold" in judge.options.__struct_fields__:
            judge.options = msgspec.structs.replace(judge.options, threshold=line)
        verdicts = judge.judge(some_pages())
        assert all(0 <= v.confidence <= 1 for v in verdicts)
        assert all((v.topic >= 0) == (v.confidence >= line) for v in verdicts)


def check_words_cut_before_are_judged_alike(make):
    judge, pages = make().fit(examples(), TOPICS), some_pages()
    cut = words([p.text for p in pages])
    assert judge.judge_words(cut) == judge.judge(pages)
    assert judge.needs <= {"anchors", "neighbours", "met"}


def check_anchors_and_neighbours_that_are_empty_do_no_harm(make):
    judge, pages = make().fit(examples(), TOPICS), some_pages(9)
    nothing = words([""] * 9)
    assert judge.judge_words(words([p.text for p in pages]), nothing, nothing) == judge.judge(pages)


def check_examples_of_others_are_no_topic(make):
    given = examples() + [Example(-1, f"http://o.test/{i}", some_pages()[i].text) for i in (4, 9, 14)]
    assert {v.topic for v in make().fit(given, TOPICS).judge(some_pages())} <= {-1, 0, 1, 2}
    assert {v.topic for v in make().fit(given[-3:], TOPICS).judge(some_pages())} == {-1}


def check_topics_may_have_the_same_name(make):
    judge = make().fit(examples(), ["same"] * 3)
    assert {v.topic for v in judge.judge(some_pages())} <= {-1, 0, 1, 2}


def check_what_made_a_verdict_is_told(make):
    judge = make().fit(examples(), TOPICS)
    why = judge.explain(page("a star, a planet, an orbit, a comet and a galaxy"))
    assert [weight for _, weight in why] == sorted((weight for _, weight in why), reverse=True)
    assert judge.explain(page("")) == []


def check_the_right_topic_is_the_surest(make):
    judge, rng = make().fit(examples(), TOPICS), random.Random(9)
    for topic, vocabulary in enumerate(VOCABULARY):
        verdicts = judge.judge([page(text_of(vocabulary, rng)) for _ in range(10)])
        assert {v.topic for v in verdicts} == {topic}


def check_few_examples_of_one_topic_are_enough(make):
    common = "menu search home page website news year people company city".split()
    for seeds in (1, 3, 10):
        rng = random.Random(4)
        made = [Example(0, "", text_of(VOCABULARY[0] + common, rng, 120)) for _ in range(seeds)]
        judge = make().fit(made, ["astronomy"])
        on = judge.judge([page(text_of(VOCABULARY[0] + common, rng, 120)) for _ in range(20)])
        off = judge.judge([page(text_of(VOCABULARY[1] + common, rng, 120)) for _ in range(20)])
        assert min(v.confidence for v in on) > max(v.confidence for v in off)
        assert sum(v.topic == 0 for v in on) >= 10


LANGUAGES = {
    "de": (
        "Der Stern leuchtet, und die Planeten umkreisen ihn; das Fernrohr zeigt die Galaxie und den Kometen",
        "Die Sterne leuchten, ein Planet kreist, und Fernrohre zeigen uns Galaxien",
        "Die Suppe wird mit Zwiebeln und Butter gekocht, der Ofen ist heiß, und das Brot wird gebacken",
    ),
    "ru": (
        "Звезда сияет, и планеты вращаются вокруг неё; телескоп показывает галактику и комету",
        "Звёзды сияют, планета вращается, телескопы показывают галактики",
        "Суп варят с луком и маслом, печь горячая, и хлеб пекут каждое утро",
    ),
    "ja": (
        "恒星は輝き、惑星はその周りを公転する。望遠鏡で銀河と彗星を観測する。",
        "望遠鏡で惑星と銀河を観測した。恒星が輝く。",
        "玉葱とバターでスープを作り、窯でパンを焼く。毎朝の朝食です。",
    ),
    "ar": (
        "النجم يضيء والكواكب تدور حوله ويظهر التلسكوب المجرة والمذنب في السماء",
        "التلسكوب يظهر المجرة والكواكب تدور حول النجم",
        "يطبخ الحساء مع البصل والزبدة ويخبز الخبز في الفرن كل صباح",
    ),
}


def check_other_languages_are_judged_too(make):
    for like, near, far in LANGUAGES.values():
        made = [Example(0, "", like + " " + near), Example(0, "", near + " " + like), Example(1, "", far)]
        on, off = make().fit(made, ["stars", "kitchen"]).judge([page(near), page(far)])
        assert on.topic in (-1, 0)
        assert off.topic in (-1, 1)
        on, off = make().fit(made[:2], ["stars"]).judge([page(like + near), page(far)])
        assert on.confidence > off.confidence


@cache
def pocket():
    """Topics of a small web, and the texts of its pages with their topics, -1 for none."""
    web, parser = PocketWeb(900), Parser()
    topics = list(web.topics)[:6]
    found = []
    for truth in web.pages(links=False):
        if truth.kind in ("page", "authority") and truth.language == "en" and not truth.duplicate_of:
            target = canonical(truth.url)
            path = truth.url.partition("://")[2].partition("/")[2]
            response = web.answer(target.host, "/" + path, {})
            headers = {"content-type": "text/html; charset=" + truth.charset}
            text = parser(Response(truth.url, 200, b"", headers, b"", response.body), target).text
            found.append((topics.index(truth.topic) if truth.topic in topics else -1, text))
    random.Random(3).shuffle(found)
    return topics, found


def check_a_confidence_of_one_half_means_the_same_for_all(make):
    topics, found = pocket()
    learn = [pair for t in range(len(topics)) for pair in [p for p in found if p[0] == t][:8]]
    rest = [pair for pair in found if pair not in learn]
    verdicts = make().fit([Example(t, "", text) for t, text in learn], topics).judge([page(text) for _, text in rest])
    right = sum(v.topic == t >= 0 for v, (t, _) in zip(verdicts, rest, strict=True))
    said, wanted = sum(v.topic >= 0 for v in verdicts), sum(t >= 0 for t, _ in rest)
    assert right / said > 0.6
    assert right / wanted > 0.6


LEARNING = [
    check_what_made_a_verdict_is_told,
    check_the_right_topic_is_the_surest,
    check_few_examples_of_one_topic_are_enough,
    check_other_languages_are_judged_too,
    check_a_confidence_of_one_half_means_the_same_for_all,
]
LENGTHY = [check_fifty_topics_are_no_trouble]
CHECKS = [f for name, f in list(globals().items()) if name.startswith("check_") and f not in LEARNING + LENGTHY]
