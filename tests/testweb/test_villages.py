"""The villages served: what stands on their pages adds up to the links between sites that are known."""

import http.client
import re
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from itertools import combinations

import pytest

from analecta.errors import UsageError
from analecta.testweb.community_web import CommunityWeb, CommunityWebServer
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.process import ServerProcess
from analecta.testweb.webs import made_up
from tests.process import heed

HREF = re.compile(r'href="([^"]*)"')


@pytest.fixture(scope="module")
def web():
    return CommunityWebServer(300)


def reached(web, site):
    """All pages of a site that its front page leads to, with the addresses on each."""
    home, found, todo = web.home(site), {}, ["/"]
    while todo:
        path = todo.pop()
        body = web.answer(home.address.partition("//")[2], path, {}).body.decode()
        found[path] = HREF.findall(body)
        todo += [href for href in found[path] if href[0] == "/" and href not in found and href not in todo]
    return found


def test_links_of_all_pages_add_up_to_those_between_sites(web):
    for site in [0, 3, 70, web.villages.count + 1]:
        pages = reached(web, site).values()
        away = [re.match(r"http://(?:www\.)?([^/]+)", href)[1] for page in pages for href in page if href[0] != "/"]
        assert len(pages) >= 3
        assert Counter(away) == web.villages.links(site)


def test_a_page_has_no_address_twice_and_every_address_leads_to_a_page(web):
    for site in range(0, web.villages.count, 29):
        for page in reached(web, site).values():
            away = [href for href in page if href[0] != "/"]
            assert len(set(away)) == len(away)
            assert all(followed(web, href).status == 200 for href in away)


def followed(web, url):
    host, _, path = url.removeprefix("http://").partition("/")
    answer = web.answer(host, f"/{path}", {})
    if answer.status == 301:
        return followed(web, re.search(rb"Location: (.*)\r\n", answer.head)[1].decode())
    return answer


def test_a_site_is_at_home_with_www_or_without_and_the_other_leads_there(web):
    for site in (3, 4):
        host, www = web.home(site).host, f"www.{web.home(site).host}"
        statuses = [web.answer(name, "/", {}).status for name in (host, www)]
        assert statuses == ([301, 200] if web.home(site).www else [200, 301])
        assert followed(web, f"http://{host}/").body == followed(web, f"http://{www}/").body


def test_pages_of_a_community_are_about_the_same_and_no_two_are_alike(web):
    texts = [set(web.page(site, page).split()) for site in range(12) for page in range(2)]
    assert all(len(one & other) < 0.7 * len(one | other) for one, other in combinations(texts, 2))
    assert web.home(0).topic == web.home(5).topic != web.home(web.villages.villages[1][0]).topic


def test_what_is_not_there_is_not_found(web):
    assert web.answer("elsewhere.test", "/", {}).status == 404
    assert web.answer("s0.village-0.test", "/nothing-7.html", {}).status == 404
    assert web.answer("s0.village-0.test", "/nothing-99999999.html", {}).status == 404


def test_the_villages_are_served_over_http_and_list_themselves():
    with (
        ServerProcess("analecta.testweb.community_web:CommunityWebServer", {"sites": 200}) as server,
        closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection,
    ):
        connection.request("GET", "/", headers={"Host": "localhost"})
        rows = [line.split("\t") for line in connection.getresponse().read().decode().splitlines()]
        connection.request("GET", "/robots.txt", headers={"Host": "s0.village-0.test"})
        assert b"Disallow: /private/" in connection.getresponse().read()
    assert [url for url, _ in rows] == [f"http://{host}/" for host in CommunityWeb(200).truth]


def test_made_up_webs_have_names():
    assert isinstance(made_up("pocket:100"), PocketWeb)
    assert made_up("villages:200").villages.count == CommunityWeb(200).count
    assert made_up("pocket.warc.gz") is None
    with pytest.raises(UsageError, match="as in villages:1100"):
        made_up("villages:many")


def test_the_command_serves_a_made_up_web_until_ctrl_c():
    command = [sys.executable, "-m", "analecta", "replay", "villages:200", "--port", "0", "--search"]
    with subprocess.Popen(command, preexec_fn=heed, stdout=subprocess.PIPE, text=True) as child:
        port = int(re.search(r"of \d+ hosts served on 127.0.0.1:(\d+)", child.stdout.readline())[1])
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", "/", headers={"Host": "s0.village-0.test"})
            assert b"<h2>Elsewhere</h2>" in connection.getresponse().read()
            connection.request("GET", "/search?q=bees&format=json")
            assert b"results" in connection.getresponse().read()
        child.send_signal(signal.SIGINT)
        assert "connect_to" in child.stdout.read()
    assert child.returncode == 130
