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
    keys = np.sort(batch.pages << BITS | buckets(batch.hashes))
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    data = np.diff(first, append=len(keys)).astype(np.float32)
    pages, columns = keys[first] >> BITS, keys[first] & (SIZE - 1)
    pointers = np.searchsorted(pages, np.arange(len(batch) + 1))
    return csr_matrix((data, columns, pointers), shape=(len(batch), SIZE))
