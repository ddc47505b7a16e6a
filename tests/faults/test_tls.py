"""F73: a site with dead TLS says what is wrong and does not keep a crawl standing; a person may allow it."""

import ssl

import pytest
import trustme
from rich.console import Console

from analecta.cli.explain import tell
from analecta.model import UrlState
from analecta.views.explain import explain
from tests.crawls import soundness
from tests.crawls.driver import crawl, kept, make_library, states
from tests.crawls.site import html
from tests.hostile import HostileServer


@pytest.fixture
def untrusted():
    """Two pages behind a certificate of an authority that nobody knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with HostileServer({"/": html("/", "/1"), "/1": html("/1")}, tls=context) as server:
        yield server


def test_f73_dead_tls_is_told_and_ends_the_crawl_until_a_person_allows_it(tmp_path, untrusted):
    url = f"https://{untrusted.address}/"
    with HostileServer({"/": html("/", url, url + "1")}) as server:
        seed = f"http://{server.address}/"
        open_web = {"allow": ["127.0.0.0/8"], "delay": 0.0}
        library = make_library(tmp_path / "lib", [seed], contact="me@example.org", fetch=open_web)
        assert crawl(library).reason == "nothing is left to fetch"
        assert (kept(library), untrusted.asked) == ({seed}, [])
        assert states(library)[url] == states(library)[url + "1"] == (UrlState.FAILED, "tls-unknown-issuer")
        told = explain(library, url)
        assert told.why == "The server's certificate was issued by an authority that is not trusted here."
        assert "robots.txt" in told.detail
        crawl(library, fetch={"allow_bad_tls": ["127.0.0.1"]})
    assert kept(library) == {seed, url, url + "1"}
    page = explain(library, url).page
    assert page is not None
    assert page.certificate.startswith("not verified")
    assert "Certificate" in _text(tell(explain(library, url)))
    secure = [record for record in soundness.headers(library) if record["WARC-Target-URI"].startswith("https:")]
    marked = {record["WARC-Type"]: record.get("Analecta-Certificate", "") for record in secure}
    assert marked["response"].startswith("not verified")
    soundness.check(library)


def _text(shown):
    console = Console(width=200)
    with console.capture() as captured:
        console.print(shown)
    return captured.get()
