"""F09, F67: clients that wait, dribble, do not take their answer, or are too many."""

import contextlib
import http.client
import socket
import time

import pytest

from analecta.publish.http_server import ServerLimits, serving

LARGE = b"x" * 20_000_000  # more than the buffers of sockets hold
ASK = b"GET /large HTTP/1.1\r\nHost: h\r\n\r\n"


async def app(scope, receive, send):
    length = 0
    while (message := await receive()).get("more_body"):
        length += len(message["body"])
    body = LARGE if scope["path"] == "/large" else b"%d" % (length + len(message.get("body", b"")))
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def served():
    """Starts a server with limits; how to connect to it."""
    with contextlib.ExitStack() as stack:

        def start(**limits):
            listener = socket.create_server(("127.0.0.1", 0))
            address = listener.getsockname()
            stack.enter_context(serving(app, listener, ServerLimits(**limits)))
            return lambda: stack.enter_context(socket.create_connection(address, 30))

        yield start


def is_answered(connect):
    client = http.client.HTTPConnection("unused")
    client.sock = connect()
    client.request("POST", "/", b"12345")
    return client.getresponse().read() == b"5"


def ended(client):
    """Whether the server has ended a connection; waits for it."""
    with contextlib.suppress(ConnectionError):
        while client.recv(1 << 16):
            pass
    return True


def test_f67_a_client_that_says_nothing_is_given_up(served):
    connect = served(idle=0.3)
    assert ended(connect())


@pytest.mark.parametrize("first", [b"GET / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 999\r\n\r\n"])
def test_f67_a_client_that_dribbles_its_request_is_given_up(served, first):
    client = served(request=0.5)()
    client.sendall(first)
    client.settimeout(0.05)
    with pytest.raises(ConnectionError):  # noqa: PT012
        while True:
            client.sendall(b"a:b\r\n")
            with contextlib.suppress(TimeoutError):
                assert not client.recv(100)
                raise ConnectionError


def test_f67_a_client_that_does_not_take_its_answer_is_given_up(served):
    connect = served(answer=0.3)
    client = connect()
    client.sendall(ASK)
    time.sleep(3)
    got = 0
    with contextlib.suppress(ConnectionError):
        while data := client.recv(1 << 20):
            got += len(data)
    assert got < len(LARGE)


def test_f67_endless_headers_end_the_connection(served):
    client = served(head=4000)()
    client.sendall(b"GET / HTTP/1.1\r\n")
    with pytest.raises(ConnectionError):  # noqa: PT012
        for _ in range(1_000_000):
            client.sendall(b"a: b\r\n" * 100)


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost", ASK])
def test_f67_the_client_that_waits_longest_makes_room(served, said):
    connect = served(connections=3)
    others = [connect() for _ in range(3)]
    for other in others:
        other.sendall(said)
        time.sleep(0.1)
    assert is_answered(connect)
    assert ended(others[0])
    assert is_answered(connect)


def test_one_connection_takes_many_requests(served):
    connect = served(idle=5.0)
    client = http.client.HTTPConnection("unused")
    client.sock = connect()
    for length in range(3):
        client.request("POST", "/", b"x" * length)
        assert client.getresponse().read() == b"%d" % length


def test_pipelined_requests_are_answered_in_order(served):
    client = served()()
    client.sendall(
        b"".join(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%b" % (n, b"x" * n) for n in (1, 2))
    )
    said = b""
    while said.count(b"HTTP/1.1 200") < 2 or not said.endswith(b"2"):
        said += client.recv(1000)
    assert said.index(b"\r\n\r\n1") < said.index(b"\r\n\r\n2")
