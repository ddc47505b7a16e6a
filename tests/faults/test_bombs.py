"""F63 in short: many bombs at once. What they inflate to stays within the crawl's budget of memory."""

import gzip

import pytest

from analecta.views.status import status
from tests.crawls import soundness
from tests.crawls.driver import Memory, crawl, kept, make_library
from tests.crawls.site import html, prose, site
from tests.hostile import answer

LIMIT = 8_000_000  # bytes that each inflates to in the short form


def bomb(n, size=LIMIT):
    text = f"<title>Bomb {n}</title><p>{prose(f'bomb{n}')}</p>".encode()
    wire = gzip.compress(text + b"<!-- " + b"boom " * (size // 5), 6)
    return answer(wire, content_type="text/html", content_encoding="gzip")


def crawl_bombs(folder, count, size, **fetch):
    """A crawl of so many bombs, each on a host of its own; the bytes that its partition needed beyond its start."""
    bombs = {f"b{n}.test/": bomb(n, size) for n in range(count)}
    patience = {"max_body": size, "deadline": 60.0, "first_byte_timeout": 20.0}
    with site({**bombs, "good.test/": html("/", *(f"http://{host}" for host in bombs))}) as server:
        library = make_library(folder, ["http://good.test/"], server.address, fetch=patience | fetch)
        memory = Memory()
        crawl(library, memory)
    assert len(kept(library)) == count + 1
    soundness.check(library)
    return library, memory.growth


def test_f63_many_bombs_at_once_stay_within_the_memory_that_the_crawl_has(tmp_path):
    library, growth = crawl_bombs(tmp_path / "lib", 36, LIMIT, memory=64_000_000)
    assert growth < 200_000_000, "it was more than all bombs together"
    memory = status(library).memory
    assert memory["limit"] == 64_000_000
    assert 32_000_000 < memory["peak"] < 100_000_000


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_f63_four_hundred_bombs_of_the_largest_size(tmp_path):
    library, growth = crawl_bombs(tmp_path / "lib", 400, 20_000_000)
    print(f"the partition grew by {growth / 1e6:,.0f} MB; bodies: {status(library).memory}")
    assert growth < 1_000_000_000, "it was 4 to 5.6 GB"


def test_f63_a_crawl_in_order_does_not_wait_for_itself(tmp_path):
    bombs = {f"b{n}.test/": bomb(n) for n in range(10)}
    with site({**bombs, "good.test/": html("/", *(f"http://{host}" for host in bombs))}) as server:
        fetch = {"max_body": LIMIT, "memory": 1_000_000, "deadline": 60.0, "first_byte_timeout": 20.0}
        library = make_library(tmp_path / "lib", ["http://good.test/"], server.address, fetch=fetch)
        crawl(library, crawl={"ordered": True})
    assert len(kept(library)) == 11
    soundness.check(library)
