import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.errors import ResourceError, UsageError
from analecta.model import FetchResult, NoResponse, Response
from analecta.settings.schema import SearchSettings
from analecta.sources.engines.client import EngineAddress, choose
from analecta.sources.engines.engine import EngineHit, EngineRequest
from analecta.sources.engines.session import EngineResult, Session, fuse
from tests.sources.engines import samples

HITS = tuple(EngineHit(*page) for page in samples.PAGES)
TWO = choose(["searxng", "marginalia"], {"searxng": "https://s.test/"}, {})


class Web:
    """Answers each engine as it is told, and notes what it was asked and how long was waited."""

    def __init__(self, **answers: object) -> None:
        self.answers, self.asked, self.slept = answers, [], []

    async def ask(self, chosen: EngineAddress, ask: EngineRequest) -> FetchResult:
        self.asked.append(chosen.name)
        said = self.answers.get(chosen.name, getattr(samples, chosen.name, bytes)())
        if isinstance(said, NoResponse):
            return said
        status, headers, body = said if isinstance(said, tuple) else (200, {}, said)
        return Response(ask.url, status, b"", headers, body, body)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def search(self, *queries: str, engines: list[EngineAddress] = TWO, **more: object) -> EngineResult:
        session = Session(engines, self.ask, sleep=self.sleep, **more)  # type: ignore[arg-type]
        return session.check(asyncio.run(session.search(queries)))


def test_all_queries_are_asked_at_all_engines_and_hits_are_merged() -> None:
    web = Web()
    found = web.search("bees", "hives", "bees")
    assert found == EngineResult({"bees": HITS, "hives": HITS})
    assert sorted(web.asked) == ["marginalia", "marginalia", "searxng", "searxng"]


def test_engines_are_asked_side_by_side() -> None:
    async def run() -> EngineResult:
        both = asyncio.Barrier(2)

        async def ask(chosen: EngineAddress, ask: EngineRequest) -> FetchResult:
            await asyncio.wait_for(both.wait(), 5)  # one alone would wait for ever
            return Response(ask.url, 200, b"", {}, b"", getattr(samples, chosen.name)())

        return await Session(TWO, ask).search(["bees"])

    assert asyncio.run(run()).hits == {"bees": HITS}


def test_between_two_requests_to_an_engine_there_is_its_pause() -> None:
    web = Web()
    web.search("bees", "hives", "wax", engines=choose(["marginalia"], {}, {}, 0.7))
    assert web.slept == [0.7, 0.7]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ((401, {}, b""), r"marginalia refused to answer \(HTTP 401\); look at the key in MARGINALIA_API_KEY"),
        ((429, {"retry-after": "30"}, b""), r"marginalia has no time for us now \(HTTP 429, Retry-After: 30\)"),
        ((500, {}, b""), r"marginalia answered with an error \(HTTP 500\)"),
        ((301, {"location": "https://new.test/"}, b""), "marginalia has moved.*'https://new.test/'"),
        (b"<html>", "marginalia did not answer in its documented format"),
        (
            NoResponse("u", "timeout", "nothing came in 20 s"),
            r"marginalia could not be asked: nothing came in 20 s \(timeout\)",
        ),
    ],
)
def test_a_failing_engine_says_so_once_and_the_others_go_on(said: object, why: str) -> None:
    web = Web(marginalia=said)
    found = web.search("bees", "hives", "wax")
    (trouble,) = found.troubles
    assert re.search(why, trouble)
    assert web.asked.count("marginalia") == 1
    assert found.hits["wax"] == HITS


def test_when_all_engines_fail_it_is_the_environment() -> None:
    down = NoResponse("u", "dns", "no name server answers")
    with pytest.raises(
        ResourceError, match=r"nothing could be searched: searxng could.*; marginalia could.*name server"
    ) as error:
        Web(searxng=down, marginalia=down).search("bees")
    assert error.value.exit_code == 4


def test_a_budget_bounds_the_requests_of_all_engines() -> None:
    web = Web()
    found = web.search("a", "b", "c", "d", search=SearchSettings(budget=5))
    assert len(web.asked) == 5
    assert set(found.troubles) == {"the budget of 5 requests is used up (search.budget)"}


def test_a_repeated_search_asks_nobody_for_a_week(tmp_path: Path) -> None:
    first = Web().search("bees", "hives", cache=tmp_path / "new" / "cache", now=lambda: 1000.0)
    again = Web()
    found = again.search("bees", "hives", cache=tmp_path / "new" / "cache", now=lambda: 1000.0 + 604_800)
    assert (found.hits, again.asked) == (first.hits, [])


@pytest.mark.parametrize(("later", "results"), [(604_801.0, 7), (-1.0, 7), (0.0, 8)])
def test_an_answer_too_old_or_too_short_is_asked_for_again(tmp_path: Path, later: float, results: int) -> None:
    Web().search("bees", cache=tmp_path, now=lambda: 1e6)
    web = Web()
    web.search("bees", cache=tmp_path, now=lambda: 1e6 + later, search=SearchSettings(results=results))
    assert len(web.asked) == 2


def test_a_broken_cache_is_no_cache(tmp_path: Path) -> None:
    Web().search("bees", cache=tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-20])
    web = Web()
    web.search("bees", cache=tmp_path)
    assert len(web.asked) == 2


def test_failures_are_not_kept_and_what_was_kept_helps_an_engine_in_trouble(tmp_path: Path) -> None:
    Web().search("hives", cache=tmp_path, engines=TWO[:1])
    found = Web(searxng=(500, {}, b"")).search("bees", "hives", cache=tmp_path, engines=TWO[:1])
    assert found.hits == {"bees": (), "hives": HITS}
    assert len(found.troubles) == len(list(tmp_path.iterdir())) == 1


def test_a_key_is_not_kept(tmp_path: Path) -> None:
    engines = choose(["openalex", "brave"], {}, {"OPENALEX_API_KEY": "sesame", "BRAVE_API_KEY": "sesame"})
    Web().search("bees", engines=engines, cache=tmp_path)
    assert [b"sesame" in path.read_bytes() for path in tmp_path.iterdir()] == [False, False]


def test_a_cache_that_cannot_be_written_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert Web().search("bees", cache=tmp_path / "file" / "cache").hits == {"bees": HITS}


def test_an_engine_that_fails_on_its_second_page_has_said_its_first(tmp_path: Path) -> None:
    many = samples.searxng([(f"https://a.test/{i}", "t", "c") for i in range(10)])
    web = Web(searxng=many)
    found = web.search("bees", "wax", engines=TWO[:1], search=SearchSettings(results=25, budget=1), cache=tmp_path)
    assert (len(found.hits["bees"]), len(found.hits["wax"]), len(found.troubles)) == (10, 0, 1)
    assert list(tmp_path.iterdir()) == []


def test_pages_are_asked_for_until_there_are_enough_hits() -> None:
    many = samples.searxng([(f"https://a.test/{i}", "t", "c") for i in range(10)])
    webs = [Web(searxng=many), Web(searxng=many), Web()]  # the last has two hits of ten: there are no more
    for web, results in zip(webs, (25, 10, 25), strict=True):
        web.search("bees", engines=TWO[:1], search=SearchSettings(results=results))
    assert [len(web.asked) for web in webs] == [3, 1, 1]


def test_where_an_engine_has_no_phrases_hits_without_them_are_dropped() -> None:
    site = choose(["opensearch"], {"opensearch": "https://x.test/?q={searchTerms}"}, {})
    web = Web(opensearch=samples.ATOM)
    found = web.search('"hive of bees"', "hive of bees", engines=site)
    assert [hit.title for hit in found.hits['"hive of bees"']] == ["Hives"]
    assert len(found.hits["hive of bees"]) == 2


def test_a_query_without_words_makes_no_sense() -> None:
    with pytest.raises(UsageError, match="without words"):
        Web().search("bees", ' "" ')


def test_the_library_s_own_index_joins_as_it_is() -> None:
    class Library:
        async def __call__(self, query: str, wanted: int) -> list[EngineHit]:
            return [EngineHit("https://b.test/"), EngineHit("https://own.test/")]

    found = Web().search("bees", others={"library": Library()})
    assert [hit.url for hit in found.hits["bees"]] == ["https://b.test/", "https://a.test/bees", "https://own.test/"]


def test_a_page_is_one_under_all_its_addresses_and_its_worth_is_the_sum() -> None:
    one = [EngineHit("https://x.test/1"), EngineHit("HTTP://A.test:80/~b#top", "", "text"), EngineHit("ftp://a.test/")]
    two = [EngineHit("http://a.test/%7Eb", "title"), EngineHit("http://a.test/~b")]
    assert fuse([one, two], 10) == (EngineHit("http://a.test/~b", "title", "text"), EngineHit("https://x.test/1"))


@given(st.lists(st.lists(st.integers(0, 20), max_size=12), max_size=4))
def test_fusion_holds_each_page_once_and_first_what_all_put_first(lists: list[list[int]]) -> None:
    ranked = [[EngineHit(f"https://p.test/{n}") for n in (99, *one)] for one in lists]
    fused = [hit.url for hit in fuse(ranked, 100)]
    assert sorted(fused) == sorted({hit.url for one in ranked for hit in one})
    assert fused[:1] == [one[0].url for one in ranked[:1]]
