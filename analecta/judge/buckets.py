"""Words as numbers below 2^18, as a matrix: no dictionary to build, to look up or to send along with a model.

Two words may share a bucket. Those of a few thousand pages seldom do where it matters: on a real web the order of
a crawl came out as good as with a dictionary of stems (docs/decisions.md).
"""

from scipy.sparse import csr_matrix

from analecta.text.tokens import BUCKETS as SIZE
from analecta.text.tokens import Words, buckets

__all__ = ["SIZE", "buckets", "rows"]


def rows(batch: Words) -> csr_matrix:
    """How often each bucket's words occur on each page: pages x buckets, sparse, float32; its data may be replaced."""
    bags = batch.bags
    return csr_matrix((bags.counts, bags.buckets, bags.starts), shape=(len(batch), SIZE))
