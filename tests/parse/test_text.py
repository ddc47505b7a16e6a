from analecta.parse.text import parse_text
from analecta.urls import Joiner

from .pages import answer, target, urls


def text(body):
    return parse_text(answer(body, content_type="text/plain"), target(), Joiner())


def test_the_first_line_is_the_title_and_bare_urls_are_links():
    page = text("\n\n  The  title \nSee http://e.org/a, (https://e.org/b) and <http://e.org/c>. ftp://no http://")
    assert page.title == "The title"
    assert urls(page) == ["http://e.org/a", "https://e.org/b", "http://e.org/c"]
    assert page.link_context(1).startswith("The title See http://e.org/a, (https://e.org/b)")


def test_a_url_keeps_the_brackets_that_it_opens_and_ends_before_another():
    page = text(
        "(see http://e.org/Bee_(insect)) or http://e.org/f(x,y). http://e.org/1,http://e.org/2,3 (http://e.org/(4."
    )
    names = ["Bee_(insect)", "f(x,y)", "1", "2,3", "(4"]
    assert urls(page) == [f"http://e.org/{name}" for name in names]


def test_an_empty_or_binary_text_is_a_page_too():
    assert text("").title == ""
    assert text(b"a\0b\xff").text == "a\ufffdbÿ"


def test_long_texts_and_many_links_are_cut_and_say_so():
    page = text("".join(f"http://e.org/{n} " for n in range(5000)))
    assert (len(page.links), page.limits) == (2000, "links-cut")
    assert text("word " * 500_000).limits == "text-cut"
    assert len(text("x" * 3_000_000).title) == 500
