import pytest

from analecta.communities.claims import METRICS, SiteLinks, strong_links


@pytest.fixture
def links():
    found = SiteLinks()
    found.add(0, {1: 2, 2: 1, 0: 50, 3: 0})
    found.add(1, {2: 1, 0: 1})
    found.add(4, {1: 1, 2: 3})
    return found


def test_c2_out_link_is_the_example_of_figure_6(links):
    assert METRICS["outLink"](links, 0, 1) == pytest.approx(2 / 3)
    assert METRICS["outLink"](links, 0, 2) == pytest.approx(1 / 3)
    assert METRICS["outLink"](links, 2, 0) == 0  # not crawled


def test_c6_the_other_metrics(links):
    assert METRICS["both"](links, 0, 1) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert METRICS["co-citation"](links, 1, 2) == pytest.approx(2 / (2 * 3) ** 0.5)  # 0 and 4 link to both
    assert METRICS["coupling"](links, 0, 4) == pytest.approx(1.0)  # the same two


@pytest.mark.parametrize("metric", METRICS)
def test_strong_links_are_those_above_the_threshold(links, metric):
    every = {other: METRICS[metric](links, 0, other) for other in links.out[0]}
    assert strong_links(links, metric, 0.5, 0) == {other: w for other, w in every.items() if w >= 0.5}


def test_links_to_a_site_that_has_moved_lead_to_where_it_is():
    links = SiteLinks()
    links.add(1, {2: 3, 4: 1})
    links.add(3, {2: 2, 4: 5})
    links.add(4, {2: 7, 1: 1})
    assert links.redirect(2, 4) == [1, 3, 4]
    assert links.out == {1: {4: 4}, 3: {4: 7}, 4: {1: 1}}
    assert (links.total, links.linkers) == ({1: 4, 3: 7, 4: 1}, {4: [1, 3], 1: [4]})
