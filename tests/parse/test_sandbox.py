import os
import threading
from pathlib import Path

import pytest

from analecta.errors import AnalectaError
from analecta.parse import PARSERS, PageSandbox, Parser, ParserDied
from analecta.parse.sandbox import ChildLimits
from tests.crawls.driver import resident
from tests.effort import little_work

from .pages import answer, any_page, html, target, urls


@pytest.fixture
def crashing(monkeypatch):
    """A sandbox whose child does what the page says (crashing.py)."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    sandbox = PageSandbox("crashing:parse", ChildLimits(1))
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="module")
def parser():
    with Parser() as parser:
        yield parser


def say(sandbox, order):
    return sandbox.parse(answer(order), target()).text


def gone(pid):
    """Whether no process, not even a zombie, has this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize(
    ("order", "why"),
    [("raise", "ValueError"), ("memory", "MemoryError"), ("abort", "SIGABRT"), ("segfault", "SIGSEGV")],
)
def test_f44_a_parser_that_breaks_is_told_and_replaced(crashing, order, why):
    first = say(crashing, "pid")
    with pytest.raises(ParserDied, match=why) as died:
        say(crashing, order)
    assert died.value.page.limits.startswith("parse-crashed: ")
    assert isinstance(died.value, AnalectaError)
    assert say(crashing, "pid") != first
    assert gone(int(first))


@pytest.mark.parametrize("order", ["hang", "spin"])
def test_f30_a_child_that_does_not_end_is_killed_and_the_page_is_limited(crashing, order):
    first = say(crashing, "pid")
    page = crashing.parse(answer(order), target())
    assert page.limits == "parse-limited: stopped after 1 s"
    assert say(crashing, "pid") != first
    assert gone(int(first))


def test_one_child_serves_many_pages_and_what_it_prints_is_lost(crashing):
    first = say(crashing, "pid")
    assert say(crashing, "noise") == "noise"
    assert say(crashing, "pid") == first
    crashing.close()
    assert gone(int(first))


def test_f63_a_child_gives_back_the_memory_that_large_pages_took(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    sandbox = PageSandbox("crashing:parse", ChildLimits(60))
    pid = int(say(sandbox, "pid"))
    before = resident(pid)
    for order in ("large", "large", "large", "pid"):
        say(sandbox, order)
    grown = resident(pid) - before
    sandbox.close()
    assert grown < 16 << 20


def test_threads_wait_for_one_another(crashing):
    got = []
    threads = [threading.Thread(target=lambda n=n: got.append(say(crashing, f"{n}" * 100_000))) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(text[0] for text in got) == list("01234")


def test_a_child_that_cannot_start_is_told():
    sandbox = PageSandbox("no.such.module:parse")
    with pytest.raises(ParserDied, match="exit status 1"):
        sandbox.parse(answer("x"), target())
    sandbox.close()


def test_f44_a_parser_that_raises_in_this_process_is_told_too(monkeypatch):
    def broken(*_):
        raise KeyError("what")

    monkeypatch.setitem(PARSERS, "text/html", broken)
    with pytest.raises(ParserDied, match="parse-crashed: KeyError"):
        any_page(Parser(), "<p>x")


def test_the_child_gives_the_same_page_as_this_process(parser):
    body = (
        "<html lang=de><title>T</title><h1>H</h1><meta name=robots content=noindex>" + "<p>a <a href=b>c</a> d" * 3000
    )
    here, there = html(body), any_page(parser, body)
    assert parser.heavy(answer(body))
    for name in ("url", "id", "mime", "title", "text", "lang", "charset", "headings", "links", "noindex", "limits"):
        assert getattr(there, name) == getattr(here, name), name
    assert (there.link_context(0), there.main_text()) == (here.link_context(0), here.main_text())


def test_a_limited_page_has_what_plain_patterns_find(crashing):
    body = "<title>The  title</title><script>x<y</script><p>Words <a class=x href='b.html'>here</a>" + "<b " * 9000
    crashing.function, crashing.limits = "analecta.parse:parse_in_child", ChildLimits(0)
    page = crashing.parse(answer(body, x_robots_tag="noindex"), target())
    assert page.limits.startswith("parse-limited")
    assert (page.title, urls(page), page.noindex) == ("The title", ["http://example.com/a/b.html"], True)
    assert page.text.startswith("The title Words here")


HOSTILE = {
    "nested": b"<div>" * 100_000 + b"deep <a href=x>link</a>",
    "one line": b"word " * 2_000_000 + b"<a href=x>link</a>",
    "attributes": b"<a href=x " + b" ".join(b"a%d=1" % n for n in range(1_000_000)) + b">link</a>",
    "unclosed": b"<b><i><p><table><tr><td><ul><li><span><form><select><a href=x>link" * 20_000,
    "misnested": b"".join(b"<p><font a%d>x" % n for n in range(100_000)) + b"<a href=x>link</a>",
    "nested anchors": b"".join(b"<a href=x%d><object>t" % n for n in range(50_000)),
    "wide table": b"<table><td>" + b"x" * 100_000 + b"<tr><td>a<td>b" * 2000 + b"<a href=x>link</a>",
    "comment": b"<a href=x>link</a><!--" + b"x" * 50_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_f30_hostile_html_costs_little_and_leaves_us_alive(parser, name):
    with little_work():  # of ours; the child has its own limit
        page = parser.page(answer(HOSTILE[name]), target())
    assert page.links or page.limits.startswith("parse-limited") or "MemoryError" in page.limits
    assert len(page.text) <= 2 * len(HOSTILE[name])
    assert any_page(parser, "<p>fine").text == "fine"


def test_f30_the_loss_of_depth_is_reported(parser):
    page = any_page(parser, HOSTILE["nested"])
    assert "parse-limited: nesting flattened at depth 512" in page.limits
    assert (page.text, len(page.links)) == ("deep\nlink", 1)
    assert "only the first" in any_page(parser, HOSTILE["comment"]).limits


def test_f30_what_is_parsed_here_is_bounded_even_when_misnested(parser):
    body = b"".join(b"<p><font a%d>x" % n for n in range(2499))
    assert not parser.heavy(answer(body))
    with little_work():
        assert any_page(parser, body).text.count("x") == 2499
