"""What is told of communities and collections, on narrow terminals too."""

import io

import pytest
from rich.console import Console

from analecta.cli.collection import show
from analecta.cli.communities import tell, tell_one
from analecta.communities.view import Community, CommunityLinks, CommunityList, CommunityMember
from analecta.views.collections import collections

NAMES = ("Tremor · Cinder cone · Crater lake", "Harbour wall · reefing line · Marina")
FRIEND = "geology-and-volcanoes.university.test"


def community(number, sites):
    members = [
        CommunityMember(f"s{n}.a-long-name-of-a-site.test", f"12 of 34 links of {FRIEND} lead here", 12) for n in sites
    ]
    return Community(number, NAMES[number - 1], [members[0].site], 24, members, ["a.test and b.test grew together: x"])


def found():
    made = [community(1, range(7)), community(2, [8, 9])]
    return CommunityList(
        made, [CommunityLinks(1, 2, 5)], {"all.test": "all link to it"}, 22, 0, [f"alone{n}.test" for n in range(12)]
    )


def written(what, width):
    out = io.StringIO()
    Console(file=out, width=width).print(what)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@pytest.mark.parametrize("width", [50, 60, 80, 200])
def test_c5_names_and_sites_are_whole_at_any_width(width):
    text = written(tell(found()), width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for whole in (*NAMES, "s4.a-long-name-of-a-site.test  12 pages", FRIEND):
        assert any(whole in line for line in text.splitlines()), whole


def test_c5_a_site_has_one_line_where_there_is_room_for_its_reason():
    assert "s0.a-long-name-of-a-site.test  12 pages  12 of 34 links" in written(tell(found()), 120)
    assert "s0.a-long-name-of-a-site.test  12 pages\n      12 of 34 links" in written(tell(found()), 60)


def test_c5_it_is_told_where_all_sites_went():
    lines = written(tell(found()), 80).splitlines()
    assert lines[0] == "2 communities of 9 sites; 13 more of the 22 that were read belong to none"
    assert "1 site of no community, because everybody links there:" in lines
    assert "12 sites of no community, with too few links into any:" in lines
    assert lines[-1].strip() == "and 2 more (--json has all)"


def test_c5_one_community_is_told_with_all_that_grew_together():
    text = written(tell_one(found(), community(1, range(7))), 80)
    assert "a.test and b.test grew together: x" in text
    assert "5 links to 2  Harbour wall" in text
    assert text.count("12 pages") == 7


def test_s12_figures_and_hosts_of_a_collection_are_whole_at_80_columns(grown):
    every = collections(grown, most=5)
    lines = [line.strip() for line in written(show(every), 80).splitlines()]
    for ranked in every[0].items:
        figures = f"sure {ranked.confidence:.2f}, authority {ranked.authority:.2f}"
        assert any(line.startswith(ranked.item.host) and figures in line for line in lines)


def test_s12_a_library_without_pages_says_so():
    assert written(show([]), 80) == "No pages yet.\n"


def test_nothing_is_padded_to_the_width_of_a_pipe():
    out = io.StringIO()
    Console(file=out, width=1000).print(tell(found()))
    assert max(map(len, out.getvalue().splitlines())) < 200
