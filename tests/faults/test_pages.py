"""F30, F34-F36: pages that are hostile, pages that have not changed, pages that ask something of us."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from analecta.model import UrlState
from analecta.store.library import LibraryFolder
from analecta.store.partition import NOARCHIVE, NOFOLLOW, NOINDEX
from tests.crawls import soundness
from tests.crawls.driver import crawl, kept, make_library, pages, rows, states
from tests.crawls.site import html, prose, robots, site
from tests.hostile import Behaviour, HostileServer, answer, in_turn, raw

# --- F30: hostile HTML -----------------------------------------------------------------------------------------------

HOSTILE = {
    "/nested": b"<div>" * 100_000 + b"<a href=/found>deep</a>",
    "/attributes": b"<p " + b" ".join(b"a%d=1" % i for i in range(1_000_000)) + b"><a href=/found>x</a>",
    "/unclosed": b"<table><tr><td><b><i><u><a href=/found><p>" * 3000,
    "/line": b"<p>" + b"word " * 2_000_000 + b"<a href=/found>x</a>",
    "/comment": b"<!--" + b"-" * 12_000_000,
}


def test_f30_hostile_html_is_parsed_within_limits_and_the_crawl_goes_on(tmp_path):
    served: dict[str, Behaviour] = {path: answer(body, content_type="text/html") for path, body in HOSTILE.items()}
    with site(served | {"/": html("/", *HOSTILE, "/0")}, {"/0": ("/1",), "/1": (), "/found": ()}) as server:
        fetch = {"deadline": 10.0, "max_wire": 11_000_000}
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch=fetch)
        crawl(library)
    found = {page["url"][13:]: page for page in pages(library)}
    assert found.keys() == {"/", "/0", "/1", "/found", *HOSTILE}
    assert found["/nested"]["limits"].startswith("parse-limited")
    assert found["/comment"]["truncated"] == "length"
    soundness.check(library)


# --- F34: pages that have not changed --------------------------------------------------------------------------------


def crawl_twice(tmp_path: Path, first: Behaviour, second: Behaviour) -> tuple[LibraryFolder, HostileServer]:
    with site({"/": in_turn(first, second)}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
        crawl(library, crawl={"refresh": 1e-9})  # days
    soundness.check(library)
    return library, server


TAGGED = html("/", etag='"v1"', last_modified="Sun, 06 Nov 1994 08:49:37 GMT")


@pytest.mark.parametrize("etag", ['"v1"', 'W/"v1"'])
def test_f34_an_unchanged_page_is_asked_for_with_its_validators_and_becomes_a_revisit(tmp_path, etag):
    unchanged = raw(f"HTTP/1.1 304 Not Modified\r\nETag: {etag}\r\n\r\n".encode(), close=False)
    library, server = crawl_twice(
        tmp_path, html("/", etag=etag, last_modified="Sun, 06 Nov 1994 08:49:37 GMT"), unchanged
    )
    assert f"If-None-Match: {etag}\r\n".encode() in server.asked[-1].head
    assert b"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n" in server.asked[-1].head
    (revisit,) = soundness.headers(library, "revisit")
    assert revisit["WARC-Profile"].endswith("server-not-modified")
    assert revisit["WARC-Refers-To-Target-URI"] == "http://a.test/"
    assert len(pages(library)) == 1
    assert states(library)["http://a.test/"] == (UrlState.DONE, "")


def test_f34_a_changed_body_replaces_the_page_though_its_etag_is_the_same(tmp_path):
    changed = html("/", words=prose("other"), etag='"v1"')
    library, _ = crawl_twice(tmp_path, TAGGED, changed)
    records = [r for r in soundness.headers(library) if r["WARC-Target-URI"] == "http://a.test/"]
    assert len({record["WARC-Payload-Digest"] for record in records}) == 2
    assert pages(library)[0]["digest"] == records[-1]["WARC-Payload-Digest"]


def test_f34_a_server_that_ignores_validators_gives_a_revisit_by_digest(tmp_path):
    library, _ = crawl_twice(tmp_path, TAGGED, TAGGED)
    (revisit,) = soundness.headers(library, "revisit")
    assert revisit["WARC-Profile"].endswith("identical-payload-digest")


# --- F35, F36: what pages ask ----------------------------------------------------------------------------------------


def asking() -> dict[str, Behaviour]:
    """Pages that ask something, each linking to a page of its own."""
    meta = '<meta name="{}" content="{}">'.format
    return {
        "/meta-noindex": html("/meta-noindex", "/from-noindex", head=meta("robots", "noindex")),
        "/meta-nofollow": html("/meta-nofollow", "/from-nofollow", head=meta("ROBOTS", "NOFOLLOW")),
        "/meta-ours": html("/meta-ours", head=meta("analecta", "noarchive")),
        "/header": html("/header", "/from-header", x_robots_tag="noindex, nofollow"),
        "/header-ours": html("/header-ours", x_robots_tag="analecta: noarchive"),
        "/other-bot": html("/other-bot", "/from-other", x_robots_tag="otherbot: noindex, nofollow"),
        "/canonical": html("/canonical", head='<link rel="canonical" href="http://b.test/original">'),
        "/reserved": html("/reserved", tdm_reservation="1"),
    }


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> tuple[LibraryFolder, HostileServer]:
    links = {f"/from-{name}": () for name in ("noindex", "nofollow", "header", "other", "ugc")}
    rel = "".join(f'<a rel="{rel}" href="/from-{rel}">x</a>' for rel in ("ugc",))
    home = {"/": html("/", *asking(), head=rel)}
    rules = {"/robots.txt": robots("User-agent: *", "Content-Signal: ai-train=no", "Allow: /")}
    with site(asking() | home | rules, links) as server:
        folder = tmp_path_factory.mktemp("asked")
        library = make_library(folder / "lib", ["http://a.test/"], server.address, judge={"kind": "centroid"})
        crawl(library)
    soundness.check(library)
    return library, server


def test_f35_what_a_page_asks_is_kept_with_it_and_the_strictest_wins(asked):
    flags = {page["url"][13:]: page["flags"] for page in pages(asked[0])}
    assert flags["/meta-noindex"] == NOINDEX
    assert flags["/meta-nofollow"] == NOFOLLOW
    assert flags["/header"] == NOINDEX | NOFOLLOW
    assert flags["/meta-ours"] == flags["/header-ours"] == NOARCHIVE
    assert flags["/other-bot"] == flags["/"] == 0


def test_f35_links_that_nobody_vouches_for_are_not_followed_and_it_is_said(asked):
    ends = states(asked[0])
    for name in ("nofollow", "header", "ugc"):
        assert ends[f"http://a.test/from-{name}"] == (UrlState.REFUSED, "nofollow")
        assert f"/from-{name}" not in asked[1].paths()
    assert {"http://a.test/from-noindex", "http://a.test/from-other"} <= kept(asked[0])


def test_f35_a_canonical_url_on_another_host_is_noted_as_a_hint(asked):
    found = {page["url"][13:]: page["canonical"] for page in pages(asked[0])}
    assert found["/canonical"] == "http://b.test/original"


def test_f35_pages_that_say_noindex_are_on_no_topic(asked):
    assert {page["topic"] for page in pages(asked[0]) if page["flags"] & NOINDEX} == {-1}


def test_f36_what_is_reserved_is_recorded_by_page_and_by_host(asked):
    found = {page["url"][13:]: page["reserved"] for page in pages(asked[0])}
    assert found["/reserved"] == "tdm-reservation=1"
    assert found["/header"] is None
    assert rows(asked[0], "SELECT reserved FROM hosts WHERE name = 'a.test'") == [("ai-train=no",)]


def exported(library: LibraryFolder, *options: str) -> tuple[list[dict[str, object]], str]:
    command = [sys.executable, "-m", "analecta", "export", str(library.folder), "pages", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_f36_an_export_for_training_leaves_out_what_is_reserved_and_says_how_many(tmp_path):
    home = {"/": html("/", "/a", "/reserved"), "/reserved": html("/reserved", content_usage="train-ai=n")}
    with site(home, {"/a": ()}) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    found, said = exported(library, "--for-training")
    assert {page["url"] for page in found} == {"http://a.test/", "http://a.test/a"}
    assert "1" in said
    assert len(exported(library)[0]) == 3
