"""Whole crawls that learn before they harvest, and that leave topics which are full."""

import msgspec
import pytest

from analecta.crawl.build import domain_of
from analecta.crawl.run import Crawl
from analecta.errors import UsageError
from analecta.frontier.policy import CrawlPhase
from analecta.settings.edit import first_settings
from analecta.settings.load import load
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder
from analecta.testweb.process import PocketServer
from analecta.urls import canonical


@pytest.fixture(scope="module")
def web():
    with PocketServer(500, moody=False) as server:
        yield server


def library_at(folder, web, topics=2, recipe="bingo"):
    chosen = [Topic(name, tuple(web.web.seeds(name, 3))) for name in web.web.topics[:topics]]
    return LibraryFolder.create(folder, first_settings(chosen, recipe))


def crawled(library, web, pages, workers=1, **asked):
    layer = {"fetch": {"connect_to": web.address}, "stop": {"pages": pages, "idle": 1.0}, "crawl": {"workers": workers}}
    crawl = Crawl(library, load(library.settings_path, layer | asked))
    crawl.run()
    return [note for _, note in library.notes()]


def strangers(library):
    """How many of the pages kept are on a domain that is not a seed's, and how many there are."""
    settings = load(library.settings_path)
    own = {domain_of(canonical(url).host) for topic in settings.topics for url in topic.seeds}
    with library.shards() as shards:
        query = "SELECT h.name FROM pages p JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host"
        hosts = [name for shard in shards for (name,) in shard.execute(query)]
    return sum(domain_of(host) not in own for host in hosts), len(hosts)


def course_of(library):
    """By which course what waits in the first partition was valued last."""
    with library.shards() as shards:
        course = shards[0].execute("SELECT value FROM meta WHERE key = 'course'").fetchone()[0]
    return msgspec.msgpack.decode(course, type=CrawlPhase)


@pytest.mark.parametrize("workers", [1, 2])
def test_b10_a_crawl_learns_near_its_seeds_and_then_goes_beyond(tmp_path, web, workers):
    library = library_at(tmp_path / "lib", web)
    learning = {"learning": {"pages": 40}, "learn": {"every": 20}}
    assert crawled(library, web, 30, workers, **learning) == []
    assert strangers(library) == (0, 30)
    assert crawled(library, web, 100, workers, **learning) == ["the harvest began, after 40 pages"]
    assert strangers(library)[0] > 20


def test_b10_a_crawl_that_is_ended_in_the_harvest_goes_on_there(tmp_path, web):
    library = library_at(tmp_path / "lib", web)
    learning = {"learning": {"pages": 20}, "learn": {"every": 0}}
    assert len(crawled(library, web, 40, **learning)) == 1
    assert course_of(library) == CrawlPhase(), "what waits was valued by that"
    before, _ = strangers(library)
    assert len(crawled(library, web, 40, **learning)) == 1, "it does not begin again"
    assert strangers(library)[0] > before


def test_b10_the_same_web_and_seed_give_the_same_phases(tmp_path, web):
    found = []
    for name in ("one", "two"):
        library = library_at(tmp_path / name, web)
        asked = {"learning": {"pages": 30}, "policy": {"adjust": True}, "crawl": {"workers": 1, "ordered": True}}
        crawled(library, web, 120, **asked)
        with library.shards() as shards:
            found.append(shards[0].execute("SELECT id FROM pages ORDER BY seq").fetchall())
    assert found[0] == found[1]
    assert len(found[0]) == 120


def test_s7_a_full_topic_is_left_and_the_others_go_on(tmp_path, web):
    library = library_at(tmp_path / "lib", web, topics=4, recipe="adaptive")
    stop = {"pages": 150, "per_topic": 12, "retire": True, "idle": 1.0}
    notes = crawled(library, web, 0, stop=stop, crawl={"workers": 1, "ordered": True})
    left = [note.partition(" has ")[0] for note in notes if note.endswith("has 12 pages and is left at that")]
    assert left
    assert {library.topic_names()[topic] for topic in course_of(library).retired} <= {*left}
    assert course_of(library).retired


@pytest.mark.parametrize("asked", [{"learning": {"pages": 9}}, {"policy": {"off_site": "first"}},
                                   {"policy": {"one_entry": True}}, {"learning": {"kind": "no"}}])  # fmt: skip
def test_what_does_not_go_together_is_said_before_anything_is_fetched(tmp_path, web, asked):
    library = library_at(tmp_path / "lib", web, recipe="adaptive")
    with pytest.raises(UsageError, match=r"policy\.off_site|learning\.kind"):
        crawled(library, web, 5, **asked)


def hosts_of(folder, web, **policy):
    """How many hosts a crawl of 80 pages comes to."""
    library = library_at(folder, web, recipe="panorama")
    crawled(library, web, 80, policy=policy, frontier={"spread": 0}, crawl={"workers": 1, "ordered": True})
    with library.shards() as shards:
        query = "SELECT count(DISTINCT u.host) FROM pages p JOIN urls u ON u.id = p.id"
        return shards[0].execute(query).fetchone()[0]


def test_s16_off_site_links_first_leads_to_more_hosts(tmp_path, web):
    assert hosts_of(tmp_path / "lib", web, off_site="first") > hosts_of(tmp_path / "plain", web)
