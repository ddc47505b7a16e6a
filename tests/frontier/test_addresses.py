"""Hosts at one IP address share its limits: the best of them goes next, and the others stand nowhere meanwhile."""

from making import candidate, drained, pushed, shard_at

from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import IpLimits, Politeness

MANNERS = Politeness(1.0, 2, 0)


def at_one_address(shard, hosts, most=2, gap=0.5):
    """A frontier in which so many hosts are at one address, h0 the best; another host is elsewhere, and the worst."""
    frontier = Frontier(shard, MANNERS)
    frontier.addresses = IpLimits(most, gap, lambda host: "192.0.2.9" if host == "else" else "192.0.2.1", None)
    urls = [candidate(f"http://h{i}/", 0.9 - i / 2000) for i in range(hosts)]
    pushed(frontier, *urls, candidate("http://else/", 0.1))
    return frontier


def picked(frontier, now):
    """What is picked at a time, and leaves at once."""
    leases = frontier.pop(99, now)
    for lease in leases:
        frontier.sent(lease.id, lease.host, now)
    return leases


def test_f69_the_gap_runs_from_when_a_request_leaves_and_the_best_host_goes_next():
    with shard_at() as shard:
        frontier = at_one_address(shard, 3, most=0)
        assert [lease.host for lease in frontier.pop(9, 0.0)] == ["h0", "else"]
        assert frontier.pop(9, 5.0) == [], "the first has not left"
        frontier.sent(candidate("http://h0/").target.id, "h0", 5.0)
        assert (frontier.pop(9, 5.4), frontier.first_due(), frontier.next_host()) == ([], 5.5, "h1")
        assert [lease.host for lease in frontier.pop(9, 5.5)] == ["h1"]


def test_f69_no_more_are_under_way_than_an_address_may_have():
    with shard_at() as shard:
        frontier = at_one_address(shard, 4)
        first = picked(frontier, 0.0)[0]
        assert len(picked(frontier, 0.5)) == 1
        assert picked(frontier, 9.0) == []
        frontier.close(first, 9.0, lambda host: host.answered(9.0, MANNERS))
        assert [lease.host for lease in picked(frontier, 9.0)] == ["h2"]


def test_f69_hundreds_of_hosts_wait_at_their_address_and_go_in_order():
    with shard_at() as shard:
        frontier = at_one_address(shard, 300)
        order, now = [], 0.0
        while len(order) < 301:
            for lease in picked(frontier, now):
                order.append(lease.host)
                frontier.close(lease, now, lambda host, at=now: host.answered(at, MANNERS))
            assert len(frontier._waiting) + len(frontier._ready) <= 301
            now = frontier.first_due() or now
    assert order == ["h0", "else", *(f"h{i}" for i in range(1, 300))]
    assert now <= 301 * 0.5


def test_f69_a_host_whose_address_turns_out_to_be_busy_goes_back_and_waits_there():
    with shard_at() as shard:
        frontier = Frontier(shard, MANNERS)
        frontier.addresses = IpLimits(2, 0.5, lambda _: "", None)
        pushed(frontier, candidate("http://a/", 0.9), candidate("http://b/", 0.8))
        one, two = frontier.pop(9, 0.0)
        assert frontier.locate(one, "192.0.2.1", 0.0)
        assert not frontier.locate(two, "192.0.2.1", 0.0)
        frontier.close(two, 0.0, lambda host: host.dropped(0.0))
        frontier.requeue(two, "turn", asked=False)
        frontier.sent(one.id, "a", 0.1)
        assert (frontier.pop(9, 0.5), frontier.first_due()) == ([], 0.6)
        assert [lease.tries for lease in frontier.pop(9, 0.6)] == [1], "no try was counted"


def test_f69_a_host_that_is_given_up_does_not_keep_others_from_their_address():
    with shard_at() as shard:
        frontier = at_one_address(shard, 3)
        first = picked(frontier, 0.0)[0]
        frontier.close(first, 0.0, lambda host: host.dropped(0.0))
        frontier.pop(0, 0.5)
        frontier.give_up("h1", 3, "bad-host")
        assert [lease.host for now in (0.5, 1.5) for lease in picked(frontier, now)] == ["h2"]


def test_f69_where_nothing_is_limited_nothing_waits():
    with shard_at() as shard:
        frontier = at_one_address(shard, 5, most=0, gap=0.0)
        assert len(drained(frontier)) == 6
