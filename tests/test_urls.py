"""URLs: one canonical form and one identity each, and a cache that never changes the answer."""

import json
from pathlib import Path

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analecta.urls import MAX_URL, Joiner, canonical, partition_of, url_id
from tests.effort import little_work

DATA = Path(__file__).parents[2] / "shared" / "data" / "urltestdata.json"
QUICK = settings(max_examples=300, deadline=None)
URL = "http://example.org/a~b"


def url(href, base=None):
    found = canonical(href, base)
    return found.url if found else None


@pytest.mark.parametrize(
    "form",
    [
        "http://example.org/a~b",
        "HTTP://EXAMPLE.ORG/a~b",
        "http://example.org:80/a~b",
        "http://example.org/a~b#part",
        "http://example.org/a~b#",
        "http://me:secret@example.org/a~b",
        "http://me@example.org/a~b",
        "http://:@example.org/a~b",
        "http://a@b@example.org/a~b",
        "http://example.org/a%7Eb",
        "http://example.org/a%7eb",
        "http://example.org/%61%7eb",
        "http://example.org/x/../a~b",
        "http://example.org/x/%2e%2E/a~b",
        "http://example.org/./a~b",
        "http:\\\\example.org\\a~b",
        "  http://example.org/a~b\n",
        "http://exa\tmple.org/a~b",
        "http:example.org/a~b",
        "http://%65xample.org/a~b",
        "http://ｅｘａｍｐｌｅ.org/a~b",
    ],
)
def test_f26_forms_of_one_url_are_one(form):
    assert url(form) == URL


def test_f26_http_and_https_are_one_page():
    assert canonical("http://h/x").id == canonical("https://h:443/x").id
    assert canonical("http://h/x").url != canonical("https://h/x").url
    assert canonical("http://h/x").id != canonical("https://h:80/x").id


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("http://h/a%2fb%c3%a9", "http://h/a%2Fb%C3%A9"),
        ("http://h/é", "http://h/%C3%A9"),
        ("http://h/a b", "http://h/a%20b"),
        ("http://h/a%20b", "http://h/a%20b"),
        ("http://h/?q=a%2Bb+c", "http://h/?q=a%2Bb+c"),
        ("http://h/?b=1&a=2", "http://h/?b=1&a=2"),
        ("http://h/%", "http://h/%"),
        ("http://h/%zz", "http://h/%zz"),
        ("http://h?q", "http://h/?q"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
    ],
)
def test_f26_escapes_get_one_spelling(form, wanted):
    assert url(form) == wanted
    assert url(wanted) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h/a", "http://h/A"),
        ("http://h/a", "http://h/a/"),
        ("http://h/", "http://www.h/"),
        ("http://h/?a=1&b=2", "http://h/?b=2&a=1"),
        ("http://h/a%2Fb", "http://h/a/b"),
        ("http://h/", "http://h:8080/"),
        ("http://h/a", "http://h/a?"),
    ],
)
def test_f26_forms_that_are_only_usually_one_page_are_told_apart_here(one, other):
    assert canonical(one).id != canonical(other).id


@pytest.mark.parametrize(
    "form",
    [
        "", "/x", "x", "//h/x", "mailto:a@b", "javascript:alert(1)", "ftp://h/", "file:///etc/passwd", "data:,x",
        "http://", "http://?q", "http://:80/", "http://a b/", "http://h:99999/", "http://h:x/", "http://[::1/", "http://1.2.3.256/",
        "http://%00/", "http://a%2fb/", "about:blank", "ws://h/", "http://\ud800/",
    ],
)  # fmt: skip
def test_f28_what_is_no_http_url_is_none(form):
    assert canonical(form) is None


@pytest.mark.parametrize(
    ("form", "host"),
    [
        ("http://a_b.test/", "a_b.test"),
        ("http://user:pw@h.test:8080/", "h.test:8080"),
        ("http://☕.example/", "xn--53h.example"),
        ("http://bücher.de/", "xn--bcher-kva.de"),
        ("http://h.test./", "h.test."),
        ("http://h:65535/", "h:65535"),
    ],
)
def test_f28_odd_hosts_are_taken_as_whatwg_takes_them(form, host):
    found = canonical(form)
    assert found.host == host
    assert found.url == f"http://{host}/"


@pytest.mark.parametrize("host", ["a" * 64 + ".test", "a..b", ".a", "xn--a-ä.test", "аpple.test", "-a-.test"])
def test_f28_labels_are_judged_as_ada_judges_them(host):
    wanted = ada_url.check_url(f"http://{host}/")
    assert (canonical(f"http://{host}/") is not None) == wanted


def test_f28_hosts_and_urls_that_are_too_long_are_none():
    assert canonical("http://" + "a." * 130 + "test/") is None
    assert canonical("http://h/".ljust(MAX_URL, "x")) is not None
    assert canonical("http://h/".ljust(MAX_URL + 1, "x")) is None


def test_f28_userinfo_is_stripped_everywhere():
    joined = [
        canonical("x", "http://u:p@h/a/b"),
        canonical("//u@h/x", "http://g/"),
        Joiner().base("http://u:p@h/")("x"),
    ]
    assert [found.url for found in joined] == ["http://h/a/x", "http://h/x", "http://h/x"]
    assert {found.host for found in joined} == {"h"}


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("http://h/i?PHPSESSID=d41d8cd98f00b204e980", "http://h/i"),
        ("http://h/i?id=4&phpsessid=d41d8c&x=1", "http://h/i?id=4&x=1"),
        ("http://h/P.jsp;JSESSIONID=ABC?x", "http://h/P.jsp?x"),
        ("http://h/x?SID=ABCDEF0123456789", "http://h/x"),
        ("http://h/x?CFID=1234567&CFTOKEN=87654321", "http://h/x"),
        ("http://h/v?t=5&sid=d41d8cd98f00b204e9800998ecf8427e", "http://h/v?t=5"),
        ("http://me@h/?sid=d41d8cd98f00b204e980", "http://h/"),
    ],
)
def test_f24_a_visitors_number_goes_in_any_spelling(form, wanted):
    assert url(form) == wanted


@pytest.mark.parametrize(
    "form",
    [
        "http://h/p?session=opening",
        "http://h/p?session=machine-learning-2024",
        "http://h/p?session=internationalisation",
        "http://h/a?name=News&sid=123456",
        "http://h/a?sid=1234567890123456",
        "http://h;jsessionid=1/x",
    ],
)
def test_what_only_looks_like_a_visitors_number_stays(form):
    assert url(form) == form


def test_escapes_within_escapes_end_soon():
    assert url("http://h/" + "%3" * 4 + "4") == "http://h/4"
    with little_work():
        assert canonical("http://h/" + "%3" * 100_000 + "4") is None


# --- the public test data --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cases():
    if not DATA.exists():
        pytest.skip(f"F27 NOT SHOWN: {DATA} is missing")
    return [case for case in json.loads(DATA.read_bytes()) if isinstance(case, dict)]


def test_f27_must_fail_is_rejected_and_the_rest_equals_ada(cases):
    checked = 0
    for case in cases:
        base = case.get("base") or None
        found = canonical(case["input"], base)
        if case.get("failure") or not case["href"].startswith(("http:", "https:")):
            assert found is None, case
            continue
        wanted = ada_url.URL(case["href"])
        wanted.username = wanted.password = wanted.hash = ""
        assert found is not None, case
        assert (found.url, found.host) == (url(wanted.href), wanted.host), case
        checked += 1
    assert checked > 200


def test_f27_the_joiner_gives_the_same_whatever_it_was_asked_before(cases):
    joiner = Joiner()
    pages = [case["base"] for case in cases if (case.get("base") or "").startswith("http")]
    for base in {canonical(page).url for page in pages if canonical(page)}:
        join = joiner.base(base)
        for case in cases:
            assert join(case["input"]) == canonical(case["input"], base), (case["input"], base)


# --- identity --------------------------------------------------------------------------------------------------------

SPICE = st.text(st.sampled_from("ab/.%247eE?#:@ \\~é&=+;\t"), max_size=14)


@QUICK
@given(SPICE)
def test_a_canonical_url_has_no_fragment_no_userinfo_and_its_own_id(text):
    found = canonical("http://h/" + text)
    if found:
        assert "#" not in found.url
        assert found.url.startswith("http://h/")
        assert found.id == url_id(found.url) != 0
        assert -(2**63) <= found.id < 2**63


PARTS = ["%%32e", "%2e", "..", "/", "?", "&", ";", "x=", "sid=0123456789abcdef", "PHPSESSID=abcdef", ";jsessionid=1"]


@settings(QUICK, max_examples=300)
@given(SPICE | st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
@example("%%341")
@example("b/%%32e%%32e/c")
@example("a/..&sid=0123456789abcdef")
@example("?phpsessid=abcdef;jsessionid=zz&x")
def test_f26_the_canonical_form_of_a_canonical_url_is_itself(text):
    found = canonical("http://h/" + text)
    assert found is None or canonical(found.url) == found


@QUICK
@given(st.text(max_size=30), st.sampled_from([None, "http://h/a/b?c", "https://h"]))
def test_f27_no_text_raises(text, base):
    found = canonical(text, base)
    assert found is None or found.url.startswith(("http://", "https://"))


def test_partitions_share_the_hosts_out_evenly():
    owners = [partition_of(f"host{i}.test", 4) for i in range(4000)]
    assert set(owners) == {0, 1, 2, 3}
    assert all(900 < owners.count(i) < 1100 for i in range(4))


# --- the joiner ------------------------------------------------------------------------------------------------------

BASES = [
    "http://h/",
    "http://h/d/",
    "http://h/d/p",
    "http://h/d/p2",
    "http://h/d/p?x=/y/z",
    "http://h/d/p?x=http://i/y",
    "http://h/d?q",
    "http://g/d/p",
    "https://h/d/p",
    "https://h/d/p2",
    "http://h:8080/d/p",
    "http://h/?/",
    "http://h/d//p",
]
HREFS = [
    "", "x", "./", "../x", "..\\x", "/x", "\\x", "//i/x", "\\\\i\\x", "?q", "#f", "?", "#", "/", ".", "..", ";p", "a:b",
    "http://i/x", "HTTP://I/x", "https://i/x", "http:x", "http:/x", "https:x", "http:", "mailto:a@b", "x?y", "x#f",
    "x/y/../z", "%2e%2e/x", "x ", "&x", "@x", ":x", "é",
]  # fmt: skip
MORE = st.text(st.sampled_from("ab/.?#:\\@% ;\té"), max_size=8)


@QUICK
@given(st.lists(st.tuples(st.sampled_from(HREFS) | MORE, st.sampled_from(BASES)), max_size=30))
def test_the_joiner_equals_canonical(pairs):
    joiner = Joiner()
    for href, base in pairs:
        assert joiner.base(base)(href) == canonical(href, base)


def test_the_joiner_equals_canonical_for_each_href_on_each_base():
    joiner = Joiner()
    for href in HREFS:
        for base in BASES:
            assert joiner.base(base)(href) == canonical(href, base), (href, base)


def test_the_joiner_forgets_when_it_is_full_and_is_right_all_the_same():
    parsed = []

    def join(href, base):
        parsed.append(href)
        return canonical(href, base)

    joiner = Joiner(size=3, join=join)
    for i in range(20):
        found = joiner.base(f"http://h{i % 5}/")(f"x{i % 7}")
        assert found == canonical(f"x{i % 7}", f"http://h{i % 5}/")
    assert len(parsed) == 20
    joiner.base("http://h0/")("x0")
    assert len(parsed) == 21, "it was forgotten, so it is parsed again"


def test_the_joiner_parses_a_link_once():
    asked = []

    def join(href, base):
        asked.append(href)
        return canonical(href, base)

    joiner = Joiner(join=join)
    for base in ("http://h/d/1", "http://h/d/2"):
        for href in ("x", "/y", "http://i/z"):
            joiner.base(base)(href)
    assert asked == ["x", "/y", "http://i/z"]


def same_after(href, *bases):
    """Whether a joiner that has seen `href` on the first bases gives the right answer on the last."""
    joiner = Joiner()
    for base in bases:
        found = joiner.base(base)(href)
    return found == canonical(href, bases[-1])


@pytest.mark.parametrize("href", ["go?to=http://i/", "x/http://i/", "./a://b", "share#http://i/"])
def test_the_joiner_knows_a_relative_href_that_holds_a_url(href):
    assert same_after(href, "http://h/d/p", "http://g/e/q")


@pytest.mark.parametrize("href", [" ?q", "\t?q", "\n#f", " ", "\x00?q", "\t"])
def test_the_joiner_knows_that_leading_space_does_not_count(href):
    assert same_after(href, "http://h/d/p", "http://h/d/p2")


@pytest.mark.parametrize("href", ["http:?q", "http:", "HTTP:#f", "h\nttp:?q"])
def test_the_joiner_knows_a_scheme_without_more(href):
    assert same_after(href, "http://h/d/p", "http://h/d/p2")


@pytest.mark.parametrize(
    "bases", [("http://h", "http://g"), ("http://h?q", "http://g?q"), ("http://h?x/y", "http://g?x/y")]
)
def test_the_joiner_knows_bases_without_a_path(bases):
    assert same_after("x", *bases)
