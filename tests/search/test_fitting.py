"""Questions find communities first, then pages inside them (C7)."""

import pytest

from analecta.errors import UsageError
from analecta.search import SearchIndex, SearchRequest
from analecta.search.update import sync


def sites(found):
    return [(fit.community.seeds[0], fit.found) for fit in found.communities]


def titles(found):
    return {hit.page.title for hit in found.hits}


@pytest.mark.parametrize(
    ("query", "word", "field"),
    [("hives", "hives", "sites"), ("apiary OR bees", "apiary", "links"), ("beekeeping", "beekeeping", "titles")],
)
def test_c7_a_community_is_found_by_sites_links_and_titles_and_says_why(village, query, word, field):
    fit = village.find(query).communities[0]
    assert fit.community.seeds == ["bees.test"]
    assert field in dict(fit.why)[word]


def test_c7_a_community_is_found_by_its_name(village):
    name = village.find("moon").communities[0].community.name
    fit = village.find(name.partition(" ")[0]).communities[0]
    assert fit.community.name == name
    assert fit.why[0][1][0] == "name"


def test_c7_the_community_that_fits_better_comes_first_with_its_pages_counted(village):
    found = village.find("bees stars", top=10)
    assert sites(found)[0] == ("stars.test", 1)
    assert sites(village.find("bees OR moon OR hives"))[0] == ("bees.test", 2)


def test_c7_pages_are_found_outside_of_communities_too_but_not_inside(village):
    assert titles(village.find("bees")) == {"Beekeeping", "Wooden hives", "Astronomy", "Alone"}
    inside = village.find("bees", inside=True)
    assert (titles(inside), inside.total) == ({"Beekeeping", "Wooden hives"}, 2)
    assert sites(inside) == [("bees.test", 2)]


def test_c7_inside_the_pages_of_the_best_community_come_first(village):
    found = village.find("hives OR moon OR stars", inside=True, top=1)
    assert [fit.community for fit in found.communities] == [hit.community for hit in found.hits]
    assert [hit.rank for hit in found.hits] == [1, 1]
    assert (found.total, sum(n for _, n in found.facets["community"])) == (3, 3)


def test_c7_some_words_are_enough_where_no_page_inside_has_all(village):
    found = village.find("zebra hives", inside=True)
    assert (found.some, titles(found)) == (True, {"Wooden hives"})


def test_c7_communities_without_pages_that_were_found_are_not_shown(village):
    assert sites(village.find("bees site:stars.test")) == []
    assert sites(village.find("hives -bees")) == []


@pytest.mark.parametrize("wanted", ["bees.test", "hives.test", "1"])
def test_c7_a_question_can_be_limited_to_a_community_by_number_name_or_site(village, wanted):
    name = village.find("*", community=wanted).communities[0].community.name
    for said in (wanted, name, name.upper()):
        assert titles(village.find("bees", community=said)) == {"Beekeeping", "Wooden hives"}
        assert titles(village.find(f'bees community:"{said}"')) == {"Beekeeping", "Wooden hives"}
    assert titles(village.find(f"bees -community:{wanted}")) == {"Astronomy", "Alone"}


def test_c7_a_community_asked_for_is_shown_whether_the_words_are_in_it_or_not(village):
    (fit,) = village.find("wild", community="hives.test").communities
    assert (fit.community.seeds, fit.why, fit.found) == (["bees.test"], [], 1)


def test_c7_a_community_that_is_not_there_is_told_with_those_that_are(village):
    name = village.find("bees").communities[0].community.name
    with pytest.raises(UsageError, match=f"no community 'x'.*{name}"):
        village.find("bees", community="x")


def test_c7_a_site_that_is_part_of_another_leads_to_its_community(village):
    sync(village.library)
    search = SearchIndex(village.library)
    search.fitting.parts["old.test"] = "bees.test"
    assert search.find(SearchRequest("hive", community="old.test")).total == 1


def test_c7_a_community_of_one_site_is_told_how_to_ask_for(village):
    with pytest.raises(UsageError, match=r"no community 7 of two sites or more: .*site:HOST"):
        village.find("bees", community="7")


def test_c7_a_page_on_no_topic_is_of_its_community_but_does_not_say_what_it_is_about(village):
    village.add("http://bees.test/zebra", "Bees and zebras.", title="Zebra", topic=-1)
    assert titles(village.find("zebras community:bees.test", every=True)) == {"Zebra"}
    communities = village.find("zebra", every=True).communities
    assert "titles" not in {field for fit in communities for _, fields in fit.why for field in fields}
    assert village.find("bees", inside=True).left_out == 1


@pytest.mark.parametrize("asked", [{"inside": True}, {"community": "1"}])
def test_c7_a_library_without_communities_says_so(pages, asked):
    pages.add("a", "bees")
    assert pages.find("bees").communities == []
    with pytest.raises(UsageError, match="no communities of two sites"):
        pages.find("bees", **asked)
