import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analecta.evaluate.graph import Node, PageGraph, load_nodes, save_nodes

PAGES = 12


def made(links, redirects=()):
    """A graph of pages 1, 2, ... with these links."""
    nodes = [Node(n, f"http://h{n % 3}.test/{n}", True, packed(ids)) for n, ids in links.items()]
    return PageGraph([*nodes, *(Node(n, f"http://r.test/{n}", False, packed([to])) for n, to in redirects)])


def packed(ids):
    return np.array(ids, np.int64).tobytes()


def ids(graph, order):
    known = {n: id for id, n in graph.number.items()}
    return [known[n] for n in order]


def test_links_lead_through_redirects_to_pages():
    graph = made({1: [10], 2: []}, [(10, 11), (11, 2)])
    assert graph.links == [[1], []]
    assert graph.number[10] == 1


def test_redirects_that_end_nowhere_are_no_links():
    graph = made({1: [10, 20, 99]}, [(10, 11), (11, 10), (20, 77)])
    assert graph.links == [[]]


def test_breadth_first_is_by_distance_and_order_of_links():
    graph = made({1: [3, 2], 2: [4], 3: [5], 4: [], 5: [1], 6: []})
    assert ids(graph, graph.breadth_first([0])) == [1, 3, 2, 5, 4]
    assert ids(graph, graph.breadth_first([0], 3)) == [1, 3, 2]


def test_the_oracle_goes_the_shortest_way_to_what_is_wanted():
    graph = made({1: [2, 3], 2: [4], 3: [5], 4: [], 5: [6], 6: []})
    assert ids(graph, graph.oracle([0], {5})) == [1, 3, 5, 6, 2, 4]  # 6 is page number 5


@given(st.data())
def test_the_oracle_reaches_what_breadth_first_reaches_each_page_once(data):
    numbers = st.lists(st.integers(1, PAGES), max_size=4)
    graph = made({n: data.draw(numbers) for n in range(1, PAGES + 1)})
    wanted = data.draw(st.sets(st.integers(0, PAGES - 1)))
    best, plain = graph.oracle([0], wanted), graph.breadth_first([0])
    assert sorted(best) == sorted(plain)
    assert len(set(best)) == len(best)


def test_nodes_are_kept_and_what_is_broken_is_not_read(tmp_path):
    nodes = [Node(1, "http://a.test/", True, packed([2]))]
    save_nodes(tmp_path / "links", nodes)
    assert load_nodes(tmp_path / "links") == nodes
    (tmp_path / "links").write_bytes(b"\xff\x00")
    assert load_nodes(tmp_path / "links") is None


def test_what_robots_forbid_is_out_of_reach(web, graph):
    forbidden = [page.url for page in web.pocket.pages(links=False) if not page.allowed and page.status == 200]
    assert forbidden
    assert all(graph.find(url) is None for url in forbidden)


def test_nofollow_pages_lead_nowhere(web, graph):
    closed = [p for p in web.pocket.pages() if "nofollow" in p.robots and p.allowed and p.links and p.status == 200]
    assert closed
    assert all(graph.links[graph.find(page.url)] == [] for page in closed)
