"""F76: search engines, feeds, OpenSearch descriptions and GROBID servers that are slow or lead to private places."""

import asyncio

import pytest

from analecta.errors import ResourceError, UsageError
from analecta.fetch.client import fetch_one
from analecta.fetch.guard import Guard
from analecta.settings.schema import FetchSettings, SearchSettings, Settings
from analecta.sources.create import public_only
from analecta.sources.engines.examples import find_examples
from analecta.sources.lists import feed_of
from analecta.sources.papers.grobid import ask_grobid
from analecta.sources.result import SourceResult
from tests.hostile import HostileServer, answer, drip, in_turn
from tests.sources.engines import samples

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: 100000\r\n\r\n"
# One header that never ends: of many headers, http.client bears a hundred and gives up by itself.
DRIPS = {"body": drip(b"<", 0.05, HEAD), "head": drip(b"y", 0.05, b"HTTP/1.1 200 OK\r\nX: ")}
PATIENT = FetchSettings(deadline=3600.0, first_byte_timeout=3600.0, connect_timeout=5.0)  # single limits do not help
PRIVATE = [
    "http://127.0.0.1:6379/",
    "http://localhost/admin",
    "http://printer.local/",
    "http://router/",
    "http://10.1.2.3/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://2130706433/",
    "http://0x7f.1/",
]


def items(urls):
    return "".join(f"<item><title>x</title><link>{url}</link></item>" for url in urls)


def rss(urls):
    return f"<rss version='2.0'><channel><title>Bees</title>{items(urls)}</channel></rss>".encode()


def search(url, queries=("bees",), fetch=FetchSettings(), **settings):
    settings = SearchSettings(pause=0.0, **settings)
    return find_examples(
        SourceResult(()), {"opensearch": url}, queries, settings=Settings(search=settings, fetch=fetch)
    )


@pytest.mark.parametrize("part", DRIPS)
def test_f76_an_engine_that_drips_is_given_up(part):
    with HostileServer(otherwise=DRIPS[part]) as server, pytest.raises(ResourceError, match=r"search\.deadline"):
        search(f"http://{server.address}/?q={{searchTerms}}", fetch=PATIENT, deadline=1.0)


def test_f76_the_time_of_an_engine_is_for_all_its_answers():
    async def slow(reader, writer):
        await asyncio.sleep(0.5)
        await answer(rss(["https://a.test/"]))(reader, writer)

    with HostileServer(otherwise=slow) as server:
        asked = [f"bees {n}" for n in range(30)]
        found, told = search(f"http://{server.address}/?q={{searchTerms}}", asked, PATIENT, deadline=2.5)
    assert any("search.deadline" in one for one in told)
    assert 1 <= len(server.asked) <= 7  # and no more after that
    assert found.topics[0].seeds == ("https://a.test/",)


@pytest.mark.parametrize("part", DRIPS)
def test_f76_a_feed_that_drips_is_given_up(part):
    with HostileServer(otherwise=DRIPS[part]) as server, pytest.raises(ResourceError, match="is too slow"):
        fetch_one(f"http://{server.address}/feed", fetch=PATIENT, seconds=1.0)


def test_f76_the_time_of_a_feed_is_for_all_its_redirects():
    async def slow(reader, writer):
        await asyncio.sleep(0.6)
        await answer(b"", "302 Found", location="/feed")(reader, writer)

    with HostileServer(otherwise=slow) as server, pytest.raises(ResourceError, match="is too slow"):
        fetch_one(f"http://{server.address}/feed", fetch=PATIENT, seconds=1.5)


@pytest.mark.parametrize("part", DRIPS)
def test_f76_a_grobid_server_that_drips_is_given_up(part):
    with HostileServer(otherwise=DRIPS[part]) as server, pytest.raises(ResourceError, match="is too slow"):
        ask_grobid(f"http://{server.address}", b"%PDF", seconds=1.0)


def test_f76_a_described_endpoint_on_another_port_of_this_machine_is_not_asked():
    with HostileServer(otherwise=answer(samples.RSS)) as other:
        description = answer(samples.description(f"http://{other.address}/?q={{searchTerms}}", "application/rss+xml"))
        with HostileServer({"/os.xml": description}) as server, pytest.raises(ResourceError, match="loopback"):
            search(f"http://{server.address}/os.xml")
        assert other.asked == []


def test_f76_a_described_endpoint_where_the_description_is_may_be_asked():
    with HostileServer(otherwise=answer(samples.RSS)) as other:
        own, away = (
            answer(samples.description(f"{at}/?q={{searchTerms}}", "application/rss+xml"))
            for at in ("", f"http://{other.address}")
        )
        with HostileServer({"/own.xml": own, "/away.xml": away}, answer(samples.RSS)) as server:
            found, _ = search(f"http://{server.address}/own.xml")
            with pytest.raises(ResourceError, match="loopback"):
                search(f"http://{server.address}/away.xml")
    assert found.topics[0].seeds[0] == samples.PAGES[0][0]


def test_f76_a_redirect_to_another_port_of_this_machine_is_not_followed():
    with HostileServer(otherwise=answer(rss(["https://a.test/"]))) as other:
        away = answer(b"", "302 Found", location=f"http://{other.address}/feed")
        with HostileServer(otherwise=away) as server, pytest.raises(ResourceError, match="guard"):
            fetch_one(f"http://{server.address}/feed")
        assert other.asked == []


def test_f76_private_addresses_in_answers_of_engines_are_left_out():
    with HostileServer(otherwise=in_turn(answer(rss([*PRIVATE, "https://a.test/"])))) as server:
        found, told = search(f"http://{server.address}/?q={{searchTerms}}", results=20)
    assert found.topics[0].seeds == ("https://a.test/",)
    assert any("private addresses" in one for one in told)


def test_f76_private_addresses_in_feeds_are_left_out():
    named = "http://127.0.0.1:8000/feed"
    feed = feed_of(rss([*PRIVATE, "https://a.test/", "http://127.0.0.1:8000/1"]), named, "Bees", named)
    found = public_only(feed, named, FetchSettings())
    assert found.topics[0].seeds == ("https://a.test/", "http://127.0.0.1:8000/1")
    assert len(found.skipped) == len(feed.topics[0].seeds) - 2
    with pytest.raises(UsageError, match="private"):
        public_only(feed_of(rss(PRIVATE), named, "Bees"), "https://b.test/feed", FetchSettings())


def test_networks_that_are_allowed_may_be_named_by_others():
    feed = feed_of(rss(["http://10.1.2.3/", "http://nas.local/"]), "x", "Bees")
    assert public_only(feed, "https://b.test/", FetchSettings(allow=("10.0.0.0/8",))).skipped == ()


@pytest.mark.parametrize(
    "host", ["example.org", "example.org:8080", "8.8.8.8", "[2606:4700::1111]:443", "local.example"]
)
def test_public_hosts_are_taken_up(host):
    assert Guard().host_refusal(host) is None
