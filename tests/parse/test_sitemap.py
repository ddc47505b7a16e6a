import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analecta.parse.sitemap import read_sitemap
from analecta.urls import canonical
from tests.effort import little_work

BASE = "http://example.com/sitemap.xml"
HEAD = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'


def urlset(*locs: str) -> bytes:
    return (HEAD + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "</urlset>").encode()


def index(*locs: str) -> bytes:
    return (
        "<sitemapindex>" + "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs) + "</sitemapindex>"
    ).encode()


def found(targets) -> list[str]:
    return [target.url for target in targets]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_sitemap_gives_the_urls_of_its_own_host(pack):
    body = urlset(" http://example.com/a?x=1&amp;y=2\n", "/b", "http://other.org/c", "http://example.com/b", "mailto:x")
    sitemap = read_sitemap(pack(body), BASE)
    assert found(sitemap.urls) == ["http://example.com/a?x=1&y=2", "http://example.com/b"]
    assert sitemap.limited == ""


def test_a_text_sitemap_gives_its_lines_wherever_chunks_end():
    lines = [f"http://example.com/{n:05d}" for n in range(9000)]
    assert found(read_sitemap("\r\n".join(lines).encode(), BASE).urls) == lines
    assert read_sitemap(b"\xef\xbb\xbfhttp://example.com/x\n# note\nhttp://o.org/y", BASE).urls[0].url.endswith("/x")


def test_other_vocabularies_and_undeclared_prefixes_are_passed_over():
    body = (
        b"<s:urlset><s:url><s:loc>/a</s:loc><image:image><image:loc>/i.png</image:loc></image:image></s:url></s:urlset>"
    )
    assert found(read_sitemap(body, BASE).urls) == ["http://example.com/a"]


@pytest.mark.parametrize(
    "name", ["gbk", "shift_jis", "euc-jp", "big5", "iso-2022-jp", "utf-16", "iso-8859-1", "koi8-r"]
)
def test_f31_a_sitemap_is_read_in_the_encoding_that_it_names(name):
    word = {"iso-8859-1": "café", "koi8-r": "мир"}.get(name, "日本")
    body = f'<?xml version="1.0" encoding="{name}"?><urlset><url><loc>/{word}</loc></url></urlset>'.encode(name)
    assert found(read_sitemap(body, BASE).urls) == [canonical(f"/{word}", BASE).url]


@pytest.mark.parametrize("name", ["utf-7", "no-such-encoding", "idna", "hex", "utf-16", "x-user-defined", "gbk"])
def test_f31_urls_in_ascii_are_had_whatever_encoding_is_named(name):
    body = urlset("/a", "/b").replace(b"?>", f' encoding="{name}"?>'.encode())
    assert found(read_sitemap(body, BASE).urls) == ["http://example.com/a", "http://example.com/b"]


@pytest.mark.parametrize("before", ["\n", "\r\n \t", "\ufeff", "\ufeff\n", "\n\ufeff"])
def test_white_space_before_the_declaration_does_no_harm(before):
    assert found(read_sitemap(before.encode() + urlset("/a"), BASE).urls) == ["http://example.com/a"]


@pytest.mark.parametrize("after", [b"", bytes(100), b"rubbish"])
def test_all_members_of_a_gzip_file_are_read(after):
    body = urlset("/a", "/b")
    packed = b"".join(gzip.compress(body[n : n + 50]) for n in range(0, len(body), 50))
    sitemap = read_sitemap(packed + after, BASE)
    assert (found(sitemap.urls), sitemap.limited) == (["http://example.com/a", "http://example.com/b"], "")


@pytest.mark.parametrize(
    ("body", "limited"),
    [
        (b"<urlset><url><loc>/a</loc></url><!--" + b"x" * 20_000_000, "a tag or comment of more than 1000000 bytes"),
        (
            b"<urlset><url><loc>/a</loc></url><url a='" + b"x" * 20_000_000,
            "a tag or comment of more than 1000000 bytes",
        ),
        (b"<urlset><url><loc>/a</loc></url>" + b"<url>" * 4_000_000, "more than 100 elements within one another"),
        (gzip.compress(urlset("/a")) + gzip.compress(b"") * 300_000, "more than 1000 gzip members"),
    ],
    ids=["comment", "attribute", "depth", "members"],
)
def test_f31_a_file_made_to_be_slow_is_given_up(body, limited):
    with little_work():
        sitemap = read_sitemap(body, BASE)
    assert (found(sitemap.urls), sitemap.limited) == (["http://example.com/a"], limited)


def test_f31_an_index_of_itself_names_only_others():
    sitemap = read_sitemap(index(BASE, BASE + "#again", "/s2.xml"), BASE)
    assert (found(sitemap.sitemaps), sitemap.urls) == (["http://example.com/s2.xml"], [])


def test_f31_urls_and_children_are_counted():
    many = read_sitemap(urlset(*(f"/{n}" for n in range(60_000))), BASE)
    assert (len(many.urls), many.limited) == (50_000, "more than 50000 URLs")
    assert len(read_sitemap(index(*(f"/{n}.xml" for n in range(600))), BASE).sitemaps) == 500


def test_f31_billion_laughs_and_external_entities_are_refused():
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]><urlset><url><loc>/&l9;</loc></url></urlset>'
    with little_work():
        assert read_sitemap(bomb.encode(), BASE).limited == "DOCTYPE refused"
    outside = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]><urlset><url><loc>/&e;</loc></url></urlset>'
    assert read_sitemap(outside.encode(), BASE).urls == []


@pytest.mark.parametrize("start", [HEAD + "<url><loc>/a</loc></url>", "http://example.com/a\n"])
def test_f31_a_gzip_bomb_is_left_at_the_cap(start):
    pack = zlib.compressobj(9, wbits=31)
    bomb = pack.compress(start.encode()) + b"".join(pack.compress(b" " * 1_000_000) for _ in range(52)) + pack.flush()
    tracemalloc.start()
    sitemap = read_sitemap(bomb, BASE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found(sitemap.urls), sitemap.limited) == (["http://example.com/a"], "more than 50000000 bytes")
    assert peak < 5_000_000


def test_f31_a_broken_file_gives_what_came_before_the_break():
    assert len(read_sitemap(urlset("/a", "/b")[:-30], BASE).urls) >= 1
    assert "broken XML" in read_sitemap(urlset("/a")[:-5], BASE).limited
    assert "broken gzip" in read_sitemap(gzip.compress(urlset("/a"))[:12] + b"rubbish" * 9, BASE).limited


@given(st.binary(max_size=300) | st.text("<>/urlsetoc &;!x").map(str.encode))
@settings(max_examples=200, deadline=None)
def test_f31_any_bytes_are_read_without_an_exception(body):
    for packed in (body, gzip.compress(body), HEAD.encode() + body):
        assert len(read_sitemap(packed, BASE).urls) <= 300
