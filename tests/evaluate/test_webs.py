import asyncio
import gzip

import pytest

from analecta.errors import UsageError
from analecta.model import Request
from analecta.testweb.webs import open_web
from tests.testweb.test_replay import record, said, warc


@pytest.fixture
def archive(tmp_path):
    """Makes the web of a WARC file of these records, given by URL."""
    opened = []

    def make(**answers):
        records = [record(f"https://a.test/{path.replace('_', '.')}", block) for path, block in answers.items()]
        opened.append(open_web(str(warc(tmp_path / f"{len(opened)}.warc.gz", *records))))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def test_an_archive_answers_http_and_https_alike(archive):
    web = archive(x=said(b"<p>hi"))
    answers = [asyncio.run(web(Request(f"{scheme}://a.test/x", "a.test"))) for scheme in ("http", "https")]
    assert [(answer.status, answer.body) for answer in answers] == [(200, b"<p>hi")] * 2


def test_what_is_not_archived_is_404(archive):
    assert archive(x=said(b"")).get("http://a.test/robots.txt").status == 404


def test_a_coded_body_is_decoded(archive):
    web = archive(x=said(gzip.compress(b"<p>hi"), head=b"Content-Encoding: gzip"))
    assert web.get("http://a.test/x").body == b"<p>hi"


def test_redirects_are_as_archived(archive):
    answer = archive(x=said(b"", b"301 Moved", b"Location: /y")).get("http://a.test/x")
    assert (answer.status, answer.headers["location"]) == (301, "/y")


def test_an_archive_is_read_without_delay(archive):
    web = archive(robots_txt=said(b"User-agent: *\nCrawl-delay: 10\nDisallow: /private\n"))
    body = web.get("http://a.test/robots.txt").body
    assert b"Crawl-delay" not in body
    assert b"Disallow: /private" in body


def test_the_digest_is_of_the_content(archive):
    first, again, other = (archive(x=said(body)) for body in (b"one", b"one", b"two"))
    assert first.digest == again.digest != other.digest


@pytest.mark.parametrize("name", ["pocket:x", "pocket:7", "nowhere.warc.gz"])
def test_what_is_no_web_is_bad_use(name):
    with pytest.raises(UsageError):
        open_web(name)


def test_the_pocket_web_knows_its_subjects(web):
    subjects = web.subjects()
    assert {topic for topics in subjects.values() for topic in topics} == set(web.pocket.topics)
    assert all(web.get(url).status == 200 for url in list(subjects)[:50])
