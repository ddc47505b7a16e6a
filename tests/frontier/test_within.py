"""Where only some hosts are asked, the URLs of all others wait."""

from making import FREE, candidate, committed, drained, pushed, reopened, shard_at

from analecta.frontier.frontier import Frontier


def test_only_hosts_within_are_asked_and_others_wait_for_another_crawl(tmp_path):
    urls = [f"http://{host}/{n}" for host in ("a.test", "b.test", "c.test") for n in range(3)]
    with shard_at(tmp_path / "p.db") as shard:
        frontier = Frontier(shard, FREE, within=lambda host: host == "b.test")
        pushed(frontier, *map(candidate, urls))
        assert (len(frontier), frontier.count_above(-1)) == (3, 3)
        assert drained(frontier) == urls[3:6]
        assert (len(frontier), frontier.next_due(), sum(frontier.queued.values())) == (0, None, 6)
        committed(frontier, shard)
        assert sorted(drained(reopened(shard))) == urls[:3] + urls[6:]
