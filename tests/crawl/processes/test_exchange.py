"""The exchange over a bad line, with crashes: nothing is lost, nothing counts twice, order is kept."""

import contextlib
import random
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from making import candidate

from analecta.crawl.control import decode
from analecta.crawl.processes.exchange import Ack, Handshake, LinkBatch, LinkExchange
from analecta.crawl.processes.transport import MAX_MESSAGE, SocketTransport, pair
from analecta.model import Candidate, FoundBy
from analecta.store.outbox import Outbox
from analecta.store.partition import Shard
from analecta.urls import canonical
from tests.crawl.processes.faulty import FaultyTransport


class Mail:
    """Letter boxes in memory: what one sends lies in the other's box until it looks."""

    def __init__(self):
        self.boxes = {}

    def of(self, party):
        return Box(self, party)


class Box:
    def __init__(self, mail, party):
        self.mail, self.party = mail, party

    def send(self, to, message):
        self.mail.boxes.setdefault(to, []).append(message)

    def receive(self):
        return self.mail.boxes.pop(self.party, [])


class Party:
    """A partition: its shard, its exchange, and a journal of what it took in, written in the same transaction."""

    def __init__(self, folder, me, partitions, box, line):
        self.path, self.me, self.partitions, self.box, self.line = folder / f"p{me}.db", me, partitions, box, line
        self.log = folder / f"p{me}.db-wal"
        self.transport = line(box)
        self.open()
        self.commits = [(self.log.stat().st_size, [])]  # the length of the log after each, and what was posted in it

    def open(self):
        self.shard = Shard(self.path)
        self.exchange = LinkExchange(self.me, self.partitions, Outbox(self.shard), self.transport.send)
        self.posted = []  # (dest, url) since the last commit

    def crash(self, lost=0):
        """End without a goodbye, so that the log stays as it is; so many of the last commits are cut off from it."""
        del self.commits[max(1, len(self.commits) - lost) :]
        disk, log = self.path.read_bytes(), self.log.read_bytes()[: self.commits[-1][0]]
        self.shard.close()
        self.path.write_bytes(disk)
        self.log.write_bytes(log)
        self.open()

    def post(self, dest, urls):
        self.exchange.post(dest, [candidate(url) for url in urls])
        self.posted += [(dest, url) for url in urls]

    def read(self):
        for message in map(decode, self.transport.receive()):
            source = message.source
            for found in self.exchange.take(message):
                self.shard.db.execute("INSERT INTO journal (at, event) VALUES (?, ?)", (source, found.target.url))

    def commit(self):
        if self.shard.changed:
            self.shard.commit()
            self.commits.append((self.log.stat().st_size, self.posted))
            self.posted = []

    def wanted(self, dest):
        """What must arrive: posted in a transaction that was committed and not lost."""
        return [url for _, posted in self.commits for to, url in posted if to == dest]

    def taken(self, source):
        rows = self.shard.db.execute("SELECT event FROM journal WHERE at = ? ORDER BY rowid", (source,))
        return [row[0] for row in rows]


@contextlib.contextmanager
def parties(count, line=lambda box: box):
    """So many partitions with one mail; `line` makes the line of each a bad one."""
    mail = Mail()
    with tempfile.TemporaryDirectory() as folder:
        made = [Party(Path(folder), me, count, mail.of(me), line) for me in range(count)]
        try:
            yield made
        finally:
            for party in made:
                party.shard.close()


def power_cut(made, *lost):
    """All partitions end and all that was under way is gone; each loses so many of its last commits."""
    for party in made:
        party.box.receive()
        party.transport = party.line(party.box)
    for party, commits in zip(made, lost, strict=True):
        party.crash(commits)
        was = [one for _, posted in party.commits for one in posted]
        party.commits = [(party.commits[-1][0], was)]  # what has survived a power cut is on the disk


def keep(party, now):
    """What the engine does at the end of each round."""
    party.commit()
    party.exchange.flush(now)


def talk(made, now, rounds=2):
    """Let all read and answer at one time; two rounds are enough for a handshake."""
    for _ in range(rounds):
        for party in made:
            party.read()
            keep(party, now)


def settled(made):
    """Whether the coordinator would say that no letter is under way (crawl/stop.py, EndOfWork)."""
    flat = [party.exchange for party in made]
    return not any(e.pending for e in flat) and sum(e.sent for e in flat) == sum(e.received for e in flat)


def settle(made, now):
    """Let all talk until nothing is under way."""
    for step in range(200):
        if settled(made):
            break
        talk(made, now + step * 0.6, rounds=1)
    assert settled(made)
    assert all(e.exchange.sent == sum(d.exchange.box.watermark(e.me) for d in made) for e in made)


def steps(*kinds):
    one = st.tuples(st.integers(0, 2), st.sampled_from(kinds), st.integers(1, 450))
    return st.lists(one, min_size=20, max_size=60)


def do(made, who, what, size, now, rng):
    """One step of one partition; a power cut is one of all."""
    party = made[who % len(made)]
    match what:
        case "post":
            dest = rng.choice(party.exchange.peers)
            party.post(dest, [f"http://h/{party.me}/{dest}/{rng.random()}" for _ in range(size)])
        case "read":
            party.read()
        case "keep":
            keep(party, now)
        case "talk":
            talk(made, now, rounds=4)
        case "crash":
            party.crash()
        case "cut":
            power_cut(made, *(rng.randrange(5) for _ in made))


@settings(max_examples=25, deadline=None)
@given(steps("post", "post", "read", "read", "keep", "keep", "crash"), st.integers(2, 3), st.integers(0, 99))
def test_f49_every_committed_link_arrives_once_and_in_order(todo, count, seed):
    rng = random.Random(seed)
    with parties(count, lambda box: FaultyTransport(box, rng)) as made:
        talk(made, 0.0)
        for now, step in enumerate(todo):
            do(made, *step, now / 2, rng)
        for party in made:
            keep(party, float(len(todo)))
        settle(made, float(len(todo)))
        assert all(d.taken(s.me) == s.wanted(d.me) for s in made for d in made)


@settings(max_examples=40, deadline=None)
@given(
    steps("post", "post", "read", "read", "keep", "keep", "talk", "talk", "crash", "cut"),
    st.integers(2, 3),
    st.integers(0, 99),
)
def test_f02_every_link_whose_commit_was_not_lost_arrives_in_order(todo, count, seed):
    rng = random.Random(seed)
    with parties(count, lambda box: FaultyTransport(box, rng, drop=0.1)) as made:
        talk(made, 0.0)
        for now, step in enumerate(todo):
            do(made, *step, now / 2, rng)
        for party in made:
            keep(party, float(len(todo)))
        settle(made, float(len(todo)))
        for s in made:
            for d in made:
                wanted = dict.fromkeys(s.wanted(d.me))
                once = dict.fromkeys(d.taken(s.me))  # the frontier takes a URL once, however often it comes
                assert [url for url in once if url in wanted] == list(wanted)


def test_nothing_is_sent_before_it_is_flushed_after_a_commit():
    with parties(2) as (one, other):
        talk((one, other), 0.0)
        one.post(1, ["http://h/"])
        assert other.transport.receive() == []
        keep(one, 0.0)
        assert [decode(message).seq for message in other.transport.receive()] == [1]


def test_no_letter_is_sent_before_the_peer_has_answered_our_hello():
    with parties(2) as (one, other):
        one.post(1, ["http://h/"])
        sent = []
        for now in (0.0, 0.5, 1.0):
            keep(one, now)
            sent.append([decode(message) for message in other.transport.receive()])
        assert sent == [[Handshake(0, 0)], [], [Handshake(0, 0)]]
        one.exchange.take(Ack(1, 0))
        keep(one, 1.1)
        assert [decode(message).seq for message in other.transport.receive()] == [1]


def test_what_was_posted_and_not_committed_is_never_sent():
    with parties(2) as (one, other):
        one.post(1, ["http://h/lost"])
        one.crash()
        one.post(1, ["http://h/kept"])
        settle((one, other), 0.0)
        assert other.taken(0) == ["http://h/kept"]


def test_a_receipt_is_given_only_for_what_was_committed():
    with parties(2) as (one, other):
        talk((one, other), 0.0)
        one.post(1, ["http://h/"])
        keep(one, 0.0)
        other.read()
        other.crash()
        keep(other, 0.1)
        one.read()
        assert one.exchange.pending == 1
        talk((one, other), 9.0)
        assert (one.exchange.pending, other.taken(0)) == (0, ["http://h/"])


def test_a_gap_waits_and_an_overlap_is_ignored():
    with parties(2) as (one, _):

        def letter(seq):
            return LinkBatch(1, seq, msgspec.Raw(msgspec.msgpack.encode([candidate(f"http://h/{seq}")])))

        def urls(*numbers):
            return [c.target.url for n in numbers for c in one.exchange.take(letter(n))]

        assert urls(3) == []
        assert urls(2) == []
        assert urls(1) == ["http://h/1", "http://h/2", "http://h/3"]
        assert urls(1, 2, 3) == []
        assert one.exchange.received == 3


def test_letters_are_sent_again_only_when_no_receipt_came_in_time():
    with parties(2) as (one, other):
        talk((one, other), 0.0)
        one.post(1, ["http://h/"])
        one.commit()
        sent = []
        for now in (5.0, 5.5, 5.9, 6.1, 7.2):
            one.exchange.flush(now)
            sent.append(len(other.transport.receive()))
        assert sent == [1, 0, 0, 1, 1]


def test_old_and_repeated_receipts_change_nothing():
    with parties(2) as (one, other):
        talk((one, other), 0.0)
        for i in range(3):
            one.post(1, [f"http://h/{i}"])
        for watermark in (2, 1, 2, 0):
            one.exchange.take(Ack(1, watermark))
            assert one.exchange.pending == 1
        keep(one, 0.0)
        assert [decode(message).seq for message in other.transport.receive()] == [3]


def test_the_last_letters_are_kept_after_their_receipt():
    with parties(2) as (one, other):
        talk((one, other), 0.0)
        for i in range(300):
            one.post(1, [f"http://h/{i}"])
        one.exchange.take(Ack(1, 290))
        assert [seq for seq, _ in one.exchange.box.letters(1, 0, -1)] == list(range(290 - 256 + 1, 301))


def test_f49_no_more_than_a_window_is_on_its_way():
    with parties(2) as (one, other):
        talk((one, other), 0.0)
        for i in range(100):
            one.post(1, [f"http://h/{i}"])
        keep(one, 5.0)
        keep(one, 5.1)
        assert one.exchange.pending == 100
        assert len(other.transport.receive()) == 64


def test_numbers_go_on_after_everything_was_delivered():
    with parties(2) as (one, other):
        for i in range(3):
            one.post(1, [f"http://h/{i}"])
            settle((one, other), 10.0 * i)
            one.crash()
        talk((one, other), 40.0)
        assert (one.exchange.sent, one.exchange.pending) == (3, 0)
        assert other.taken(0) == [f"http://h/{i}" for i in range(3)]


def test_a_candidate_arrives_as_it_was_sent():
    sent = Candidate(canonical("http://h/é"), 0.25, 3, 4, -5, FoundBy.REDIRECT, 6, 7, "wörds", "around")
    with parties(2) as (one, other):
        talk((one, other), 0.0)
        one.exchange.post(1, [sent])
        keep(one, 0.0)
        assert [other.exchange.take(decode(m)) for m in other.transport.receive()] == [[sent]]


def test_a_letter_of_the_longest_candidates_goes_through_a_socket():
    longest = [candidate(f"http://h/{i}/".ljust(1000, "x"), anchor="語" * 200, context="語" * 300) for i in range(200)]
    ours, theirs = (SocketTransport({1 - i: end}) for i, end in enumerate(pair()))
    with parties(2) as (one, other), contextlib.closing(ours), contextlib.closing(theirs):
        sender, receiver = (
            LinkExchange(me, 2, Outbox(party.shard), line.send)
            for me, party, line in ((0, one, ours), (1, other, theirs))
        )
        sender.post(1, longest)
        found = []
        for now in range(20):  # more than a socket takes at once: the rest is sent again
            for exchange, line in ((sender, ours), (receiver, theirs)):
                messages = line.receive()
                assert all(len(message) < MAX_MESSAGE / 2 for message in messages)
                found += [c for message in messages for c in exchange.take(decode(message))]
                exchange.flush(float(now))
    assert [c.target.url for c in found] == [c.target.url for c in longest]


# --- power cuts: all partitions end, and some have lost their last commits --------------------------------------------


def test_f02_links_written_after_a_lost_commit_arrive_and_the_crawl_can_end():
    with parties(2) as made:
        one, other = made
        talk(made, 0.0)
        one.post(1, ["http://h/lost"])
        settle(made, 1.0)
        power_cut(made, 1, 0)
        assert (one.exchange.sent, other.exchange.received) == (0, 1)
        one.post(1, ["http://h/new"])
        settle(made, 30.0)
        assert other.taken(0) == ["http://h/lost", "http://h/new"]
        assert one.exchange.sent == one.exchange.box.last_posted(1) == 2


def test_f02_a_sender_that_lost_its_letters_and_has_no_new_ones_lets_the_crawl_end():
    with parties(2) as made:
        one, other = made
        talk(made, 0.0)
        for i in range(3):
            one.post(1, [f"http://h/{i}"])
            keep(one, 1.0)
        settle(made, 1.0)
        power_cut(made, 2, 0)
        assert not settled(made)
        settle(made, 30.0)
        assert (one.exchange.sent, other.taken(0)) == (3, [f"http://h/{i}" for i in range(3)])


def test_f02_links_written_after_a_lost_commit_outlive_a_crash_before_the_handshake():
    with parties(2) as made:
        one, other = made
        talk(made, 0.0)
        one.post(1, ["http://h/lost"])
        settle(made, 1.0)
        power_cut(made, 1, 0)
        one.post(1, ["http://h/new"])
        keep(one, 30.0)
        one.crash()
        settle(made, 40.0)
        assert other.taken(0) == ["http://h/lost", "http://h/new"]


def test_f02_a_receiver_that_lost_its_last_commits_gets_the_letters_again():
    with parties(2) as made:
        one, other = made
        urls = [f"http://h/{i}" for i in range(5)]
        talk(made, 0.0)
        for url in urls:
            one.post(1, [url])
            talk(made, 0.0, rounds=1)
        settle(made, 1.0)
        power_cut(made, 0, 3)
        assert (one.exchange.sent, other.taken(0)) == (5, urls[:2])
        settle(made, 30.0)
        assert other.taken(0) == urls


def test_f02_a_receiver_further_behind_than_the_spare_letters_goes_on_from_what_there_is():
    with parties(2) as made:
        one, other = made
        urls = [f"http://h/{i}" for i in range(300)]
        talk(made, 0.0)
        for url in urls:
            one.post(1, [url])
        settle(made, 1.0)
        power_cut(made, 0, 99)
        assert other.taken(0) == []
        settle(made, 30.0)
        assert other.taken(0) == urls[-256:]
        assert (one.exchange.sent, other.exchange.received, other.exchange.box.watermark(0)) == (300, 300, 300)


def test_f02_a_jump_that_was_not_committed_is_made_again():
    with parties(2) as (one, other):
        one.exchange.take(Handshake(1, 7))
        one.crash()
        assert one.exchange.received == 0
        one.exchange.take(Handshake(1, 7))
        keep(one, 0.0)
        assert decode(other.transport.receive()[0]) == Ack(0, 7)
        one.crash()
        assert one.exchange.received == 7


def test_f02_a_second_power_cut_after_a_renumbering_leaves_no_gap():
    with parties(2) as made:
        one, other = made
        urls = [f"http://h/{i}" for i in range(4)]
        talk(made, 0.0)
        for url in urls:
            one.post(1, [url])
            keep(one, 1.0)
        settle(made, 1.0)
        power_cut(made, 2, 0)
        settle(made, 30.0)
        other.exchange.box.set_watermark(0, 1)
        other.commit()
        power_cut(made, 0, 0)
        one.post(1, ["http://h/new"])
        settle(made, 60.0)
        assert other.taken(0) == [*urls, *urls[:2], "http://h/new"]


def test_letters_hold_fields_by_the_names_that_they_had_first():
    """An interrupted crawl may have letters in its outbox that were written before fields were renamed."""
    old = {
        "target": {"url": "http://a.test/", "id": 7, "host": "a.test"}, "priority": 0.5, "topic": 1, "depth": 2,
        "parent": 3, "found": 3, "astray": 4, "hops": 5, "anchor": "a", "context": "c", "refused": "", "demoted": "",
    }  # fmt: skip
    letter = msgspec.Raw(msgspec.msgpack.encode([old]))
    with contextlib.closing(Shard(Path(":memory:"))) as shard:
        (found,) = LinkExchange(0, 2, Outbox(shard), Box(Mail(), 0).send).take(LinkBatch(1, 1, letter))
    assert (found.found_by, found.off_topic_steps, found.redirects) == (FoundBy.SITEMAP, 4, 5)
    assert msgspec.msgpack.encode([found]) == bytes(letter)
