"""The frontier against a plain list: what is popped is the best of all that may be asked, at every step."""

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from making import FREE, candidate, committed, drained, pushed, reopened, shard_at, states, target

from analecta.frontier.frontier import Frontier, FrontierLimits
from analecta.frontier.hosts import MAX_WAIT, Politeness
from analecta.model import UrlState

HOSTS = ("a.one", "b.one", "c.two", "d.two", "e.three")
PRIORITIES = (0.1, 0.5, 0.5, 0.9, 1.0)
QUICK = settings(max_examples=120, stateful_step_count=50, deadline=None)


def domain(host):
    return host.partition(".")[2]


class Url:
    """A URL as the model knows it; one that was raised or came back has no fixed place among its equals."""

    def __init__(self, id, host, priority, topic, n):
        self.id, self.host, self.priority, self.topic, self.n = id, host, priority, topic, n
        self.loose = False
        self.state = UrlState.QUEUED


class ModelHost:
    """When a host may be asked, from the history of what was asked of it."""

    def __init__(self, parallel):
        self.parallel, self.in_flight, self.good, self.strikes = parallel, 0, 0, 0
        self.not_before = self.struck = 0.0
        self.bad = self.held = False
        self.unsent = self.refusals = 0
        self.fate = UrlState.FAILED


class FrontierAgainstList(RuleBasedStateMachine):
    """Random pushes, pops, ends, raises and returns, with so little memory that URLs go cold all the time."""

    @initialize(
        hot=st.sampled_from((1, 4, 8, 20)),
        delay=st.sampled_from((0, 1, 3)),
        parallel=st.sampled_from((1, 2, 4)),
        per_domain=st.sampled_from((0, 1, 2)),
        spread=st.integers(0, 1),
    )
    def begin(self, hot, delay, parallel, per_domain, spread):
        self.manners = Politeness(delay, parallel, per_domain, 3, 2.0, 0.0)
        self.spread = spread
        self.cm = shard_at()
        self.shard = self.cm.__enter__()
        self.frontier = Frontier(
            self.shard, self.manners, FrontierLimits(hot=hot, spread=self.spread), domain_of=domain
        )
        self.urls, self.flights, self.picks, self.unsent = {}, [], [], set()
        self.hosts = {name: ModelHost(parallel) for name in HOSTS}
        self.now = 0.0

    def teardown(self):
        if hasattr(self, "cm"):
            self.cm.__exit__(None, None, None)

    # --- the model -------------------------------------------------------------------------------------------------

    def may_be_asked(self, name):
        host = self.hosts[name]
        shared = sum(self.hosts[other].in_flight for other in HOSTS if domain(other) == domain(name))
        full = 0 < self.manners.per_domain <= shared
        waits = self.manners.delay and host.unsent
        return (
            not (host.bad or host.held or full or waits)
            and host.in_flight < host.parallel
            and host.not_before <= self.now
        )

    def choice(self):
        """All URLs that may be asked for now, of hosts that were not picked lately if there are such."""
        able = [u for u in self.urls.values() if u.state == UrlState.QUEUED and self.may_be_asked(u.host)]
        lately = self.picks[-self.spread :] if self.spread else []
        return [u for u in able if u.host not in lately] or able

    def check_pick(self, lease):
        able = self.choice()
        assert able, f"{lease.url} was given though no host may be asked"
        picked = self.urls[lease.id]
        best = max(url.priority for url in able)
        assert picked in able, f"{lease.url} was given though its host may not be asked"
        assert picked.priority == best, f"{picked.priority} was given, {best} was there"
        firm = [url.n for url in able if url.priority == best and not url.loose]
        assert picked.loose or picked.n == min(firm), "the one found first comes first among equals"

    def started(self, lease):
        url, host = self.urls[lease.id], self.hosts[lease.host]
        url.state = UrlState.LEASED
        host.in_flight += 1
        host.unsent += 1
        self.unsent.add(lease.id)
        self.picks.append(lease.host)
        self.flights.append(lease)

    # --- what happens ----------------------------------------------------------------------------------------------

    @rule(
        batch=st.lists(st.tuples(st.sampled_from(HOSTS), st.sampled_from(PRIORITIES), st.integers(0, 1)), max_size=12)
    )
    def push(self, batch):
        first = len(self.urls)
        found = [candidate(f"http://{h}/{first + i}", p, topic) for i, (h, p, topic) in enumerate(batch)]
        assert self.frontier.fresh([c.target.id for c in found]) == list(range(len(found)))
        for n, (one, (host, priority, topic)) in enumerate(zip(found, batch, strict=True), first):
            url = self.urls[one.target.id] = Url(one.target.id, host, priority, topic, n)
            url.state = self.hosts[host].fate if self.hosts[host].bad else UrlState.QUEUED
        self.frontier.push(found)

    @rule(count=st.integers(1, 6))
    def pop(self, count):
        leases = self.frontier.pop(count, self.now)
        for lease in leases:
            self.check_pick(lease)
            self.started(lease)
        assert len(leases) == count or not self.choice(), "something could still be asked"

    @rule(seconds=st.sampled_from((0.5, 1.0, 2.0, 5.0)))
    def wait(self, seconds):
        self.now += seconds

    @precondition(lambda self: self.flights)
    @rule(which=st.integers(0, 9))
    def leave(self, which):
        """A request that was picked leaves: the delay runs from here."""
        lease = self.flights[which % len(self.flights)]
        self.frontier.sent(lease.id, lease.host, self.now)
        if lease.id in self.unsent:
            self.left(lease)

    def left(self, lease):
        host = self.hosts[lease.host]
        self.unsent.discard(lease.id)
        host.unsent -= 1
        host.not_before = max(host.not_before, self.now + self.manners.delay)

    @precondition(lambda self: self.flights)
    @rule(
        which=st.integers(0, 9),
        how=st.sampled_from(("answered", "pressed", "failed", "dropped")),
        again=st.sampled_from((0.0, 0.5, 1.0)),
    )
    def end(self, which, how, again):
        """A fetch is over; its URL may come back, worth so much of what it was."""
        lease = self.flights.pop(which % len(self.flights))
        host, url, now = self.hosts[lease.host], self.urls[lease.id], self.now
        self.frontier.close(lease, now, self.manner(how, now))
        host.in_flight -= 1
        host.held = False
        if how != "dropped" or lease.id not in self.unsent:  # one that never left costs no turn
            host.not_before = max(host.not_before, now + self.manners.delay)
        host.unsent -= lease.id in self.unsent
        self.unsent.discard(lease.id)
        self.learn(host, how)
        if again:
            lease.priority *= again
            self.frontier.requeue(lease, "again")
            url.priority, url.loose = lease.priority, True
        else:
            self.shard.settle(lease.id, UrlState.DONE)
        url.state = UrlState.QUEUED if again else UrlState.DONE
        if host.bad:
            self.settle_all(lease.host)

    def manner(self, how, now):
        """The call that the harvest makes for each way in which a fetch may end."""
        return {
            "answered": lambda host: host.answered(now, self.manners),
            "pressed": lambda host: host.pressed(now, self.manners, 4.0),
            "failed": lambda host: host.failed(now, self.manners),
            "dropped": lambda host: host.dropped(now),
        }[how]

    def learn(self, host, how):
        if how == "answered":
            host.strikes, host.refusals, host.good = 0, 0, host.good + 1
            if host.good >= 10 and host.parallel < self.manners.parallel:
                host.parallel, host.good = host.parallel + 1, 0
        elif how == "pressed":
            host.parallel, host.good = max(1, host.parallel // 2), 0
            wait = 4.0
            if self.now >= host.struck:
                host.refusals += 1
                wait = max(4.0, 2.0 * 2 ** (host.refusals - 2)) if host.refusals > 1 else 4.0
                host.struck = self.now + wait
            host.not_before = max(host.not_before, self.now + wait)
            host.bad = host.bad or host.strikes + host.refusals >= 3
        elif how == "failed":
            host.good = 0
            if self.now >= host.struck:  # what was asked before that is the same trouble
                host.strikes += 1
                host.struck = self.now + 2.0 * 2 ** (host.strikes - 1)
                host.not_before = max(host.not_before, host.struck)
                host.bad = host.bad or host.strikes + host.refusals >= 3

    def settle_all(self, name):
        for url in self.urls.values():
            if url.host == name and url.state == UrlState.QUEUED:
                url.state = self.hosts[name].fate

    def cold(self):
        return {id for (id,) in self.shard.db.execute("SELECT id FROM urls WHERE cold = 1")}

    @precondition(lambda self: self.urls)
    @rule(which=st.lists(st.integers(0, 200), min_size=1, max_size=6), priority=st.sampled_from((0.1, 0.25, 0.5, 0.9)))
    def rescore(self, which, priority):
        """Hot URLs get another worth, better or not."""
        urls, cold = list(self.urls.values()), self.cold()
        chosen = [url for i in which if (url := urls[i % len(urls)]).state == UrlState.QUEUED and url.id not in cold]
        self.frontier.rescore({url.id: priority for url in chosen})
        for url in chosen:
            url.priority, url.loose = priority, True

    @precondition(lambda self: self.urls)
    @rule(which=st.lists(st.integers(0, 200), min_size=1, max_size=3), priority=st.sampled_from((0.5, 0.9, 1.0)))
    def raise_some(self, which, priority):
        """Hot URLs are raised; of cold ones nothing is known in memory, and they stay as they are."""
        urls = list(self.urls.values())
        chosen = [urls[i % len(urls)] for i in which]
        self.frontier.raise_priority([target(f"http://{u.host}/{u.n}") for u in chosen], priority)
        cold, hot = self.cold(), {id: priority for priority, id in self.frontier.priorities()}
        for url in chosen:
            if url.state != UrlState.QUEUED or url.id in cold:
                continue
            if url.priority < priority:
                url.priority, url.loose = priority, True
            assert hot[url.id] == url.priority, "a priority changes where the URL is hot and it gets better"

    @precondition(lambda self: any(self.hosts[lease.host].in_flight == 1 for lease in self.flights))
    @rule(which=st.integers(0, 9))
    def hold(self, which):
        alone = [lease.host for lease in self.flights if self.hosts[lease.host].in_flight == 1]
        name = alone[which % len(alone)]
        self.frontier.hold(name)
        self.hosts[name].held = True

    @rule(
        name=st.sampled_from(HOSTS[3:]),
        sure=st.integers(0, 9),
        fate=st.sampled_from((UrlState.FAILED, UrlState.REFUSED)),
    )
    def give_up(self, name, sure, fate):
        """What a host is given up for first is what becomes of its URLs."""
        if sure:
            return
        self.frontier.give_up(name, fate, "no-such-host")
        host = self.hosts[name]
        host.fate = host.fate if host.bad else fate
        host.bad = True
        self.settle_all(name)

    # --- what is always true ---------------------------------------------------------------------------------------

    @invariant()
    def every_url_is_in_one_state(self):
        if hasattr(self, "urls"):
            assert states(self.shard) == {url.id: int(url.state) for url in self.urls.values()}

    @invariant()
    def the_length_counts_what_is_queued(self):
        if hasattr(self, "urls"):
            queued = Counter(url.topic for url in self.urls.values() if url.state == UrlState.QUEUED)
            assert len(self.frontier) == queued.total()
            assert self.frontier.queued == queued

    @invariant()
    def nothing_able_is_due_in_the_past(self):
        """Where something waits for time alone, `next_due` says until when: the engine sleeps so long."""
        if not hasattr(self, "urls") or self.choice():
            return
        waiting = [self.hosts[u.host] for u in self.urls.values() if u.state == UrlState.QUEUED]
        free = [
            h
            for h in waiting
            if not (h.bad or h.held or (self.manners.delay and h.unsent))
            and h.in_flight < h.parallel
            and h.not_before > self.now
        ]
        due = self.frontier.next_due()
        if free:
            assert due is not None
            assert due <= min(host.not_before for host in free)


def test_what_is_popped_is_the_best_that_may_be_asked():
    run_state_machine_as_test(FrontierAgainstList, settings=QUICK)


SPREAD_ACTS = st.lists(st.none() | st.tuples(st.sampled_from("abcdef"), st.integers(1, 9)), max_size=60)
HIDDEN = [("a", 9), ("b", 8), ("a", 7), ("b", 4), None, None, None, ("c", 8), None, ("d", 7), None, ("e", 1), None]


@settings(max_examples=100, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(acts=SPREAD_ACTS, spread=st.integers(1, 4), hot=st.sampled_from((2, 1000)))
@example(acts=HIDDEN, spread=3, hot=1000)
def test_p5_what_is_popped_is_the_best_of_hosts_not_picked_lately(acts, spread, hot):
    waiting, picks = [], []
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(spread=spread, hot=hot))
        for i, act in enumerate(acts):
            if act is not None:
                pushed(frontier, candidate(f"http://{act[0]}/{i}", act[1] / 10))
                waiting.append((-act[1], i, act[0]))
                continue
            able = [url for url in waiting if url[2] not in picks[-spread:]] or waiting
            wanted = [f"http://{host}/{n}" for _, n, host in sorted(able)[:1]]
            assert [lease.url for lease in frontier.pop(1, 0.0)] == wanted
            if able:
                chosen = min(able)
                waiting.remove(chosen)
                picks.append(chosen[2])


def test_p5_a_host_that_has_rested_comes_before_a_worse_one():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(spread=3))
        pushed(frontier, *(candidate(f"http://{url}", p) for url, p in
                           [("a/1", 1.0), ("b/1", 0.9), ("a/2", 0.8), ("b/2", 0.5)]))  # fmt: skip
        assert [lease.host for lease in frontier.pop(3, 0.0)] == ["a", "b", "a"]
        pushed(frontier, candidate("http://c/", 0.9), candidate("http://d/", 0.8), candidate("http://e/", 0.1))
        assert [lease.host for lease in frontier.pop(4, 0.0)] == ["c", "d", "b", "e"]


def test_p5_consecutive_picks_come_from_as_many_hosts_where_possible():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(spread=3))
        pushed(frontier, *(candidate(f"http://{host}/{i}", 1 - i / 10) for host in "abcd" for i in range(5)))
        hosts = [url[7] for url in drained(frontier)]
    assert len(hosts) == 20
    assert all(len(set(hosts[i : i + 4])) == 4 for i in range(17))


def test_p5_where_only_resting_hosts_are_left_the_best_of_them_is_asked():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(spread=5))
        pushed(frontier, candidate("http://a/1", 0.9), candidate("http://a/2", 0.8), candidate("http://b/1", 0.5))
        assert drained(frontier) == ["http://a/1", "http://b/1", "http://a/2"]


def test_p5_a_url_below_the_floor_does_not_hide_a_resting_host_above_it():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(spread=1))
        pushed(frontier, candidate("http://a/1", 9.0), candidate("http://a/2", 9.0), candidate("http://b/", 0.1))
        assert [lease.url for lease in frontier.pop(5, 0.0, floor=5.0)] == ["http://a/1", "http://a/2"]


def test_p5_a_resting_host_that_must_be_waited_for_is_known_to_be_due():
    """Else a crawl whose hosts all ask for patience would never end."""
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(spread=3))
        pushed(frontier, candidate("http://a/1"), candidate("http://a/2"))
        (one,) = frontier.pop(1, 0.0)
        frontier.close(one, 1.0, lambda host: host.pressed(1.0, FREE, 3600.0))
        assert (frontier.next_due(), frontier.next_host()) == (3601.0, "a")
        assert len(frontier.pop(9, 3601.0)) == 1


def test_nothing_below_the_floor_is_given_and_nothing_is_lost_by_it():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE)
        pushed(frontier, candidate("http://a/1", 9.0), candidate("http://a/2", 0.1), candidate("http://b/", 0.2))
        assert [lease.url for lease in frontier.pop(5, 0.0, floor=5.0)] == ["http://a/1"]
        assert [lease.url for lease in frontier.pop(5, 0.0)] == ["http://b/", "http://a/2"]


def test_a_returned_url_comes_before_equals_that_were_found_later():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(hot=4))
        pushed(frontier, *(candidate(f"http://a/{i}") for i in range(6)))
        first = frontier.pop(1, 0.0)[0]
        frontier.close(first, 0.0, lambda host: host.dropped(0.0))
        frontier.requeue(first, "again")
        assert [lease.url for lease in frontier.pop(2, 0.0)] == ["http://a/0", "http://a/1"]


def test_a_returned_url_does_not_come_before_better_ones_that_went_cold_meanwhile():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(hot=4))
        pushed(frontier, candidate("http://a/0", 0.1))
        first = frontier.pop(1, 0.0)[0]
        pushed(frontier, *(candidate(f"http://a/{i}", 0.9) for i in range(1, 9)))
        frontier.close(first, 0.0, lambda host: host.dropped(0.0))
        frontier.requeue(first, "again")
        assert drained(frontier) == [f"http://a/{i}" for i in (*range(1, 9), 0)]


def test_a_raised_url_comes_before_what_was_better_than_it():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE)
        pushed(frontier, candidate("http://a/1", 0.9), candidate("http://a/2", 0.1), candidate("http://b/", 0.5))
        frontier.raise_priority([target("http://a/2"), target("http://a/1")], 0.95)
        frontier.raise_priority([target("http://b/")], 0.2)
        assert sorted(drained(frontier)[:2]) == ["http://a/1", "http://a/2"]


def test_a_url_that_went_up_and_came_back_is_valued_anew_once():
    """It stands twice in the heap of its host, and goes cold."""
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(hot=4))
        pushed(frontier, candidate("http://a/0", 0.5), candidate("http://a/1", 0.7),
               *(candidate(f"http://a/{i}", 0.4) for i in range(2, 8)))  # fmt: skip
        frontier.raise_priority([target("http://a/0")], 1.0)
        (one,) = frontier.pop(1, 0.0)
        frontier.close(one, 0.0, lambda host: host.dropped(0.0))
        one.priority = 0.5
        frontier.requeue(one, "http-500")
        frontier.rescore({target("http://a/0").id: 0.1})
        assert drained(frontier) == [f"http://a/{i}" for i in (1, *range(2, 8), 0)]


# --- the cap ---------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(HOSTS), st.integers(0, 9)), max_size=60), st.sampled_from((2, 5, 100)))
def test_the_cap_keeps_the_best(found, hot):
    """A queue may outgrow its cap by a tenth, then all but the best go."""
    model = []
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(hot=hot, cap=10))
        for i, (host, tenth) in enumerate(found):
            pushed(frontier, candidate(f"http://{host}/{i}", tenth / 10))
            model = sorted([*model, (-tenth, i)])
            model = model[:10] if len(model) > 11 else model
            assert len(frontier) == len(model)
        assert [int(url.rpartition("/")[2]) for url in drained(frontier)] == [i for _, i in model]


def test_the_cap_counts_each_topic_by_itself_and_says_why():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(cap=2))
        pushed(frontier, *(candidate(f"http://a/{i}", 0.1 * i, topic=i % 2) for i in range(10)))
        assert drained(frontier) == [f"http://a/{i}" for i in (9, 8, 7, 6)]
        refused = shard.db.execute("SELECT DISTINCT state, reason FROM urls WHERE state != 2").fetchall()
    assert refused == [(UrlState.REFUSED, "queue-full")]


# --- giving hosts up -------------------------------------------------------------------------------------------------


def test_what_is_queued_for_a_host_that_fails_too_often_is_settled():
    manners = Politeness(0.0, 2, 0, strikes=1, patience=0.0)
    with shard_at() as shard:
        frontier = Frontier(shard, manners, FrontierLimits(hot=2))
        pushed(frontier, *(candidate(f"http://a/{i}") for i in range(9)), candidate("http://b/", 0.1))
        one = frontier.pop(1, 0.0)[0]
        frontier.close(one, 0.0, lambda host: host.failed(0.0, manners))
        frontier.requeue(one, "timeout")
        pushed(frontier, candidate("http://a/late"))
        rows = shard.db.execute("SELECT state, reason, count(*) FROM urls GROUP BY 1, 2").fetchall()
        assert rows == [(UrlState.QUEUED, None, 1), (UrlState.FAILED, "bad-host", 10)]
        assert len(frontier) == 1
        assert drained(frontier, 99.0) == ["http://b/"]


def test_what_is_found_later_on_a_given_up_host_gets_the_same_reason():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE)
        pushed(frontier, candidate("http://a/1"))
        frontier.give_up("a", UrlState.REFUSED, "host-full")
        pushed(frontier, candidate("http://a/2"))
        assert shard.db.execute("SELECT DISTINCT state, reason FROM urls").fetchall() == [
            (UrlState.REFUSED, "host-full")
        ]


def test_a_full_host_stays_full_when_another_of_its_fetches_ends():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE)
        pushed(frontier, *(candidate(f"http://a/{i}") for i in range(3)))
        one, other = frontier.pop(2, 0.0)
        frontier.close(one, 0.0, lambda host: host.answered(0.0, FREE))
        frontier.give_up("a", UrlState.REFUSED, "host-full")
        frontier.close(other, 0.0, lambda host: host.answered(0.0, FREE))
        pushed(frontier, candidate("http://a/late"))
        rows = shard.db.execute("SELECT state, reason, count(*) FROM urls GROUP BY 1, 2").fetchall()
    assert rows == [(UrlState.LEASED, None, 2), (UrlState.REFUSED, "host-full", 2)]


def test_what_is_settled_unasked_is_counted():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, FrontierLimits(cap=2))
        pushed(frontier, *(candidate(f"http://a/{i}") for i in range(5)))
        frontier.give_up("a", UrlState.FAILED, "bad-host")
        pushed(frontier, candidate("http://a/late"))
        rows = shard.db.execute("SELECT state, reason, count(*) FROM urls GROUP BY 1, 2").fetchall()
    assert rows == [(UrlState.FAILED, "bad-host", 3), (UrlState.REFUSED, "queue-full", 3)]
    assert frontier.settled == {(state, reason): count for state, reason, count in rows}


def test_no_more_of_a_host_is_under_way_than_may_still_be_kept():
    left = {"a": 2, "b": 0}
    with shard_at() as shard:
        frontier = Frontier(shard, FREE, left=left.__getitem__)
        pushed(frontier, *(candidate(f"http://{host}/{i}") for host in "ab" for i in range(9)))
        one, *_ = leases = frontier.pop(9, 0.0)
        assert [lease.host for lease in leases] == ["a", "a", "b"], "one is always asked, for it may be no new page"
        frontier.close(one, 0.0, lambda host: host.answered(0.0, FREE))
        left["a"] = 1
        assert frontier.pop(9, 0.0) == []
        frontier.close(leases[1], 0.0, lambda host: host.answered(0.0, FREE))
        assert [lease.host for lease in frontier.pop(9, 0.0)] == ["a"]


def test_hosts_of_one_domain_share_its_limit():
    manners = Politeness(0.0, 4, per_domain=2)
    with shard_at() as shard:
        frontier = Frontier(shard, manners, domain_of=domain)
        pushed(frontier, *(candidate(f"http://{h}.one/{i}", 0.9) for h in "abc" for i in range(2)))
        pushed(frontier, candidate("http://x.two/", 0.1))
        leases = frontier.pop(9, 0.0)
        assert [lease.host for lease in leases] == ["a.one", "a.one", "x.two"]
        frontier.close(leases[0], 0.0, lambda host: host.answered(0.0, manners))
        assert [lease.host for lease in frontier.pop(9, 0.0)] == ["b.one"]


# --- taking up again -------------------------------------------------------------------------------------------------

ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.sampled_from(HOSTS), st.sampled_from(PRIORITIES)),
        st.tuples(st.just("pop"), st.integers(1, 3), st.booleans()),
    ),
    max_size=50,
)


def act(frontier, acts):
    """Do what hypothesis thought of; of what is popped some is returned, some done, the rest still under way."""
    for i, (kind, first, second) in enumerate(acts):
        if kind == "push":
            pushed(frontier, candidate(f"http://{first}/{i}", second, topic=i % 2))
            continue
        for one in frontier.pop(first, 0.0)[: 2 if second else 1]:
            frontier.close(one, 0.0, lambda host: host.dropped(0.0))
            frontier.ledger.settle(one.id, UrlState.DONE)


@settings(max_examples=40, deadline=None)
@given(ACTS, st.sampled_from((2, 6, 1000)))
def test_a_restored_frontier_gives_the_order_of_the_old_one(acts, hot):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.db"
        with shard_at(path) as shard:
            frontier = Frontier(shard, FREE, FrontierLimits(hot=hot))
            act(frontier, acts)
            committed(frontier, shard)
            leased = {url for (url,) in shard.db.execute("SELECT url FROM urls WHERE state = 1")}
            old = drained(frontier)
        with shard_at(path) as shard:
            again = reopened(shard, limits=FrontierLimits(hot=hot))
            assert len(again) == len(old) + len(leased)
            new = drained(again)
    assert [url for url in new if url not in leased] == old
    assert leased <= set(new)


def test_a_restored_frontier_keeps_the_order_of_raised_urls(tmp_path):
    with shard_at(tmp_path / "p.db") as shard:
        frontier = Frontier(shard, FREE)
        pushed(frontier, *(candidate(f"http://a/{i}", 0.1 if i == 0 else 0.9) for i in range(3)))
        frontier.raise_priority([target("http://a/0")], 0.9)
        committed(frontier, shard)
        old = drained(frontier)
    with shard_at(tmp_path / "p.db") as shard:
        assert drained(reopened(shard)) == old


def test_what_was_seen_stays_seen_after_a_restart(tmp_path):
    with shard_at(tmp_path / "p.db") as shard:
        frontier = Frontier(shard, FREE)
        pushed(frontier, candidate("http://a/"))
        frontier.refuse([(candidate("http://b/"), "scope-host")])
        committed(frontier, shard)
    with shard_at(tmp_path / "p.db") as shard:
        ids = [target(url).id for url in ("http://a/", "http://b/", "http://c/")]
        assert reopened(shard).fresh(ids) == [2]


def test_a_link_that_nobody_let_us_follow_is_redeemed_by_one_that_may_be():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE)
        frontier.refuse([(found, "nofollow") for found in frontier.unwelcome([candidate("http://a/")])])
        pushed(frontier, candidate("http://a/", 0.7))
        assert shard.db.execute("SELECT state, reason, priority FROM urls").fetchall() == [(UrlState.QUEUED, None, 0.7)]
        assert drained(frontier) == ["http://a/"]


def test_f01_a_link_refused_as_nofollow_can_still_be_redeemed_after_a_restart(tmp_path):
    with shard_at(tmp_path / "p.db") as shard:
        frontier = Frontier(shard, FREE)
        frontier.refuse([(found, "nofollow") for found in frontier.unwelcome([candidate("http://a/")])])
        committed(frontier, shard)
    with shard_at(tmp_path / "p.db") as shard:
        assert reopened(shard).fresh([target("http://a/").id]) == [0]


@pytest.fixture
def left(tmp_path):
    """The file of a frontier that was stopped with a URL on each of two hosts."""
    with shard_at(tmp_path / "p.db") as shard:
        frontier = Frontier(shard, FREE)
        pushed(frontier, candidate("http://a/", 0.9), candidate("http://b/", 0.1))
        shard.hosts.set_wait("a", 5000.0)
        committed(frontier, shard)
    return tmp_path / "p.db"


def test_f22_a_host_that_asked_us_to_wait_is_waited_for_after_a_restart(left):
    with shard_at(left) as shard:
        frontier = reopened(shard, wall=4000.0)
        assert [lease.host for lease in frontier.pop(2, 999.0)] == ["b"]
        assert [lease.host for lease in frontier.pop(2, 1000.0)] == ["a"]


@pytest.mark.parametrize(("wall", "due"), [(9000.0, None), (-1e9, MAX_WAIT)])
def test_f07_a_wait_that_was_kept_is_within_reason_whatever_the_clock_says_now(left, wall, due):
    with shard_at(left) as shard:
        frontier = reopened(shard, wall=wall)
        assert frontier.next_due() == due
        assert [lease.host for lease in frontier.pop(9, 0.0)] == (["b"] if due else ["a", "b"])


def test_a_crawl_delay_outlives_a_restart(left):
    with shard_at(left) as shard:
        shard.hosts.set_delay("b", 7.0)
        shard.commit()
    with shard_at(left) as shard:
        assert reopened(shard).hosts["b"].delay == 7.0


def test_f01_after_a_restart_every_host_is_given_its_delay_first(left):
    """It may have been asked a moment before the kill."""
    with shard_at(left) as shard:
        frontier = reopened(shard, Politeness(5.0), wall=9000.0)
        assert frontier.pop(9, 4.9) == []
        assert len(frontier.pop(9, 5.0)) == 2


def test_hosts_about_which_there_is_nothing_to_remember_are_forgotten():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE)
        for some in (9_999, 2):
            pushed(frontier, *(candidate(f"http://h{some}-{i}/") for i in range(some)))
            assert len(drained(frontier, float(some))) == some
        assert len(frontier.hosts) < 10
        assert len(frontier.domains) == len(frontier.hosts), "domains go with their last host"


def test_count_above_counts_what_waits():
    with shard_at() as shard:
        frontier = Frontier(shard, FREE)
        pushed(frontier, *(candidate(f"http://a/{i}", i / 10) for i in range(10)))
        assert frontier.count_above(0.7) == 3
        frontier.pop(1, 0.0)
        assert frontier.count_above(0.7) == 2


def test_what_waits_is_valued_anew_and_seeds_keep_their_place(tmp_path):
    with shard_at(tmp_path / "p.db") as shard:
        frontier = Frontier(shard, FREE)
        pushed(frontier, candidate("http://a/1", 0.9), candidate("http://b/2", 0.1), candidate("http://c/3", 1e6))
        frontier.rescore({target("http://a/1").id: 0.2, target("http://b/2").id: 0.8, target("http://c/3").id: 0.0})
        leases = frontier.pop(3, 0.0)
    assert [lease.url for lease in leases] == ["http://c/3", "http://b/2", "http://a/1"]
    assert [lease.priority for lease in leases] == [1e6, 0.8, 0.2]
