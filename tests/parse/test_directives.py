import pytest

from analecta.parse.directives import words_for_us

from .pages import answer, html, target


def flags(page):
    return page.noindex, page.nofollow, page.noarchive


@pytest.mark.parametrize(
    ("meta", "wanted"),
    [
        ("<meta name=robots content='NoIndex'>", (True, False, False)),
        ("<meta name=ROBOTS content='index, nofollow,noarchive'>", (False, True, True)),
        ("<meta name=robots content=none>", (True, True, False)),
        ("<meta name=analecta content=noindex><meta name=robots content=all>", (True, False, False)),
        ("<meta name=googlebot content=noindex>", (False, False, False)),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", (True, True, False)),
        ("<meta name=robots content='max-snippet:-1, noarchive'>", (False, False, True)),
        ("<meta name=robots content='noindex nofollow'>", (True, True, False)),
        ("<meta name=robots content='noindex;nofollow; noarchive'>", (True, True, True)),
    ],
)
def test_f35_meta_robots(meta, wanted):
    assert flags(html(meta)) == wanted


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("noindex, nofollow", (True, True, False)),
        ("otherbot: noindex, nofollow", (False, False, False)),
        ("Analecta: noarchive", (False, False, True)),
        ("otherbot: noindex, analecta: nofollow", (False, True, False)),
        ("otherbot: noindex nofollow", (False, False, False)),
        ("analecta: noindex nofollow", (True, True, False)),
        ("unavailable_after: Wed, 25 Jun 2031 15:00:00 GMT, noindex", (True, False, False)),
    ],
)
def test_f35_x_robots_tag(header, wanted):
    assert flags(html("<p>x", x_robots_tag=header)) == wanted


def test_f35_the_most_restrictive_of_header_and_meta_wins():
    assert flags(html("<meta name=robots content=noarchive>", x_robots_tag="noindex")) == (True, False, True)


def test_f35_a_robots_name_holds_for_its_own_header_line_only():
    from analecta.parse import Parser

    head = b"HTTP/1.1 200 OK\r\nX-Robots-Tag: otherbot: nofollow\r\nX-Robots-Tag: noindex\r\n\r\n"
    joined = "otherbot: nofollow, noindex"
    for kind in ("text/html", "text/plain", "image/png"):
        page = Parser()(answer("some words", head=head, content_type=kind, x_robots_tag=joined), target())
        assert flags(page) == (True, False, False)


def test_f36_reservations_are_recorded():
    assert html("<meta name=TDM-Reservation content=1>").reserved == "tdm-reservation=1"
    assert html("<meta name=tdm-reservation content=0>").reserved == ""
    assert html("<p>", tdm_reservation="1").reserved == "tdm-reservation=1"
    assert html("<p>", content_usage="train-ai=n").reserved == "train-ai=n"
    assert html("<p>", content_signal="search=yes, ai-train=no").reserved == "ai-train=no"


def test_f36_header_and_meta_are_one_statement():
    page = html("<meta name=tdm-reservation content=' 1 '>", tdm_reservation="1", content_usage="Train-AI=N")
    assert page.reserved == "train-ai=n; tdm-reservation=1"


def test_words_are_lower_case_and_none_means_both():
    assert words_for_us("NONE") >= {"noindex", "nofollow"}
