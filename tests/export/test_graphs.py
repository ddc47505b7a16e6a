import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.communities.view import Community, CommunityIndex, CommunityList, CommunityMember, index_communities
from analecta.errors import ResourceError, UsageError
from analecta.export.graphs import FORMATS, PAGE, SITE, ExportGraph, site_graph
from analecta.settings.schema import SiteSettings
from analecta.store.partition import NOINDEX
from analecta.store.site_rules import Sites
from tests.export.exporting import exported
from tests.making import item, target
from tests.publish.shelf import Given, shelved

networkx = pytest.importorskip("networkx")
READERS = {"gexf": networkx.read_gexf, "graphml": networkx.read_graphml}


def drawn(library, path, format="gexf", **more):
    (told,) = exported(library, "graph", format, path, **more)
    graph = READERS[format](path)
    assert re.findall(r"\d+(?:,\d+)*", told) == [f"{graph.number_of_nodes():,}", f"{graph.number_of_edges():,}"]
    return graph


def by_url(graph):
    """The links of a graph, by address."""
    urls = {node: values["url"] for node, values in graph.nodes(data=True)}
    return {(urls[a], urls[b]): values["weight"] for a, b, values in graph.edges(data=True)}


def links(*urls):
    return "".join(f'<a href="{url}">x</a>' for url in urls)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """Three sites; /old is a copy of /b, and /hidden must not be shown."""
    return shelved(
        tmp_path_factory.mktemp("graph") / "lib",
        Given("http://one.test/a", links("http://two.test/b", "http://two.test/old", "http://one.test/c")),
        Given("http://two.test/b", links("http://one.test/hidden", "http://three.test/d", "http://two.test/old")),
        Given("http://one.test/c", links("http://two.test/old", "http://never.test/")),
        Given("http://three.test/d", "", {"topic": 2}),
        Given("http://two.test/old", links("http://one.test/c"), {"duplicate_of": target("http://two.test/b").id}),
        Given("http://one.test/hidden", links("http://two.test/b"), {"flags": NOINDEX, "topic": -1}),
    )


@pytest.mark.parametrize("format", FORMATS)
def test_pages_and_the_links_among_them_once(shelf, tmp_path, format):
    graph = drawn(shelf, tmp_path / "g", format, of="pages")
    a, b, c, d = "http://one.test/a", "http://two.test/b", "http://one.test/c", "http://three.test/d"
    assert set(by_url(graph)) == {(a, b), (a, c), (b, d), (c, b)}
    assert not any("hidden" in values["url"] for _, values in graph.nodes(data=True))


@pytest.mark.parametrize("format", FORMATS)
def test_sites_are_joined_by_as_many_links_as_their_pages_have(shelf, tmp_path, format):
    graph = drawn(shelf, tmp_path / "g", format, of="sites")
    assert by_url(graph) == {("http://one.test/", "http://two.test/"): 2, ("http://two.test/", "http://three.test/"): 1}
    one = next(values for _, values in graph.nodes(data=True) if values["label"] == "one.test")
    assert [one[name] for name in ("pages", "links_in", "links_out", "links_inside")] == [2, 0, 2, 1]


@pytest.mark.parametrize(("of", "columns"), [("pages", PAGE), ("sites", SITE)])
def test_a_real_library_has_all_its_pages_with_their_values(grown, tmp_path, of, columns):
    with grown.snapshot() as snapshot:
        found = list(snapshot.shown_pages())
    one, other = (drawn(grown, tmp_path / format, format, of=of) for format in FORMATS)
    assert len(one) == len(found if of == "pages" else {item.host for item in found})
    assert all(set(columns) < set(values) for _, values in one.nodes(data=True))
    assert by_url(one) == by_url(other)


def test_pages_and_hosts_of_a_graph_know_their_community(grown, tmp_path):
    known = index_communities(grown)
    names = {one.number: one.name for one in known.communities} | {0: ""}
    for of in ("pages", "sites"):
        nodes = [values for _, values in drawn(grown, tmp_path / "g", of=of).nodes(data=True)]
        assert {values["community"] for values in nodes} >= {one.number for one in known.communities}
        assert all(names[values["community"]] == values["community_name"] for values in nodes)
    sites = {member.site: one.number for one in known.communities for member in one.members}
    assert all(values["community"] == sites.get(values["label"], 0) for values in nodes)


def test_a_host_of_several_sites_is_of_the_community_of_most_of_its_pages():
    members = [
        [CommunityMember("h.test/~a/", "", 1), CommunityMember("x.test", "", 1)],
        [CommunityMember("h.test/~b/", "", 2), CommunityMember("y.test", "", 1)],
    ]
    every = [Community(n, f"c{n}", [], 3, own, []) for n, own in enumerate(members, 1)]
    pages = [item(f"http://h.test/{path}") for path in ("~a/1", "~b/1", "~b/2", "about")]
    none = np.zeros(0, np.int64)
    homes = CommunityIndex(Sites(SiteSettings(by="prefix")), CommunityList(every))
    graph = site_graph(pages, none, none, ["birds"], homes)
    assert [(label, values[-2:]) for label, values in graph.nodes] == [("h.test", (2, "c2"))]


def test_hubs_link_to_authorities_of_other_sites(shelf, tmp_path):
    graph = drawn(shelf, tmp_path / "g", of="pages")
    scores = {values["url"]: (values["hub"], values["authority"]) for _, values in graph.nodes(data=True)}
    assert max(scores, key=lambda url: scores[url][1]) == "http://two.test/b"
    assert scores["http://one.test/c"][1] == 0.0  # only its own site links to it


def test_the_graph_of_a_topic_has_its_pages_alone(shelf, tmp_path):
    graph = drawn(shelf, tmp_path / "g", of="pages", topic="bees")
    assert [values["url"] for _, values in graph.nodes(data=True)] == ["http://three.test/d"]
    with pytest.raises(UsageError, match="no topic 'wasps'"):
        exported(shelf, "graph", "gexf", tmp_path / "g", topic="wasps")


def test_a_library_without_pages_makes_an_empty_graph(tmp_path):
    library = shelved(tmp_path / "lib")
    for of in ("pages", "sites"):
        for format in FORMATS:
            assert len(drawn(library, tmp_path / format, format, of=of)) == 0


def test_f37_hostile_titles_are_only_labels(tmp_path):
    title = '"><script>alert(1)</script>\x00\x1b]]>&amp;\u202egnp'
    library = shelved(tmp_path / "lib", Given("http://a.test/?a=1&b=2", "", {"title": title}))
    for format in FORMATS:
        ((_, values),) = drawn(library, tmp_path / format, format, of="pages").nodes(data=True)
        assert values["label"] == '"><script>alert(1)</script>]]>&amp;gnp'
        assert values["url"] == "http://a.test/?a=1&b=2"


@given(st.text(st.characters(categories=None)))
def test_any_name_gives_xml_that_can_be_read(name):
    none = np.zeros(0, np.int64)
    for format in FORMATS.values():
        text = "".join(format(ExportGraph({"url": str}, [(name, (name,))], none, none, none)))
        assert sum(1 for _ in ET.parse(io.BytesIO(text.encode())).iter()) > 4


def test_what_cannot_be_written_is_told_and_leaves_nothing(shelf, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="cannot write"):
        exported(shelf, "graph", "gexf", tmp_path / "file" / "g")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_without_a_file_it_goes_to_standard_output(shelf, capfdbinary):
    exported(shelf, "graph", "graphml")
    assert networkx.parse_graphml(capfdbinary.readouterr().out.decode()).number_of_nodes() == 3
