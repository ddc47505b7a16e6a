import numpy as np

from analecta.analyse.hits import LinkGraph, hubs_and_authorities, link_graph
from analecta.store.library import LibraryFolder


def graph(links, hosts):
    src, dst = np.array(links, np.int64).T
    return LinkGraph([100 + i for i in range(len(hosts))], np.array(hosts), src, dst)


def test_b12_hubs_and_authorities_are_told_by_id():
    hubs, authorities = hubs_and_authorities(graph([(0, 2), (1, 2), (0, 3)], [0, 1, 2, 3]), [100, 101, 102])
    assert max(authorities, key=authorities.get) == 102
    assert max(hubs, key=hubs.get) == 100


def test_b12_where_all_is_one_host_links_say_nothing():
    assert hubs_and_authorities(graph([(0, 1)], [7, 7]), [100]) == ({}, {})


def test_b12_links_within_the_only_host_count_where_that_is_asked_for():
    _, authorities = hubs_and_authorities(graph([(0, 2), (1, 2), (0, 1)], [7, 7, 7]), [100], within_hosts=True)
    assert max(authorities, key=authorities.get) == 102
    abroad = graph([(0, 2), (1, 2), (1, 3)], [0, 0, 1, 0])
    assert hubs_and_authorities(abroad, [100], within_hosts=True) == hubs_and_authorities(abroad, [100])


def test_b12_a_topic_without_pages_has_no_hubs():
    assert hubs_and_authorities(graph([(0, 1)], [0, 1]), []) == ({}, {})


def test_b12_the_graph_of_an_empty_library_is_empty(tmp_path):
    library = LibraryFolder.create(tmp_path / "lib", "")
    with library.snapshot() as snapshot:
        assert link_graph(*snapshot.link_arrays()).ids == []
