"""The judge of `make soak`: what it makes of a log, and the web that it serves."""

import http.client
from collections import Counter
from contextlib import closing
from random import Random

import pytest
from generated import GeneratedWeb
from soak_checks import early, repeats, share
from soak_hosts import HONEST, HOSTILE, HostileWeb, articles_of, is_trap
from soak_web import Request, SoakServer


def asked(arrival: float, end: float, path: str = "/", how: str = "kept", slack: float = 0.0) -> Request:
    return Request(arrival, end, slack, "a.test", path, 200, how)


@pytest.mark.parametrize(
    ("second", "found"),
    [(asked(2.5, 2.6), (0, 0)), (asked(2.4, 2.6), (1, 0)), (asked(1.2, 2.6), (0, 0)), (asked(0.9, 2.6), (0, 1))],
    ids=["in time", "after the end", "while it is answered", "after the arrival"],
)
def test_a_request_is_early_after_an_answer_or_after_another_request(second, found):
    after_end, after_arrival = early({"a.test": [asked(0.0, 1.5), second]}, {}, 1.0)
    assert (len(after_end), after_arrival) == found


def test_the_delay_of_a_robots_txt_holds_after_it_was_read():
    requests = [asked(0.0, 0.0, "/robots.txt"), asked(1.0, 1.0), asked(2.0, 2.0), asked(5.0, 5.0)]
    assert len(early({"a.test": requests}, {"a.test": 3.0}, 1.0)[0]) == 1


def test_what_the_server_read_late_is_no_early_request():
    requests = [asked(0.05, 3.0, slack=0.05), asked(1.01, 3.0)]
    assert early({"a.test": requests}, {}, 1.0) == ([], 0)


def test_the_share_is_of_one_request_in_response_time_and_delay():
    every = [asked(t, t + 0.5) for t in (0.0, 1.5, 3.0, 4.5)]
    assert share(every, 1.0, 6.0) == pytest.approx(1.0)
    assert share(every[::2], 1.0, 6.0) == pytest.approx(0.5)


def test_the_same_url_within_a_second_is_told():
    requests = [asked(0.0, 0.1), asked(0.5, 0.6, "/b"), asked(0.9, 1.0), asked(2.0, 2.1)]
    assert repeats(requests) == ["a.test/ after 900 ms"]


def test_half_of_the_hosts_are_honest_and_all_kinds_of_others_are_there():
    kinds = Counter(host.kind for host in HostileWeb(300, 1, 1.0).hosts.values())
    assert kinds[HONEST] == 150
    assert set(kinds) == {HONEST, *HOSTILE}


def test_the_same_seed_gives_the_same_web():
    one, two, other = HostileWeb(60, 1, 1.0), HostileWeb(60, 1, 1.0), HostileWeb(60, 2, 1.0)
    assert one.hosts == two.hosts != other.hosts
    host = Random(1).choice([host for host in one.hosts.values() if host.kind == HONEST])
    assert one.answer(host.name, "/") == two.answer(host.name, "/")


def test_an_honest_site_leads_to_all_of_its_articles():
    web = HostileWeb(2, 1, 1.0)
    articles = articles_of(1, next(host for host in web.hosts.values() if host.kind == HONEST))
    linked = {articles.path(i) for n in range(articles.count) for i in range(8 * n + 1, 8 * n + 9)}
    assert {articles.path(n) for n in range(1, articles.count)} <= linked
    assert all(articles.find(articles.path(n)) == n for n in range(articles.count))
    assert not any(is_trap(HONEST, path) for path in linked)


def test_the_server_answers_by_host_and_notes_each_request(tmp_path):
    with SoakServer(60, 1, 1.0, tmp_path / "log") as server:
        host = next(host for host in server.web.hosts.values() if host.kind == "calendar")
        with closing(http.client.HTTPConnection(server.address, timeout=60)) as connection:
            for path in ("/robots.txt", "/", "/events/2024/05/", "/nowhere"):
                connection.request("GET", path, headers={"Host": host.name})
                connection.getresponse().read()
    noted = server.requests()
    assert [(one.path, one.status) for one in noted] == [
        ("/robots.txt", 200), ("/", 200), ("/events/2024/05/", 200), ("/nowhere", 404)
    ]  # fmt: skip
    assert {(one.host, one.how) for one in noted} == {(host.name, "kept")}
    assert all(one.arrival <= one.end for one in noted)


def test_a_generated_web_has_the_pages_that_it_links_to():
    web = GeneratedWeb(5000)
    assert web.answer("www.site-0.test", "/", {}).status == 200
    assert all(web.answer("www.site-3.test", web.sites[3].path(n), {}).status == 200 for n in (1, 8, 999))
    assert web.answer("www.site-3.test", "/no-5.html", {}).status == 404
