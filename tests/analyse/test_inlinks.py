from hypothesis import given
from hypothesis import strategies as st

from analecta.analyse.word_search import InLinks

IDS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3)


@given(st.lists(st.lists(IDS, max_size=6), max_size=6), st.lists(IDS, max_size=3))
def test_the_links_of_pages_are_turned_round(pages, wanted):
    expected = [page for page, links in enumerate(pages) if set(links) & set(wanted)]
    assert InLinks(pages).of(wanted) == expected


def test_what_is_too_much_to_hold_is_left_out_whole_pages_at_a_time():
    table = InLinks([[1, 2], [1, 3, 3], [1], [4]], most=4)
    assert (table.of([1]), table.of([3])) == ([0, 1], [1])
    assert table.of([4]) == []
