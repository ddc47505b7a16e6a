from hypothesis import given
from hypothesis import strategies as st

from analecta.communities.merging import OUTSIDE, merged, roots

PAIRS = st.dictionaries(st.tuples(st.integers(0, 6), st.integers(0, 6)), st.integers(1, 50), max_size=30)


def test_c5_parts_merge_and_neighbours_do_not():
    between = {(0, 0): 50, (1, 1): 40, (0, 1): 45, (1, 0): 45, (2, 2): 300, (1, 2): 4, (2, 0): 3}
    (merge,) = merged(between)
    assert (merge.into, merge.other) == (0, 1)
    assert merge.reason == "90 links between them, 52 % of all links of the smaller one"


def test_c5_two_large_communities_that_are_all_there_is_stay_two():
    assert merged({(0, 0): 800, (1, 1): 800, (0, 1): 150, (1, 0): 150}, enough=0.1) == []


def test_c5_few_links_are_not_enough_where_most_links_of_both_lead_elsewhere():
    between = {(0, 0): 4, (1, 1): 6, (0, 1): 3, (2, 2): 90}
    assert merged(between)
    assert merged(between | {(0, OUTSIDE): 40, (1, OUTSIDE): 60}) == []


@given(PAIRS, st.randoms(use_true_random=False))
def test_c5_merging_does_not_depend_on_the_order(between, rng):
    mixed = dict(rng.sample(list(between.items()), len(between)))
    assert merged(between) == merged(mixed)
    assert all(into not in roots(merged(between)) for into in roots(merged(between)).values())
