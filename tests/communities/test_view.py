"""Communities of a library: members, names, the graph between them, as a graph file."""

import xml.etree.ElementTree as ET

import pytest

from analecta.communities.view import (
    Community,
    CommunityList,
    CommunityMember,
    communities,
    deeper,
    find,
    index_communities,
)
from analecta.errors import UsageError
from analecta.export.graphs import write_community_graph
from analecta.store.library import LibraryFolder
from tests.making import shard_at


@pytest.fixture(scope="module")
def found(grown):
    return communities(grown)


def test_c5_every_site_is_in_one_community_with_a_reason(found):
    members = [member for one in found.communities for member in one.members]
    assert len({member.site for member in members}) == len(members) > 3
    assert all(member.reason == "a seed" or "lead here" in member.reason for member in members)
    assert [one.number for one in found.communities] == list(range(1, len(found.communities) + 1))
    assert len({one.name for one in found.communities}) == len(found.communities)


def test_links_between_communities_are_counted(found):
    known = {one.number for one in found.communities}
    assert all({link.source, link.target} <= known and link.source != link.target for link in found.between)
    assert [link.links for link in found.between] == sorted((link.links for link in found.between), reverse=True)


def test_a_community_is_found_by_number_name_and_site(found):
    one = found.communities[0]
    assert find(found, "1") == find(found, one.name) == find(found, one.members[-1].site) == one
    with pytest.raises(UsageError, match="no community 'x'"):
        find(found, "x")
    with pytest.raises(UsageError, match="crawl it first"):
        find(CommunityList([], [], {}, 0, 0), "1")


def named(*names):
    made = [
        Community(n, name, [], 1, [CommunityMember(f"s{n}.test", "a seed", 1)], []) for n, name in enumerate(names, 1)
    ]
    return CommunityList(made, [], {"all.test": "all link to it"}, 4, 0, ["alone.test"], {"s0.test": "s2.test"})


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        ("tremor", 1), ("CINDER CONE", 1), ("Trem", 1), ("ash", 2), ("ash cloud", 3), ("2", 2), ("s3.test", 3),
        ("http://www.S3.test/", 3), ("s0.test", 2),
    ],
)  # fmt: skip
def test_c5_a_part_of_a_name_that_no_other_has_will_do_and_a_site_in_any_form(wanted, number):
    assert find(named("Tremor · Cinder cone", "Ash", "Ash cloud · Lava dome"), wanted).number == number


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("lava", r"several communities: 1 \(Lava dome\), 2 \(lava flow\)"), ("a f", "several"), ("4", "no community"),
        ("ou", "no community"), ("all.test", "all link to it"), ("alone.test", "too few of its links"),
    ],
)  # fmt: skip
def test_c5_what_may_be_several_or_belongs_to_none_is_told(wanted, why):
    with pytest.raises(UsageError, match=why):
        find(named("Lava dome", "lava flow", "lava field · Plough"), wanted)


def test_c5_it_is_told_where_all_sites_went(grown, found):
    members = {member.site for one in found.communities for member in one.members}
    everywhere = found.crawled - len(members) - len(found.apart)
    assert 0 <= everywhere <= len(found.everywhere)
    assert not members & {*found.apart, *found.everywhere}


def test_a_deeper_crawl_keeps_to_the_hosts_of_one_community(grown, found):
    asked = deeper(grown, "1")
    assert set(asked["communities"]["only"]) == {member.site for member in found.communities[0].members}


def test_pages_know_their_community(grown, found):
    known = index_communities(grown)
    for one in known.communities:
        site = one.members[-1].site
        assert known.of(f"http://{site}/a/b", site) == one
    assert len(known.communities) > 1
    assert known.of("http://elsewhere.test/", "elsewhere.test") is None


def test_sites_and_communities_are_written_as_a_graph(grown, found, tmp_path):
    sites = write_community_graph(grown, found, tmp_path / "sites.gexf")
    root = ET.parse(tmp_path / "sites.gexf").getroot()
    assert len(root.findall(".//{*}node")) == sites
    assert len(root.findall(".//{*}edge")) > sites
    with pytest.raises(UsageError, match=r"FILE\.gexf"):
        write_community_graph(grown, found, tmp_path / "sites.txt")


def test_a_library_from_before_the_count_says_what_to_do(tmp_path):
    library = LibraryFolder.create(tmp_path / "lib", "")
    assert communities(library).communities == []
    library.put("partitions", 1)
    with shard_at(library.shard_path(0)):
        pass
    with pytest.raises(UsageError, match="--recount"):
        communities(library)
    assert index_communities(library).communities == []


def test_sites_that_were_only_looked_into_are_in_no_community(grown, found):
    on_topic = "SELECT h.name, max(p.topic >= 0) FROM pages p JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host"
    with grown.shards() as shards:
        hosts = dict(row for shard in shards for row in shard.execute(f"{on_topic} GROUP BY 1"))
    members = {member.site for one in found.communities for member in one.members}
    assert members <= {host for host, there in hosts.items() if there} < hosts.keys()
