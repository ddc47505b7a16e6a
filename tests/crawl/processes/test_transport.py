"""The transport: whole messages or none, and a bad line to try the exchange on."""

import contextlib
import random
import socket

import pytest

from analecta.crawl.processes.transport import MAX_MESSAGE, PeerGone, SocketTransport, pair
from tests.crawl.processes.faulty import FaultyTransport


@pytest.fixture
def ends():
    left, right = pair()
    with (
        contextlib.closing(SocketTransport({1: left})) as one,
        contextlib.closing(SocketTransport({0: right})) as other,
    ):
        yield one, other


class Line:
    """A line to oneself."""

    def __init__(self):
        self.sent = []

    def send(self, to, message):
        self.sent.append((to, message))

    def receive(self):
        taken, self.sent = self.sent, []
        return [message for _, message in taken]


def test_messages_arrive_whole_and_in_order(ends):
    one, other = ends
    messages = [b"a", b"bb" * 1000, b"c" * MAX_MESSAGE]
    for message in messages:
        one.send(1, message)
    assert other.receive() == messages
    assert other.receive() == []


def test_both_ends_speak(ends):
    one, other = ends
    one.send(1, b"to other")
    other.send(0, b"to one")
    assert (one.receive(), other.receive()) == ([b"to one"], [b"to other"])


def test_nothing_waits_where_the_other_does_not_read(ends):
    one, other = ends
    for i in range(200):
        one.send(1, b"%06d" % i + bytes(50_000))
    got = [int(message[:6]) for message in other.receive()]
    assert got == list(range(len(got)))
    assert 0 < len(got) < 200
    one.send(1, b"again")
    assert other.receive() == [b"again"]


def test_a_peer_that_is_gone_is_noticed(ends):
    one, other = ends
    other.close()
    with pytest.raises(PeerGone):
        one.receive()
    one.send(1, b"into the void")


def test_messages_of_several_peers_arrive():
    (a, b), (c, d) = pair(), pair()
    hub, one, two = SocketTransport({1: a, 2: c}), SocketTransport({0: b}), SocketTransport({0: d})
    with contextlib.closing(hub), contextlib.closing(one), contextlib.closing(two):
        one.send(0, b"one")
        two.send(0, b"two")
        assert sorted(hub.receive()) == [b"one", b"two"]
        hub.send(2, b"for two")
        assert (one.receive(), two.receive()) == ([], [b"for two"])


def test_a_closed_end_is_a_peer_gone_and_no_other_error(ends):
    one, _ = ends
    one.ends[1].shutdown(socket.SHUT_RDWR)
    with pytest.raises(PeerGone):
        one.receive()


# --- the bad line ----------------------------------------------------------------------------------------------------


def test_a_line_may_drop_everything():
    line = Line()
    FaultyTransport(line, random.Random(1), drop=1.0).send(1, b"x")
    assert line.sent == []


def test_a_line_may_repeat():
    line = Line()
    FaultyTransport(line, random.Random(1), drop=0.0, repeat=1.0).send(1, b"x")
    assert line.sent == [(1, b"x")] * 2


def test_a_line_may_be_late_and_out_of_order_but_gives_all_in_the_end():
    faulty = FaultyTransport(Line(), random.Random(1), drop=0.0, repeat=0.0, late=0.5)
    sent = [b"%d" % i for i in range(50)]
    for message in sent:
        faulty.send(0, message)
    first = faulty.receive()
    got = list(first)
    while len(got) < 50:
        got += faulty.receive()
    assert 0 < len(first) < 50
    assert got != sent
    assert sorted(got) == sorted(sent)


def test_a_good_line_does_nothing():
    faulty = FaultyTransport(Line(), random.Random(1), drop=0.0, repeat=0.0, late=0.0)
    faulty.send(0, b"x")
    assert faulty.receive() == [b"x"]


def test_the_same_seed_makes_the_same_faults():
    def run():
        faulty = FaultyTransport(Line(), random.Random(5))
        for i in range(30):
            faulty.send(0, b"%d" % i)
        return [faulty.receive() for _ in range(5)]

    assert run() == run()
