"""F56, F71: an answer belongs to the request that was sent for it, and a turn sends one request."""

import asyncio
import ssl
from collections import Counter
from collections.abc import Callable
from functools import partial

import pycurl
import pytest
import trustme

from analecta.fetch.guard import Guard
from analecta.fetch.http import Http
from analecta.model import FetchResult, NoResponse, Request, Response
from tests.hostile import Behaviour, HostileServer, answer, raw

OK = b"HTTP/1.1 200 OK\r\n"
FORGED = OK + b"Content-Length: 6\r\n\r\nforged"
SLOWLY = 0.05  # seconds, so that what was sent last arrives apart


def ask(client: Callable[[], Http], *urls: str, pause: float = 0.0, sent: list[str] | None = None) -> list[FetchResult]:
    """Ask for one URL after another with one client; what leaves is put into `sent`."""

    def leaves(url: str) -> bool:
        if sent is not None:
            sent.append(url)
        return True

    async def run() -> list[FetchResult]:
        http, got = client(), list[FetchResult]()
        for url in urls:
            got.append(await http(Request(url, "", sent=partial(leaves, url))))
            await asyncio.sleep(pause)
        await http.close()
        return got

    return asyncio.run(run())


def bodies(got: list[FetchResult]) -> list[bytes]:
    return [one.body if isinstance(one, Response) else one.reason.encode() for one in got]


def direct() -> Http:
    return Http("T", guard=Guard(["127.0.0.0/8"]))


def named(first: Behaviour) -> Behaviour:
    """`first` for the first request of all; later ones are told the connection's place in the order of requests."""
    calls = 0

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        calls += 1
        await (first if calls == 1 else answer(b"true"))(reader, writer)

    return behave


def later(data: bytes) -> Behaviour:
    """A whole answer, and something more that arrives apart."""

    async def behave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"Content-Length: 5\r\n\r\nfirst")
        await writer.drain()
        await asyncio.sleep(SLOWLY)
        writer.write(data)
        await writer.drain()

    return behave


HOSTS = ("http://a.test/", "http://b.test/", "http://a.test/")
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n"
UNASKED = {
    "at-once": raw(OK + b"Content-Length: 5\r\n\r\nfirst" + FORGED, close=False),
    "after-304": raw(b"HTTP/1.1 304 Not Modified\r\n\r\n" + FORGED, close=False),
    "after-empty": raw(OK + b"Content-Length: 0\r\n\r\n" + FORGED, close=False),
    "apart": later(FORGED),
    "line-apart": later(b"\r\n"),
    "half-apart": later(FORGED[:20]),
}


@pytest.mark.parametrize("unasked", UNASKED.values(), ids=UNASKED)
def test_f56_bytes_after_an_answer_close_the_connection(unasked: Behaviour) -> None:
    with HostileServer(otherwise=named(unasked)) as server:
        url = f"http://{server.address}/"
        got = ask(direct, url + "1", url + "2", url + "3", pause=4 * SLOWLY)
    assert bodies(got)[1:] == [b"true", b"true"]
    assert [asked.connection for asked in server.asked] == [1, 2, 2]


def test_f56_what_comes_with_the_last_chunk_is_thrown_away() -> None:
    with HostileServer(otherwise=named(raw(CHUNKED + FORGED, close=False))) as server:
        url = f"http://{server.address}/"
        assert bodies(ask(direct, url + "1", url + "2", url + "3")) == [b"first", b"true", b"true"]


@pytest.mark.parametrize("unasked", UNASKED.values(), ids=UNASKED)
def test_f56_an_unasked_answer_is_not_taken_for_that_of_another_host(unasked: Behaviour) -> None:
    with HostileServer(otherwise=named(unasked)) as server:
        got = ask(lambda: Http("T", connect_to=server.address), *HOSTS, pause=4 * SLOWLY)
    assert bodies(got)[1:] == [b"true", b"true"]
    of = Counter((asked.connection, asked.host) for asked in server.asked)
    assert len({connection for connection, _ in of}) == len(of), "a connection is of one host"


def test_f56_each_host_of_connect_to_keeps_its_own_connection() -> None:
    with HostileServer(otherwise=answer(b"ok")) as server:
        urls = [f"http://h{n % 5}.test/{n}" for n in range(50)]
        ask(lambda: Http("T", connect_to=server.address), *urls)
    assert (len(server.asked), server.connections) == (50, 5)
    assert len({(asked.connection, asked.host) for asked in server.asked}) == 5


def test_f71_a_kept_connection_that_breaks_costs_one_request() -> None:
    async def once(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """An answer; whatever is asked next on this connection breaks it."""
        writer.write(OK + b"Content-Length: 2\r\n\r\nok")
        await writer.drain()
        await _reader.readuntil(b"\r\n\r\n")
        broken.append(1)
        writer.close()

    broken: list[int] = []
    sent: list[str] = []
    with HostileServer(otherwise=once) as server:
        url = f"http://{server.address}/"
        got = ask(direct, url + "1", url + "2", url + "3", pause=SLOWLY, sent=sent)
    assert (len(server.asked), len(broken)) == (2, 1)
    no = got[1]
    assert isinstance(no, NoResponse)
    assert (no.reason, no.retry) == ("disconnect", True)
    assert sent == [url + "1", url + "2", url + "3"]


def test_f71_nothing_is_told_as_sent_that_does_not_leave() -> None:
    with HostileServer() as server:
        address = server.address
    sent: list[str] = []
    got = ask(lambda: Http("T", connect_to=address), "http://a.test/", sent=sent)
    assert isinstance(got[0], NoResponse)
    assert sent == []


def test_f68_a_request_that_may_not_leave_after_all_goes_back_and_reaches_nobody() -> None:
    async def run(address: str) -> list[FetchResult]:
        http = Http("T", connect_to=address)
        got = [await http(Request(f"http://a.test/{may}", "", sent=lambda may=may: may)) for may in (False, True)]
        await http.close()
        return got

    with HostileServer(otherwise=answer(b"ok")) as server:
        no, yes = asyncio.run(run(server.address))
    assert isinstance(no, NoResponse)
    assert (no.reason, no.retry, no.refused) == ("turn", True, False)
    assert isinstance(yes, Response)
    assert [asked.path for asked in server.asked] == ["/True"]


@pytest.fixture(scope="module")
def certificate() -> trustme.LeafCert:
    return trustme.CA().issue_cert("a.test")


def serving(certificate: trustme.LeafCert, *protocols: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    context.set_alpn_protocols(protocols)
    return context


def test_f56_a_kept_tls_connection_is_used_again_unless_bytes_came(certificate: trustme.LeafCert) -> None:
    for first, connections in ((answer(b"ok"), 1), (later(FORGED), 2)):
        with HostileServer(otherwise=named(first), tls=serving(certificate, "http/1.1")) as server:
            urls = ["https://a.test/"] * 4
            got = ask(lambda: Http("T", connect_to=f"https://{server.address}"), *urls, pause=4 * SLOWLY)
        assert bodies(got)[1:] == [b"true"] * 3
        assert server.connections == connections


# --- HTTP/2 ----------------------------------------------------------------------------------------------------------

HEADERS, RST_STREAM, SETTINGS, GOAWAY = 1, 3, 4, 7
REFUSED_STREAM = (7).to_bytes(4)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload


def http2(reply: Callable[[int, int], bytes], streams: list[int]) -> Behaviour:
    """An HTTP/2 server that answers the nth request, on a stream, with these frames."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(6)  # the preface's "SM"
        writer.write(frame(SETTINGS, 0, 0))
        while True:
            start = await reader.readexactly(9)
            await reader.readexactly(int.from_bytes(start[:3]))
            stream = int.from_bytes(start[5:])
            if start[3] == SETTINGS and not start[4] & 1:
                writer.write(frame(SETTINGS, 1, 0))
            elif start[3] == HEADERS:
                streams.append(stream)
                writer.write(reply(len(streams), stream))
            await writer.drain()

    return behave


def ok(stream: int) -> bytes:
    return frame(HEADERS, 4, stream, b"\x88") + frame(0, 1, stream, b"hello")


def refuse(_count: int, stream: int) -> bytes:
    return frame(RST_STREAM, 0, stream, REFUSED_STREAM)


def go_away(_count: int, stream: int) -> bytes:
    """The connection ends, and this stream was not looked at."""
    return frame(GOAWAY, 0, 0, max(0, stream - 2).to_bytes(4) + bytes(4))


def go_away_later(count: int, stream: int) -> bytes:
    return ok(stream) if count % 2 else go_away(count, stream)


@pytest.fixture
def h2_context(certificate: trustme.LeafCert) -> ssl.SSLContext:
    if not pycurl.version_info()[4] & pycurl.VERSION_HTTP2:
        pytest.skip("this libcurl has no HTTP/2")
    return serving(certificate, "h2")


@pytest.mark.parametrize("reply", [refuse, go_away, go_away_later])
def test_f71_a_refused_stream_costs_one_request(h2_context: ssl.SSLContext, reply: Callable[[int, int], bytes]) -> None:
    streams: list[int] = []
    sent: list[str] = []
    with HostileServer(otherwise=http2(reply, streams), tls=h2_context) as server:
        urls = [f"https://a.test/{n}" for n in range(6)]
        got = ask(lambda: Http("T", connect_to=f"https://{server.address}"), *urls, sent=sent)
    assert len(streams) == len(sent) == 6
    lost = [no for no in got if isinstance(no, NoResponse)]
    assert {(no.reason, no.retry) for no in lost} == {("disconnect", True)}


def test_f71_an_http2_connection_serves_one_request_after_another(h2_context: ssl.SSLContext) -> None:
    streams: list[int] = []
    with HostileServer(otherwise=http2(lambda _, stream: ok(stream), streams), tls=h2_context) as server:
        got = ask(lambda: Http("T", connect_to=f"https://{server.address}"), *["https://a.test/"] * 5)
    assert bodies(got) == [b"hello"] * 5
    assert (streams, server.connections) == ([1, 3, 5, 7, 9], 1)


def test_f71_an_http2_connection_that_the_server_closed_is_replaced(h2_context: ssl.SSLContext) -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asyncio.get_running_loop().call_later(SLOWLY, writer.transport.abort)
        await http2(lambda _, stream: ok(stream), streams)(reader, writer)

    streams: list[int] = []
    with HostileServer(otherwise=once, tls=h2_context) as server:
        urls = ["https://a.test/"] * 3
        got = ask(lambda: Http("T", connect_to=f"https://{server.address}"), *urls, pause=4 * SLOWLY)
    assert bodies(got) == [b"hello"] * 3
    assert (streams, server.connections) == ([1, 1, 1], 3)
