import pytest

from analecta.parse.fallback import rough_page
from tests.effort import little_work

from .pages import answer, target, urls


def rough(body):
    return rough_page(answer(body), target(), "text/html", "why")


def test_f35_a_page_that_is_not_parsed_has_its_wishes_obeyed():
    page = rough("<META content='noindex, nofollow' NAME=robots><meta name=tdm-reservation content=1><p>x")
    assert (page.noindex, page.nofollow, page.reserved) == (True, True, "tdm-reservation=1")
    assert rough("<meta name=analecta content=noarchive>").noarchive
    assert not rough("<!-- <meta name=robots content=noindex> --><meta name=x content=noindex>").noindex


def test_its_links_are_read_by_its_base_with_entities_and_rel():
    page = rough("<base target=x><base href='/b/'><a rel=nofollow class=y href='x?a=1&amp;b=2&copy=3'>x</a><a href=z>z")
    assert urls(page) == ["http://example.com/b/x?a=1&b=2&copy=3", "http://example.com/b/z"]
    assert [link.nofollow for link in page.links] == [True, False]


def test_its_title_and_text_have_no_entities_and_no_comments():
    page = rough("<title>A &amp; B</title><!-- <a href=c> --><p>caf&eacute;<script>x<a href=s>")
    assert (page.title, page.text, urls(page)) == ("A & B", "A & B café", [])


@pytest.mark.parametrize("piece", ["<script", "<!--", "<a ", '<meta a="', "<a " + "a" * 60 + " ", "<a a=' ", "&#1"])
def test_f30_no_markup_makes_the_patterns_slow(piece):
    with little_work(5):
        rough(piece * (64 * 1024 // len(piece)))
