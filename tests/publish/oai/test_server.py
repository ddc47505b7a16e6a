import gzip
import http.client
import socket
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from analecta.errors import ResourceError, UsageError
from analecta.publish.oai.server import OaiServerOptions, repository_id, serve
from tests.publish.oai.growing import NS, Growing, Now, serving

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Asks the server of a library with one page; the answer and its body."""
    made = Growing(tmp_path_factory.mktemp("served") / "lib")
    made.add("a")
    made.shard.close()

    def ask(method="GET", target="/oai?verb=Identify", body=None, headers=None):
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        connection.request(method, target, body, headers or {})
        answer = connection.getresponse()
        found = answer, answer.read()
        connection.close()
        return found

    with serving(made.library, Now()) as url:
        address = urlsplit(url)
        yield ask


def test_get_and_post_say_the_same(ask):
    got, body = ask(target="/oai?verb=ListRecords&metadataPrefix=oai_dc")
    posted, same = ask("POST", "/oai", "verb=ListRecords&metadataPrefix=oai_dc", FORM)
    assert got.status == posted.status == 200
    assert got.getheader("Content-Type") == "text/xml; charset=utf-8"
    assert body == same
    assert ElementTree.fromstring(body).findtext(f".//{NS}setSpec") == "science:biology"


def test_head_gives_no_body(ask):
    answer, body = ask("HEAD")
    assert (answer.status, body) == (200, b"")
    assert int(answer.getheader("Content-Length")) == len(ask()[1])


CODINGS = {"gzip": "gzip", "br, gzip;q=0.5": "gzip", "*": "gzip", "gzip;q=0": None, "br, gzip;q=0.0, x": None, "": None}


@pytest.mark.parametrize(("accepted", "coding"), CODINGS.items())
def test_answers_are_packed_for_those_who_ask(ask, accepted, coding):
    answer, body = ask(headers={"Accept-Encoding": accepted})
    assert answer.getheader("Content-Encoding") == coding
    assert ElementTree.fromstring(gzip.decompress(body) if coding else body) is not None


REFUSED = [
    (405, "DELETE"),
    (405, "PUT"),
    (405, "OPTIONS"),
    (404, "GET", "/"),
    (404, "GET", "/oai/x?verb=Identify"),
    (404, "POST", "/x", "verb=Identify", FORM),
    (415, "POST", "/oai", "verb=Identify", {"Content-Type": "text/xml"}),
    (413, "POST", "/oai", "a" * 70_000, FORM),
    (411, "POST", "/oai", None, FORM | {"Transfer-Encoding": "chunked"}),
    (400, "GET", "/oai?" + "a=b&" * 50),
]


@pytest.mark.parametrize(("status", "asked"), [(status, asked) for status, *asked in REFUSED])
def test_what_is_no_request_of_the_protocol_is_refused(ask, status, asked):
    answer, body = ask(*asked)
    assert answer.status == status
    assert b"verb=Identify" in body
    assert ask()[0].status == 200  # the next one is served


def test_a_length_that_is_none_is_refused(ask):
    assert ask("POST", "/oai", None, FORM | {"Content-Length": "-1"})[0].status == 400
    assert ask()[0].status == 200


def test_a_method_that_is_not_allowed_is_told_which_are(ask):
    assert ask("DELETE")[0].getheader("Allow") == "GET, HEAD, POST"


def test_f37_nothing_of_a_request_comes_back_unescaped(ask):
    body = ask(target="/oai?verb=%22%3E%3Cscript%3E&%3Cb%3E=%00%ff")[1]
    assert b"<script>" not in body
    assert ElementTree.fromstring(body).find(f"{NS}error").get("code") == "badVerb"


def test_a_connection_is_used_again(growing, now, served):
    address = urlsplit(served(growing.library, now))
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    for _ in range(3):
        connection.request("GET", "/oai?verb=Identify")
        sock = connection.sock
        assert connection.getresponse().read()
        assert connection.sock is sock is not None
    connection.close()


def test_an_address_that_is_taken_is_told(growing, now):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        asked = OaiServerOptions(port=taken.getsockname()[1])
        with pytest.raises(ResourceError, match="cannot listen on"):
            serve(growing.library, asked, now, pytest.fail, None, pytest.fail)


WANTING = [
    OaiServerOptions(host="0.0.0.0"),
    OaiServerOptions(base_url="https://x.org/oai"),
    OaiServerOptions(email="nobody"),
    OaiServerOptions(base_url="ftp://x", email="a@b.c"),
]


@pytest.mark.parametrize("asked", WANTING)
def test_a_server_for_others_needs_an_email_address_and_a_web_address(growing, now, asked):
    with pytest.raises(UsageError):
        serve(growing.library, asked, now, pytest.fail, None, pytest.fail)


def test_identifiers_are_named_after_the_address_or_the_library(growing):
    assert repository_id(growing.library, "https://Books.example.org/oai") == "books.example.org"
    assert repository_id(growing.library, "http://192.0.2.1/oai") == "lib.analecta.invalid"
    assert repository_id(growing.library, "") == "lib.analecta.invalid"
