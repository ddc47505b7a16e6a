import pytest

from analecta.judge.page_kinds import CUES, KINDS, kind_of, kinds_of
from analecta.model import Page
from analecta.text.tokens import words

TEXTS = {
    "course": "CS 101, fall semester. Syllabus. Instructor: N. N., office hours. Homework, midterm, final exam",
    "call": "Call for papers. Important dates: submission deadline 1 March, camera ready 1 May. Program committee",
    "cv": "Curriculum vitae. Work experience: baker. PhD 1999. Invited talks. References available upon request",
    "shop": "Oak desk, 120 cm. In stock. Add to cart. Free delivery. Customer reviews. Your basket is empty",
    "": "The lion is a large cat of Africa and India. A course of rivers; papers on the shop floor",
}


def page(text, url="http://a.test/1"):
    return Page(url=url, id=1, host="a.test", mime="text/html", text=text)


@pytest.mark.parametrize("kind", TEXTS)
def test_s15_kinds_that_make_poor_items_are_recognised(kind):
    found, sure = kind_of(page(TEXTS[kind]))
    assert found == kind
    assert (sure >= 0.5) == bool(kind)


def test_s15_a_batch_is_as_its_pages_alone():
    alone = [kinds_of(words([text]))[0] for text in TEXTS.values()]
    assert kinds_of(words(list(TEXTS.values()))) == alone
    assert kinds_of(words([])) == []


def test_s15_phrases_do_not_reach_from_page_to_page():
    assert kinds_of(words(["add to", "cart"]))[1] == kinds_of(words(["cart"]))[0]


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("course", "http://a.test/courses/ling101/"),
        ("call", "http://a.test/2007/cfp.html"),
        ("cv", "http://a.test/~smith/cv.html"),
        ("shop", "http://shop.a.test/desk"),
    ],
)
def test_s15_the_address_is_a_cue_where_the_text_gives_one_too(kind, url):
    one = {"course": "homework", "call": "deadline", "cv": "resume", "shop": "checkout"}[kind]
    assert kind_of(page(one, url))[1] > kind_of(page(one))[1]
    assert kind_of(page("nothing", url)) == ("", 0.0)


def test_s15_a_long_page_needs_more_cues():
    assert kind_of(page(TEXTS["cv"] + " and so it went on" * 3000))[0] == ""


def test_every_cue_is_one_word_or_two():
    for cue in (cue for kind in KINDS for cue in CUES[kind].split()):
        name, _, weight = cue.rpartition(":")
        assert len(words([name.replace("_", " ")]).hashes) == len(name.split("_")) <= 2
        assert 0 < float(weight) <= 6
