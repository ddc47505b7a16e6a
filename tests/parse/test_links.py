import html as markup
import json
import re
from pathlib import Path

import ada_url
import pytest

from analecta.model import UrlRef
from analecta.parse.links import gather
from analecta.urls import Joiner, canonical

from .pages import html, target, urls

DATA = Path(__file__).parents[3] / "shared" / "data" / "urltestdata.json"
PAGE = "http://example.org/foo/bar"


@pytest.fixture(scope="module")
def cases():
    if not DATA.exists():
        pytest.skip(f"F27 NOT SHOWN: {DATA} is missing")
    return [case for case in json.loads(DATA.read_bytes()) if isinstance(case, dict)]


def ada(href: str, base: str) -> str | None:
    """What ada alone makes of a link, userinfo and fragment gone; None where it is no http(s) URL."""
    try:
        url = ada_url.URL(href, base)
    except ValueError:
        return None
    if url.protocol not in ("http:", "https:"):
        return None
    url.username = url.password = url.hash = ""
    return url.href.removesuffix("#")


def same(one: str, other: str) -> bool:
    """Equal but for the spelling of escapes, which canonical() makes uniform."""
    return canonical(one) == canonical(other)


def one_link(href: str, base: str) -> UrlRef | None:
    links = gather([href], [None], 0, Joiner().base(base), lambda _: "")[0]
    return links[0].target if links else None


def test_f27_all_test_hrefs_on_one_page_give_what_ada_gives(cases):
    hrefs = [case["input"] for case in cases]
    hrefs = [href for href in hrefs if not re.search("[\0\ud800-\udfff]", href)]  # HTML has neither
    anchors = "".join(
        f'<a href="{markup.escape(h)}">x</a>'.replace("\r", "&#13;").replace("\n", "&#10;") for h in hrefs
    )
    found = {link.target.id: link.target.url for link in html(anchors, PAGE).links}
    wanted = [canonical(url) for url in (ada(h, PAGE) for h in hrefs) if url]
    assert set(found) == {w.id for w in wanted if w} - {target(PAGE).id}
    assert set(found.values()) <= {w.url for w in wanted if w}
    assert len(found) > 200


def test_f27_each_test_href_against_its_own_base(cases):
    tried = refused = 0
    for case in cases:
        base = case["base"] or PAGE
        if not base.startswith("http") or canonical(base) is None or "\0" in case["input"]:
            continue
        got, wanted = one_link(case["input"], ada_url.URL(base).href), ada(case["input"], base)
        tried += 1
        refused += got is None
        if wanted is None or len(wanted) > 1000:
            assert got is None, case
        elif case["input"].partition("#")[0]:
            assert got is not None, case
            assert same(got.url, wanted), case
        if case.get("failure") and case["base"]:
            assert got is None, case
    assert tried > 400
    assert refused > 100


@pytest.mark.parametrize(
    ("href", "host"),
    [
        ("http://" + "a" * 64 + ".com/", "a" * 64 + ".com"),  # WHATWG without strict checks leaves this to DNS
        ("http://a..b/", "a..b"),
        ("http://under_score.example/", "under_score.example"),
        ("http://☃.example/", "xn--n3h.example"),
        ("http://gооgle.com/", "xn--ggle-55da.com"),  # with two Cyrillic о
        ("http://example.com:99999/", None),
        ("http://example.com:80/", "example.com"),
        ("http://exa mple.com/", None),
        ("http://[::1/", None),
        ("http://user:secret@example.com/", "example.com"),
    ],
)
def test_f28_odd_hosts_are_taken_or_refused_as_whatwg_says(href, host):
    links = html(f"<a href='{href}'>x</a>", "http://start.example/").links
    assert [link.target.host for link in links] == ([host] if host else [])
    assert all("secret" not in link.target.url for link in links)


def test_f28_userinfo_is_gone_from_every_url_of_a_page():
    page = html("<base href='http://u:p@other.org/d/'><link rel=canonical href='http://u:p@e.org/'><a href=x>x</a>")
    assert page.canonical == "http://e.org/"
    assert urls(page) == ["http://other.org/d/x"]


def test_anchors_that_repeat_one_another_do_not_add_up():
    read = []

    def words(source: int) -> str:
        read.append(source)
        return "w" * 600_000

    hrefs = [f"/{n}" for n in range(50)]
    links, _, cut = gather(hrefs, range(50), target().id, Joiner().base(PAGE), words)
    assert (len(links), len(read), cut) == (50, 2, True)
