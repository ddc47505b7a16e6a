import re
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analecta.communities.growth import Communities
from analecta.errors import UsageError
from analecta.testweb.community_web import CommunityWeb

WEB = CommunityWeb(sites=600, communities=10, seed=7)
SEEDS = Random(3).sample(sorted(WEB.truth), 12)


def grown(links, seeds, most=None, **more):
    found = Communities(seeds, **more)
    while sites := found.next(most):
        for site in sites:
            found.crawled(site, links.get(site, {}))
    return found


@cache
def plainly_grown():
    return grown(WEB.graph, SEEDS)


def sets(found):
    return {frozenset(cluster.sites) for cluster in found.clusters()}


def test_c3_the_heaviest_link_is_followed_first_and_light_ones_never():
    found = Communities(["seed"], wt=0.1)
    assert found.next() == ["seed"]
    found.crawled("seed", {"light": 1, "heavy": 12, "heavier": 14})
    assert found.next(1) == ["heavier"]
    assert found.next() == ["heavy"]
    assert found.next() == []


def test_c4_a_site_that_two_claim_goes_to_the_heavier_link():
    links = {"a": {"x": 3, "a1": 7}, "b": {"x": 6, "b1": 4}, "a1": {"a": 9}, "b1": {"b": 9}}
    found = grown(links, ["a", "b"], enough=0.9)
    assert sets(found) == {frozenset({"a", "a1"}), frozenset({"b", "b1", "x"})}


def test_a_stray_link_does_not_bring_in_a_foreign_community():
    links = {f"{v}{i}": {f"{v}{j}": 2 for j in range(9) if j != i} for v in "mn" for i in range(9)}
    links["m3"]["n3"] = 1
    found = grown(links, ["m0"])
    assert sets(found) == {frozenset(f"m{i}" for i in range(9))}
    assert "n3" in {found.names[site] for site in found.links.out}


def test_c5_two_seeds_of_one_community_merge_and_the_reason_has_figures():
    links = {f"m{i}": {f"m{j}": 2 for j in range(9) if j != i} for i in range(9)}
    (cluster,) = grown(links, ["m0", "m1"]).clusters()
    assert cluster.seeds == ["m0", "m1"]
    (told,) = cluster.merged
    assert re.fullmatch(r"m1 and m0 grew together: \d+ links between them, \d+ % of all links of the smaller one", told)


def test_what_everybody_links_to_is_told_and_glues_nothing():
    seeds = Random(1).sample(sorted(WEB.truth), 20)
    found = grown(WEB.graph, seeds)
    assert set(found.everywhere()) <= set(WEB.everywhere)
    assert "link to it; it links back to 0" in found.everywhere()["share-button.test"]
    assert all(len({WEB.truth.get(site) for site in cluster.sites[:5]}) == 1 for cluster in found.clusters())


@settings(max_examples=6, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 9))
def test_c5_the_order_in_which_sites_arrive_hardly_matters(rng, most):
    plain, found = plainly_grown(), Communities(SEEDS)
    while sites := found.next(most):
        for site in rng.sample(sites, len(sites)):
            found.crawled(site, WEB.graph[site])
    of = [{site: cluster.seeds[0] for cluster in one.clusters() for site in cluster.sites} for one in (plain, found)]
    assert sum(of[0].get(site) == of[1].get(site) for site in of[0] | of[1]) >= 0.97 * len(of[0] | of[1])


@pytest.mark.parametrize("metric", ["both", "co-citation", "coupling"])
def test_c6_other_metrics_find_the_community_too(metric):
    links = {f"m{i}": {f"m{j}": 2 for j in range(9) if j != i} for i in range(9)}
    assert sets(grown(links, ["m0"], metric=metric)) == {frozenset(links)}


@pytest.mark.parametrize("wrong", [{"metric": "none"}, {"wt": 0.0}, {"wt": 1.5}])
def test_what_cannot_be_is_told(wrong):
    with pytest.raises(UsageError):
        Communities(["a"], **wrong)


def test_members_say_why_and_time_is_counted():
    ticks = iter(range(1000))
    found = grown({"a": {"b": 3, "c": 1}, "b": {"a": 1}}, ["a"], clock=lambda: float(next(ticks)))
    assert found.clusters()[0].members == {
        "a": "a seed",
        "b": "3 of 4 links of a lead here",
        "c": "1 of 4 links of a lead here",
    }
    assert found.seconds > 0


def test_c5_trees_that_merged_do_not_lose_the_friends_of_their_seeds():
    seeds = [f"s{n}" for n in range(9)]  # each links to the next ones, and to friends who link to one another
    links = {f"s{n}": {seeds[(n + 1) % 9]: 6, **{f"f{n}-{m}": 1 for m in range(6)}} for n in range(9)}
    links |= {f"f{n}-{m}": {f"f{n}-{(m + 1) % 6}": 9, f"s{n}": 1} for n in range(9) for m in range(6)}
    assert sum(len(cluster.sites) for cluster in grown(links, seeds).clusters()) == 63


def test_c3_a_friend_that_a_seed_often_links_to_belongs_with_it():
    links = {"seed": {"friend": 4, "other": 2, **{f"a{n}": 1 for n in range(30)}}}
    links |= {"friend": {f"b{n}": 1 for n in range(30)}, "other": {f"c{n}": 1 for n in range(30)}}
    assert [cluster.sites for cluster in grown(links, ["seed"], wt=0.05).clusters()] == [["seed", "friend"]]


def test_c1_links_to_a_site_that_has_moved_and_to_where_it_is_are_summed():
    found = Communities(["a"])
    found.crawled("a", {"old": 3, "new": 1, "x": 1})
    found.moved({"old": "new"})
    found.crawled("b", {"old": 3, "new": 2})
    number = found.numbers
    assert found.links.out == {number["a"]: {number["new"]: 4, number["x"]: 1}, number["b"]: {number["new"]: 5}}
    assert "new" in found.next()


def test_c5_a_site_that_many_communities_link_to_is_in_none_also_where_there_are_few():
    web = CommunityWeb(sites=200, communities=3, seed=5)
    found = grown(web.graph, Random(2).sample(sorted(web.truth), 6))
    assert set(found.everywhere()) == set(web.everywhere)


def test_c5_services_that_link_to_each_other_are_no_community_and_leading_sites_that_do_are():
    links = {f"m{i}": {f"m{j}": 2 for j in range(40) if j != i} | {"button": 1, "fonts": 1} for i in range(3, 40)}
    links |= {f"m{i}": {f"m{j}": 9 for j in range(3) if j != i} | {"m3": 1, "m4": 1} for i in range(3)}
    links |= {"button": {"fonts": 9}, "fonts": {"button": 9, "far": 1}}
    found = grown(links, ["m9"])
    assert (sets(found), set(found.everywhere())) == ({frozenset(f"m{i}" for i in range(40))}, {"button", "fonts"})


def test_c5_hosts_that_are_known_to_be_everywhere_are_not_gone_to_unless_they_are_seeds():
    links = {"seed": {"de.network.test": 5, "friend": 5, "network.test/ann/": 5}, "friend": {"seed": 1}}
    found = grown(links, ["seed"], everywhere=["network.test"])
    assert sets(found) == {frozenset({"seed", "friend", "network.test/ann/"})}
    assert found.everywhere() == {"de.network.test": "it is one of communities.everywhere in the settings"}
    begun = grown(links, ["network.test", "seed"], everywhere=["network.test"])
    assert {"network.test"} in sets(begun)


def test_c5_the_reason_of_a_member_is_a_link_from_inside_its_community():
    for web in (WEB, CommunityWeb(sites=300, communities=5, seed=3)):
        for cluster in grown(web.graph, Random(4).sample(sorted(web.truth), 8)).clusters():
            through = [re.findall(" links of (.*) lead here", reason) for reason in cluster.members.values()]
            assert {site for named in through for site in named} <= set(cluster.sites)
            seeds = [site for site, reason in cluster.members.items() if reason == "a seed"]
            assert sorted(seeds) == sorted(cluster.seeds)


def test_c5_a_site_that_nobody_inside_links_to_is_there_for_its_own_links():
    links = {f"{v}{i}": {f"{v}{j}": 2 for j in range(6) if j != i} for v in "mn" for i in range(6)}
    links["m1"]["x"] = 1
    links["x"] = {"n0": 2, "n1": 1, "m1": 1}
    found = {
        site: reason for cluster in grown(links, ["m0", "n0"]).clusters() for site, reason in cluster.members.items()
    }
    assert found["x"] == "3 of its 4 links lead to sites of this community"
