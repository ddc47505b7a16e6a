"""Words as numbers below 2^18: no dictionary to build, to look up or to send along with a model.

Two words may share a bucket. Those of a few thousand pages seldom do where it matters: on a real web the order of
a crawl came out as good as with a dictionary of stems (docs/decisions.md).
"""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from analecta.terms import UInt64s, Words

BITS = 18
SIZE = 1 << BITS

Numbers = npt.NDArray[np.int64]


def buckets(hashes: UInt64s) -> Numbers:
    """The bucket of each word."""
    return (hashes >> np.uint64(64 - BITS)).astype(np.int64)


def rows(batch: Words) -> csr_matrix:
    """How often each bucket's words occur on each page: pages x buckets, sparse, float32."""
    narrow: type[np.signedinteger] = np.int32 if len(batch) < 1 << (31 - BITS) else np.int64  # sorted in half the time
    keys = np.sort(batch.pages.astype(narrow) << BITS | buckets(batch.hashes).astype(narrow))
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    data = np.diff(first, append=len(keys)).astype(np.float32)
    keys = keys[first]
    pointers = np.searchsorted(keys, np.arange(len(batch) + 1, dtype=np.int64) << BITS).astype(np.int32)
    return csr_matrix((data, (keys & (SIZE - 1)).astype(np.int32), pointers), shape=(len(batch), SIZE))
