import asyncio
import gzip
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pycurl
import pytest

from analecta.errors import SettingsError
from analecta.fetch import REASONS
from analecta.fetch.guard import Guard
from analecta.fetch.http import Http
from analecta.fetch.transfer import FetchLimits
from analecta.model import FetchResult, NoResponse, Request, Response
from analecta.urls import canonical
from tests.hostile import Behaviour, HostileServer, answer, drip, in_turn, raw, silence

OK = b"HTTP/1.1 200 OK\r\n"
LIMITS = {"connect_timeout": 5.0, "first_byte_timeout": 5.0, "deadline": 10.0}


def with_http(http: Callable[[], Http], work: Callable[[Http], Awaitable[FetchResult]]) -> FetchResult:
    async def run() -> FetchResult:
        client = http()
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(run())


def fetch(behaviour: Behaviour, url: str = "http://site.test/page", **limits: object) -> FetchResult:
    """Ask a server that behaves so for one page."""
    with HostileServer(otherwise=behaviour) as server:
        return with_http(
            lambda: Http("Test/1", FetchLimits(**(LIMITS | limits)), connect_to=server.address),  # type: ignore[arg-type]
            lambda http: http(Request(url, "")),
        )


def good(got: FetchResult) -> Response:
    assert isinstance(got, Response), got
    return got


def bad(got: FetchResult) -> NoResponse:
    assert isinstance(got, NoResponse), got
    assert got.reason in REASONS
    return got


def test_an_answer_holds_status_headers_and_body() -> None:
    got = good(fetch(answer(b"<p>hi", content_type="text/html")))
    assert (got.status, got.body, got.headers["content-type"]) == (200, b"<p>hi", "text/html")
    assert got.head == OK + b"Content-Length: 5\r\nContent-Type: text/html\r\n\r\n"
    assert (got.ip, got.truncated) == ("127.0.0.1", "")


def test_asked_is_byte_for_byte_what_was_sent() -> None:
    with HostileServer(otherwise=answer(b"x")) as server:
        got = with_http(
            lambda: Http("Analecta/1 (+https://a.test)", contact="me@a.test", connect_to=server.address),
            lambda http: http(Request("https://site.test:8443/a?b=c|d", "", '"tag"', "Sat, 15 Nov 2025 20:00:00 GMT")),
        )
    assert good(got).asked == server.asked[0].head
    assert b"\r\nHost: site.test:8443\r\n" in good(got).asked
    assert b'\r\nIf-None-Match: "tag"\r\nIf-Modified-Since: Sat' in good(got).asked


def test_a_validator_cannot_smuggle_in_a_header() -> None:
    with HostileServer(otherwise=answer(b"x")) as server:
        got = with_http(
            lambda: Http("T", connect_to=server.address),
            lambda http: http(Request("http://a.test/", "", "x\r\nEvil: 1")),
        )
    assert b"Evil" not in server.asked[0].head
    assert good(got).status == 200


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    got = good(fetch(answer(b"", "302 Found", location="http://127.0.0.1:1/")))
    assert (got.status, got.headers["location"]) == (302, "http://127.0.0.1:1/")


def test_wire_keeps_the_coding_and_body_is_decoded() -> None:
    wire = gzip.compress(b"text " * 100)
    got = good(fetch(answer(wire, content_encoding="gzip")))
    assert (got.wire, got.body, got.cut) == (wire, b"text " * 100, False)


def test_f13_a_bomb_stops_at_the_decoded_cap() -> None:
    got = good(fetch(answer(gzip.compress(bytes(5_000_000)), content_encoding="gzip"), max_body=100_000))
    assert len(got.body) == 100_000
    assert (got.truncated, got.cut) == ("", True), "what is archived is whole"


def test_a_chunked_body_is_joined_and_its_head_says_so() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    got = good(fetch(raw(head + b"2\r\nab\r\n1\r\nc\r\n0\r\nX-Trailer: t\r\n\r\n")))
    assert got.body == b"abc"
    assert got.head == b"HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n\r\n"


def test_early_hints_are_not_the_answer() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    got = good(fetch(raw(hints + OK + b"Content-Length: 2\r\n\r\nok")))
    assert (got.status, got.body, got.head[:15]) == (200, b"ok", b"HTTP/1.1 200 OK")


def test_f09_a_server_that_never_answers_is_given_up() -> None:
    got = bad(fetch(silence(), first_byte_timeout=0.3, deadline=5))
    assert (got.reason, got.detail, got.retry) == ("timeout", "nothing came in 0.3 s", True)


def test_f09_the_slot_of_a_silent_server_is_freed() -> None:
    with HostileServer({"/silent": silence()}, answer(b"ok")) as server:

        async def work(http: Http) -> FetchResult:
            await http(Request("http://a.test/silent", ""))
            return await http(Request("http://a.test/page", ""))

        got = with_http(
            lambda: Http("T", FetchLimits(first_byte_timeout=1.0), connect_to=server.address, parallel=1),
            work,
        )
    assert good(got).body == b"ok"


def test_f10_a_drip_ends_at_the_deadline_with_what_came() -> None:
    got = good(fetch(drip(b"x", 0.05, OK + b"\r\n"), deadline=0.4))
    assert got.truncated == "time"
    assert got.took > 0.3
    assert len(got.body) > 1


def test_f10_a_drip_below_the_least_rate_is_cut() -> None:
    got = good(fetch(drip(b"x", 0.1, OK + b"\r\n"), deadline=30, min_rate=1000, min_rate_time=1))
    assert got.truncated == "time"
    assert got.took < 25  # not at the deadline


def test_f10_headers_that_drip_for_ever_are_a_time_out() -> None:
    got = bad(fetch(drip(b"X-A: b\r\n", 0.05, OK), deadline=0.4))
    assert got.reason == "timeout"


def test_f11_an_endless_body_is_cut_at_the_cap() -> None:
    got = good(fetch(drip(b"<p>" * 10_000, 0.001, OK + b"\r\n"), max_wire=300_001, deadline=2))
    assert (len(got.wire), got.truncated) == (300_001, "length")
    assert got.body.startswith(b"<p><p>")


def test_f12_a_body_shorter_than_promised_is_a_disconnect() -> None:
    got = good(fetch(raw(OK + b"Content-Length: 500\r\n\r\nshort")))
    assert (got.body, got.truncated) == (b"short", "disconnect")


def test_f12_a_cut_chunked_body_is_a_disconnect() -> None:
    got = good(fetch(raw(OK + b"Transfer-Encoding: chunked\r\n\r\n20\r\nhalf")))
    assert (got.body, got.truncated) == (b"half", "disconnect")


def test_f12_a_body_longer_than_promised_is_read_as_promised() -> None:
    with HostileServer(
        otherwise=raw(OK + b"Content-Length: 2\r\n\r\nokHTTP/1.1 666 smuggled\r\n\r\n", close=False)
    ) as server:

        async def work(http: Http) -> FetchResult:
            await http(Request("http://a.test/1", ""))
            return await http(Request("http://a.test/2", ""))

        got = with_http(lambda: Http("T", connect_to=server.address), work)
    assert (good(got).status, good(got).body) == (200, b"ok")


@pytest.mark.parametrize(
    ("head", "name", "value"),
    [
        (b"HTTP/1.1 200:\r\nX-A: b\r\n", "x-a", "b"),
        (b"HTTP/1.1 200\r\nX-A: b\r\n", "x-a", "b"),
        (b"HTTP/1.0 200 OK\r\nX-A: one\r\n two\r\n\tthree\r\n", "x-a", "one two three"),
        (b"HTTP/1.1 200 OK\r\nX-A: caf\xe9\r\n", "x-a", "café"),
        (b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\n", "x-a", "1, 2"),
        (b"HTTP/1.1 200 OK\nX-A : b\n", "x-a", "b"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A:\r\n", "x-a", ""),
    ],
)
def test_f14_odd_heads_are_read_leniently(head: bytes, name: str, value: str) -> None:
    got = good(fetch(raw(head + b"Content-Length: 2\r\n\r\nok")))
    assert (got.status, got.body, got.headers[name]) == (200, b"ok", value)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"<html>no status line", "protocol"),
        (OK + b"X-A: " + b"a" * 1_000_000 + b"\r\n\r\n", "protocol"),
        (OK + b"X-A: b\r\n" * 50_000 + b"\r\n", "protocol"),
        (OK + b"X-A: \0\r\nContent-Length: 2\r\n\r\nok", "protocol"),
        (OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok", "protocol"),
        (OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "protocol"),
        (OK + b"Content-Len", "disconnect"),
        (b"", "empty"),
    ],
)
def test_f14_what_is_no_http_fails_for_that_url_only(sent: bytes, reason: str) -> None:
    with HostileServer({"/odd": raw(sent)}, answer(b"ok")) as server:
        odd: list[FetchResult] = []

        async def work(http: Http) -> FetchResult:
            odd.append(await http(Request("http://a.test/odd", "")))
            return await http(Request("http://a.test/fine", ""))

        fine = with_http(lambda: Http("T", connect_to=server.address), work)
    assert bad(odd[0]).reason == reason
    assert good(fine).body == b"ok"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://a.test/x",
        "http://user:pw@a.test/",
        "http://a.test",
        "http://a.test/a b",
        "http://a.test/\r\nX: y",
        "http://a.test:99999/",
        "gopher://a.test/",
    ],
)
def test_f16_what_is_no_clean_http_url_is_not_asked(url: str) -> None:
    got = with_http(lambda: Http("T", guard=Guard()), lambda http: http(Request(url, "")))
    assert bad(got).reason == "bad-url"


@pytest.mark.parametrize(
    "literal",
    ["127.0.0.1", "2130706433", "0x7f.1", "017700000001", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "①②⑦.0.0.1"],
)
def test_f16_a_private_literal_is_refused_without_a_connection(literal: str) -> None:
    with HostileServer(otherwise=answer(b"secret")) as server:
        target = canonical(f"http://{literal}:{server.port}/")
        assert target is not None
        got = with_http(lambda: Http("T"), lambda http: http(Request(target.url, target.host)))
    assert (bad(got).reason, bad(got).refused, bad(got).retry) == ("guard", True, False)
    assert server.connections == 0


def test_an_allowed_network_may_be_asked() -> None:
    with HostileServer(otherwise=answer(b"ok")) as server:
        got = with_http(
            lambda: Http("T", guard=Guard(["127.0.0.0/8"])),
            lambda http: http(Request(f"http://{server.address}/", "")),
        )
    assert (good(got).body, good(got).ip) == (b"ok", "127.0.0.1")


def test_a_port_where_nobody_listens_is_a_connect_failure() -> None:
    with HostileServer() as server:
        address = server.address
    got = bad(with_http(lambda: Http("T", connect_to=address), lambda http: http(Request("http://a.test/", ""))))
    assert (got.reason, got.retry) == ("connect", True)


def test_a_kept_connection_that_the_server_closed_is_replaced() -> None:
    closing = raw(OK + b"Content-Length: 2\r\n\r\nok")
    with HostileServer(otherwise=in_turn(closing, closing, answer(b"ok"))) as server:

        async def work(http: Http) -> FetchResult:
            for n in range(4):
                last = await http(Request(f"http://a.test/{n}", ""))
                if isinstance(last, NoResponse):  # the request left before the server's end of the connection was heard
                    assert (last.reason, last.retry) == ("disconnect", True)
                    last = await http(Request(f"http://a.test/{n}", ""))
                assert good(last).body == b"ok"
            return last

        with_http(lambda: Http("T", connect_to=server.address), work)
    assert server.connections >= 3


def test_two_hundred_downloads_run_at_once() -> None:
    async def slowly(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while server.most_at_once < 200:  # with fewer, it would never end
            await asyncio.sleep(0.01)
        writer.write(OK + b"Content-Length: 50000\r\n\r\n" + b"x" * 50_000)

    with HostileServer(otherwise=slowly) as server:

        async def work(http: Http) -> FetchResult:
            got = await asyncio.gather(*(http(Request(f"http://h{n}.test/", "")) for n in range(200)))
            assert all(len(good(one).body) == 50_000 for one in got)
            return got[0]

        with_http(lambda: Http("T", connect_to=server.address), work)
    assert server.most_at_once == 200


def test_no_more_run_at_once_than_allowed() -> None:
    with HostileServer(otherwise=answer(b"ok")) as server:

        async def work(http: Http) -> FetchResult:
            got = await asyncio.gather(*(http(Request(f"http://a.test/{n}", "")) for n in range(100)))
            return got[-1]

        got = with_http(lambda: Http("T", connect_to=server.address, parallel=4), work)
    assert good(got).body == b"ok"
    assert server.connections <= 4


def test_a_cancelled_request_frees_its_handle() -> None:
    with HostileServer({"/silent": silence()}, answer(b"ok")) as server:

        async def work(http: Http) -> FetchResult:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(http(Request("http://a.test/silent", "")), 0.2)
            return await http(Request("http://a.test/", ""))

        got = with_http(lambda: Http("T", connect_to=server.address, parallel=1), work)
    assert good(got).body == b"ok"


def test_closing_gives_up_what_is_under_way() -> None:
    with HostileServer(otherwise=silence()) as server:

        async def run() -> FetchResult:
            http = Http("T", connect_to=server.address)
            asking = asyncio.create_task(http(Request("http://a.test/", "")))
            while not server.asked:
                await asyncio.sleep(0.01)
            await http.close()
            return await asking

        assert bad(asyncio.run(run())).reason == "closed"


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SettingsError, match="HOST:PORT"):
        Http("T", connect_to="somewhere")
    with pytest.raises(SettingsError, match="one line"):
        Http("T\r\nX: y")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    try:
        subprocess.run([*command.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no certificate could be made: {error}")
    return cert, key


def tls(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


def test_connect_to_over_tls_takes_any_certificate_of_loopback(certificate: tuple[Path, Path]) -> None:
    with HostileServer(otherwise=answer(b"safe"), tls=tls(certificate)) as server:
        got = with_http(
            lambda: Http("T", connect_to=f"https://{server.address}"),
            lambda http: http(Request("https://a.test/", "")),
        )
    assert good(got).body == b"safe"


def test_a_certificate_that_nobody_signed_is_refused(certificate: tuple[Path, Path]) -> None:
    with HostileServer(otherwise=answer(b"safe"), tls=tls(certificate)) as server:
        got = with_http(
            lambda: Http("T", guard=Guard(["127.0.0.0/8"])),
            lambda http: http(Request(f"https://{server.address}/", "")),
        )
    assert (bad(got).reason, bad(got).retry) == ("tls-wrong-name", False)
    assert server.asked == []


def http2(*statuses: bytes) -> Behaviour:
    """An HTTP/2 server that gives every stream these statuses, and a body after the last."""

    def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
        return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(6)  # the preface's "SM"
        writer.write(frame(4, 0, 0))
        while True:
            start = await reader.readexactly(9)
            await reader.readexactly(int.from_bytes(start[:3]))
            stream = int.from_bytes(start[5:])
            if start[3] == 4 and not start[4] & 1:  # settings, to be acknowledged
                writer.write(frame(4, 1, 0))
            elif start[3] == 1:  # a request; name 8 of HPACK's table is :status
                writer.writelines(frame(1, 4, stream, b"\x08\x03" + status) for status in statuses)
                writer.write(frame(0, 1, stream, b"hello"))
            await writer.drain()

    return behave


@pytest.mark.parametrize("statuses", [[b"200"], [b"201"], [b"301"], [b"401"], [b"103", b"200"], [b"103", b"301"]])
def test_http2_answers_are_had_whatever_their_status(certificate: tuple[Path, Path], statuses: list[bytes]) -> None:
    if not pycurl.version_info()[4] & pycurl.VERSION_HTTP2:
        pytest.skip("this libcurl has no HTTP/2")
    context = tls(certificate)
    context.set_alpn_protocols(["h2"])
    with HostileServer(otherwise=http2(*statuses), tls=context) as server:
        got = with_http(
            lambda: Http("T", connect_to=f"https://{server.address}"),
            lambda http: http(Request("https://a.test/", "")),
        )
    assert (good(got).status, good(got).body) == (int(statuses[-1]), b"hello")
    assert good(got).head == b"HTTP/1.1 %b \r\n\r\n" % statuses[-1]
