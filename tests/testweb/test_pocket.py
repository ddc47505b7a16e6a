import gzip
import hashlib
import subprocess
import sys
from collections import Counter
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.testweb.pocket import PocketWeb
from analecta.testweb.sentences import TOPICS, some

WEB = PocketWeb(1000, seed=7)
ALL = list(WEB.pages())
KINDS = {"home", "hub", "authority", "page", "about", "mirror", "near-duplicate", "redirect", "trap", "soft-404"}
KINDS |= {"parked", "file", "robots", "sitemap"}

DIGEST = """
import hashlib
from analecta.testweb.sentences import some
from analecta.testweb.pocket import PocketWeb
web, sha = PocketWeb(1000, seed=7), hashlib.sha256()
for truth in list(web.pages(links=False))[::9]:
    sha.update(web.answer(*truth.url[7:].replace("/", " /", 1).split(" "), {}).body)
print(sha.hexdigest())
"""


def get(web, url, **headers):
    host, _, path = url.removeprefix("http://").partition("/")
    return web.answer(host, "/" + path, {name.replace("_", "-"): value for name, value in headers.items()})


def test_the_same_seed_gives_the_same_bytes_in_another_process():
    sha = hashlib.sha256()
    for truth in ALL[::9]:
        sha.update(get(WEB, truth.url).body)
    other = subprocess.run([sys.executable, "-c", DIGEST], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == sha.hexdigest()


def test_another_seed_gives_another_web():
    other = PocketWeb(1000, seed=8)
    assert not {t.url for t in ALL} & {
        t.url for t in other.pages(links=False) if "mirror" not in t.url and t.kind == "page"
    }


def test_every_kind_is_there():
    assert {truth.kind for truth in ALL} >= KINDS
    assert len(WEB.plan.by_host) >= 39


def test_the_default_web_has_the_size_it_promises():
    web = PocketWeb()
    assert 2800 <= web.plan.count <= 3200
    assert len(web.hosts) >= 60


@pytest.mark.parametrize("size", [100, 20_000])
def test_a_web_may_be_small_or_large(size):
    web = PocketWeb(size)
    assert 0.9 * size <= web.plan.count <= 1.1 * size
    assert get(web, web.plan.card(web.plan.count - 1).url).status == 200


def test_every_link_leads_to_something_known():
    targets = {link for truth in ALL for link in truth.links}
    assert [link for link in targets if WEB.truth(link, links=False) is None] == []


def test_most_links_between_sites_stay_with_the_topic():
    known = {truth.url: truth for truth in ALL}
    pairs = Counter()
    for truth in ALL:
        for link in truth.links if truth.topic and truth.kind in ("page", "hub") else ():
            other = known.get(link)
            if other and other.topic and other.url.split("/")[2] != truth.url.split("/")[2]:
                pairs[other.topic == truth.topic] += 1
    assert 0.6 < pairs[True] / pairs.total() < 0.95


def test_authorities_are_linked_more_than_other_pages():
    links = Counter(link for truth in ALL for link in truth.links)
    mean = {
        kind: sum(links[t.url] for t in ALL if t.kind == kind) / sum(t.kind == kind for t in ALL)
        for kind in ("authority", "page")
    }
    assert mean["authority"] > 2 * mean["page"]


def test_mirrors_have_the_bytes_of_their_originals():
    mirrors = [truth for truth in ALL if truth.kind == "mirror"]
    assert len(mirrors) > 30
    assert all(get(WEB, truth.url).body == get(WEB, truth.duplicate_of).body for truth in mirrors)


def test_near_duplicates_share_most_of_their_words():
    for truth in [truth for truth in ALL if truth.kind == "near-duplicate"][:40]:
        one, other = (set(get(WEB, url).body.split()) for url in (truth.url, truth.duplicate_of))
        assert 0.5 < len(one & other) / len(one) < 1


def test_pages_of_different_numbers_differ():
    bodies = [get(WEB, truth.url).body for truth in ALL if truth.kind in ("page", "authority")]
    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize(
    "charset", ["utf-8", "iso-8859-1", "windows-1252", "windows-1251", "gbk", "shift_jis", "utf-16"]
)
def test_pages_decode_by_their_true_charset(charset):
    truth = next(
        t for t in ALL if t.charset == charset and t.kind == "page" and (charset == "utf-8" or t.language != "en")
    )
    text = get(WEB, truth.url).body.decode(charset)
    assert truth.title in text
    assert charset == "utf-8" or any(ord(letter) > 127 for letter in text)


def test_charsets_are_declared_in_the_header_in_the_page_by_a_mark_or_wrongly():
    found = {t.declared: get(WEB, t.url) for t in ALL if t.kind == "page" and t.language == "fr"}
    assert found["bom"].body[:2] in (b"\xff\xfe", b"\xfe\xff")
    assert b"charset=utf-8" in found["wrong"].head
    assert b'<meta charset="iso-8859-1">' in found["meta"].body


def test_redirects_lead_to_pages_but_for_one_loop():
    ends = Counter()
    for truth in ALL:
        hops = 0
        while truth.location and hops < 5:
            truth, hops = WEB.truth(truth.location), hops + 1
        ends[truth.status if hops else "none"] += 1
    assert ends[302] == 2
    assert ends[200] > 50


def test_www_and_old_addresses_are_redirected():
    assert WEB.truth("http://www." + ALL[10].url[7:]).location == ALL[10].url
    assert any(WEB.truth(t.location).location for t in ALL if t.kind == "redirect" and "/go/" in t.url)


def test_orphans_stand_only_in_sitemaps():
    orphans = {truth.url for truth in ALL if truth.orphan and truth.kind != "mirror"}
    linked = {link for truth in ALL if truth.kind not in ("sitemap", "near-duplicate") for link in truth.links}
    listed = {link for truth in ALL if truth.kind == "sitemap" for link in truth.links}
    assert orphans
    assert not orphans & linked
    assert orphans <= listed


def test_one_sitemap_is_an_index_and_one_is_compressed():
    index = next(truth for truth in ALL if truth.url.endswith("/sitemap_index.xml"))
    packed = next(link for link in index.links if link.endswith(".gz"))
    assert b"<urlset" in gzip.decompress(get(WEB, packed).body)


def test_f24_traps_lead_ever_further():
    for entry in [truth for truth in ALL if truth.kind == "trap"]:
        seen, queue = {entry.url}, [entry.url]
        while queue and len(seen) < 300:
            truth = WEB.truth(queue.pop(0))
            fresh = [link for link in truth.links if link not in seen and WEB.truth(link, links=False).kind == "trap"]
            seen.update(fresh)
            queue += fresh
        assert len(seen) >= 300, entry.url


def test_f25_the_soft_404_host_says_200_to_everything():
    host = next(site.host for site in WEB.plan.sites if site.odd == "soft-404")
    answer = WEB.answer(host, "/no/such/page", {})
    assert answer.status == 200
    assert b"could not be found" in answer.body


def test_robots_files_differ_and_truth_knows_them():
    found = {site.robots: WEB.answer(site.host, "/robots.txt", {}) for site in WEB.plan.sites}
    assert (found["missing"].status, found["broken"].status) == (404, 500)
    assert b"Crawl-delay: 0.5" in found["delay"].body
    assert b"User-agent: analecta" in found["agents"].body
    closed = next(site.host for site in WEB.plan.sites if site.robots == "closed")
    assert not WEB.truth(f"http://{closed}/").allowed
    assert any("/private/" in truth.url and not truth.allowed for truth in ALL)


def test_a_validator_gives_304_and_a_stale_one_does_not():
    answer = get(WEB, ALL[40].url)
    lines = dict(line.split(": ", 1) for line in answer.head.decode().split("\r\n") if line)
    assert get(WEB, ALL[40].url, if_none_match=lines["ETag"]).status == 304
    assert get(WEB, ALL[40].url, if_modified_since=lines["Last-Modified"]).status == 304
    assert get(WEB, ALL[40].url, if_none_match='"other"').status == 200
    assert parsedate_to_datetime(lines["Last-Modified"]).year > 2000


def test_wishes_to_robots_stand_in_the_page_or_in_the_header():
    asking = [truth for truth in ALL if truth.robots and truth.kind == "page"]
    said = {b"X-Robots-Tag" in get(WEB, truth.url).head: truth for truth in asking}
    assert said[True].robots.encode() in get(WEB, said[True].url).head
    assert f'content="{said[False].robots}"'.encode() in get(WEB, said[False].url).body


def test_files_are_what_they_say():
    starts = {truth.url[-3:]: get(WEB, truth.url) for truth in ALL if truth.kind == "file"}
    assert starts["pdf"].body.startswith(b"%PDF-1.4")
    assert starts["png"].body.startswith(b"\x89PNG\r\n")
    assert b"text/plain" in starts["txt"].head


def test_a_leading_site_packs_its_pages_when_asked():
    url = WEB.seeds("chess", 1)[0]
    packed = get(WEB, url, accept_encoding="gzip")
    assert b"Content-Encoding: gzip" in packed.head
    assert gzip.decompress(packed.body) == get(WEB, url).body


def test_seeds_are_allowed_pages_about_the_topic():
    for topic in WEB.topics:
        truths = [WEB.truth(url) for url in WEB.seeds(topic, 4)]
        assert [(truth.topic, truth.allowed) for truth in truths] == [(topic, True)] * 4


def test_topics_have_words_enough_of_their_own():
    assert len(TOPICS) == 12
    for words in TOPICS.values():
        assert sum(len(some(text)) for name, text in words.items() if name != "own") >= 80


@given(st.text(max_size=40), st.sampled_from(WEB.hosts))
def test_any_path_is_answered(path, host):
    truth, answer = WEB.truth(f"http://{host}/{path}"), WEB.answer(host, f"/{path}", {})
    assert answer.status == (truth.status if truth else 404)


def test_asked_as_localhost_it_lists_good_pages_of_each_topic():
    rows = [line.split("\t") for line in WEB.answer("127.0.0.1", "/", {}).body.decode().splitlines()]
    assert {topic for _, topic in rows} == set(TOPICS)
    assert all(WEB.truth(url).topic == topic for url, topic in rows)
