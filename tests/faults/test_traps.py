"""Whole crawls of webs with traps, mirrors, and honest sites that look like traps."""

import pytest

from analecta.testweb.process import ServerProcess
from tests.crawls.driver import crawl, make_library, rows
from tests.faults.trapwebs import TrapWeb

ALIKE = ("catalogue", "forum", "events", "deep")


def crawled(folder, pages, recipe="adaptive", workers=1, **web):
    """The pages of a crawl in the order of asking, and the honest ones."""
    honest = TrapWeb(**web).honest
    judge = {} if recipe == "adaptive" else {"judge": {"kind": "none"}}
    with ServerProcess("tests.faults.trapwebs:make", web) as server:
        seeds = ["http://front.test/", *sorted(honest)[1:6]]
        more = {
            "recipe": recipe,
            "fetch": {"delay": 0.02},
            "crawl": {"workers": workers},
            "judge": {"kind": "profile"},
        }
        library = make_library(folder / "lib", seeds, server.address, **more | judge)
        crawl(library, stop={"pages": pages})
    found = rows(library, "SELECT p.fetched_at, u.url FROM pages p JOIN urls u ON u.id = p.id")
    return [url for _, url in sorted(found)], honest


def wasted(urls, honest):
    """The requests to traps until the last honest page was asked for, as a share of all until then."""
    last = max(i for i, url in enumerate(urls) if url in honest)
    return sum(url not in honest for url in urls[: last + 1]) / (last + 1)


@pytest.mark.parametrize("kind", ["calendar", "agenda", "session", "facets", "paths", "tarpit", "relative", "flood"])
def test_f70_a_host_of_traps_takes_at_most_a_twentieth_while_honest_pages_remain(tmp_path, kind):
    urls, honest = crawled(tmp_path, 600, honest=("site", "site"), size=240, traps=(kind,))
    assert honest <= set(urls)
    assert wasted(urls, honest) <= 0.05


def test_f70_mirrors_take_little_while_honest_pages_remain(tmp_path):
    urls, honest = crawled(tmp_path, 600, honest=("site", "site"), size=240, mirrors=10)
    assert honest <= set(urls)
    assert wasted(urls, honest) <= 0.05


def test_f70_mirrors_without_some_links_take_little_whichever_partition_they_are_in(tmp_path):
    urls, honest = crawled(tmp_path, 800, workers=2, honest=("site",), size=700, traps=("calendar", "flood"), mirrors=5)
    assert len(honest & set(urls)) >= 0.9 * len(honest)  # without comparison by path half of it


def test_f70_wildcard_hosts_take_little_while_honest_pages_remain(tmp_path):
    urls, honest = crawled(tmp_path, 600, honest=("site", "site"), size=240, wild=True)
    assert honest <= set(urls)
    assert wasted(urls, honest) <= 0.05


@pytest.mark.parametrize("recipe", ["adaptive", "breadth-first"])
def test_f70_honest_sites_that_look_like_traps_are_fetched_whole(tmp_path, recipe):
    urls, honest = crawled(tmp_path, 0, recipe, workers=2, honest=ALIKE, size=100)
    assert len(honest & set(urls)) >= 0.95 * len(honest)


def test_f70_honest_look_alikes_come_before_traps(tmp_path):
    urls, honest = crawled(tmp_path, 1500, workers=2, honest=("site", *ALIKE), size=240, traps=("calendar", "paths"))
    assert len(honest & set(urls)) >= 0.95 * len(honest)
    assert wasted(urls, honest) <= 0.05


@pytest.mark.slow
def test_f70_a_site_of_five_thousand_pages_is_fetched_beside_traps(tmp_path):
    traps = ("calendar", "agenda", "session", "facets", "paths", "tarpit", "relative", "flood")
    urls, honest = crawled(tmp_path, 5600, workers=2, honest=("site",), size=5000, traps=traps, mirrors=5)
    assert len(honest & set(urls)) >= 0.95 * len(honest)
    assert wasted(urls, honest) <= 0.05
