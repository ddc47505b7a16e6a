"""The sieve against a Python set."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analecta.frontier.seen import SeenSet

# Few distinct ids so that they meet again, some of which want the same slot, and the ends of the range.
CROWDED = st.sampled_from([1, 17, 33, 16, 32, 15, 31, -1, -16, 2**63 - 1, -(2**63)])
IDS = st.lists(CROWDED | st.integers(-(2**63), 2**63 - 1).filter(bool), max_size=40)


def ids(values):
    return np.array(values, np.int64)


@settings(max_examples=100, deadline=None)
@given(st.lists(IDS, max_size=8), IDS)
def test_a_sieve_equals_a_set(batches, asked):
    sieve, seen = SeenSet(1), set()
    for batch in batches:
        new = [i for i, id in enumerate(batch) if id not in seen and id not in batch[:i]]
        assert sieve.add_new(ids(batch)).tolist() == new
        seen.update(batch)
    assert sieve.contains(ids(asked)).tolist() == [id in seen for id in asked]
    assert len(sieve) == len(seen)


def test_it_grows_and_forgets_nothing():
    sieve = SeenSet(1)
    many = np.random.default_rng(7).integers(-(2**63), 2**63 - 1, 200_000, np.int64)
    for part in np.array_split(many, 13):
        sieve.add_new(part)
    assert sieve.contains(many).all()
    assert len(sieve) == len(np.unique(many))
    assert not sieve.contains(np.random.default_rng(8).integers(1, 2**63 - 1, 10_000, np.int64)).any()


def test_ids_that_all_want_one_slot_find_places():
    sieve = SeenSet(16)
    same = ids([i << 32 for i in range(1, 2000)])
    assert len(sieve.add_new(same)) == 1999
    assert sieve.contains(same).all()


def test_duplicates_in_a_batch_count_once_and_in_order():
    assert SeenSet().add_new(ids([5, 3, 5, -3, 3, 9])).tolist() == [0, 1, 3, 5]


def test_asking_does_not_add():
    sieve = SeenSet()
    sieve.contains(ids([4, 5]))
    assert len(sieve) == 0
    assert sieve.add_new(ids([])).tolist() == []
