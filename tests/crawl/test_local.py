"""A crawl in this process that fails for a fault of our own."""

import pytest
from making import answer

from analecta.crawl.engine import Engine
from analecta.crawl.local import crawl_here
from analecta.settings.load import load
from tests.crawls.driver import kept, make_library


async def web(request):
    """A web in which every page is there."""
    return answer(request.url)


def test_a_run_that_ends_by_a_fault_of_an_engine_is_over_and_the_next_one_goes_on(tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("no such case")

    library = make_library(tmp_path / "lib", ["http://a.test/"])
    settings = load(library.settings_path, {"crawl": {"workers": 2}})
    with monkeypatch.context() as patched:
        patched.setattr(Engine, "pick", broken)
        with pytest.raises(RuntimeError, match="no such case") as caught:
            crawl_here(library, settings, web)
    assert isinstance(caught.value.__cause__, ExceptionGroup), "with the errors of other partitions"
    run = library.last_run()
    assert (run.reason, run.ended >= run.began) == ("RuntimeError: no such case", True)
    assert crawl_here(library, settings, web).reason == "nothing is left to fetch"
    assert kept(library) == {"http://a.test/"}
