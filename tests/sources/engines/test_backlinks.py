"""Which pages link to a page (P6): what engines are asked, how they are read, and that one failure is not the end."""

import asyncio
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from analecta.model import FetchResult, Response
from analecta.settings.schema import SearchSettings
from analecta.sources.engines import ENGINES
from analecta.sources.engines.client import EngineAddress, choose
from analecta.sources.engines.engine import BackLinks, BadAnswer, EngineHit, EngineRequest
from analecta.sources.engines.session import EngineResult, Session
from tests.sources.engines import samples

PAGE = EngineHit("https://a.test/bees", ref="openalex:W12")
GENERAL = {"base": "https://wiki.test/wiki/Main_Page", "articlepath": "/wiki/$1"}
OFFERED, NOT_OFFERED = b'{"instance_name": "x", "backlinks": "link:"}', b'{"instance_name": "SearXNG", "engines": []}'
WIKI = "https://wiki.test/w/api.php"


def links(name: str) -> BackLinks:
    found = ENGINES[name].backlinks
    assert found is not None
    return found


def asked(name: str, page: EngineHit = PAGE, number: int = 1, url: str = "") -> dict[str, str]:
    ask = links(name).request(page, 7, number, "", url or ENGINES[name].url)
    return {field: values[0] for field, values in parse_qs(urlsplit(ask.url).query).items()} if ask else {}


def wiki(**lists: list[dict[str, object]]) -> bytes:
    return json.dumps({"query": {"general": GENERAL} | lists}).encode()


def test_a_wiki_is_asked_which_articles_cite_a_page_of_the_web() -> None:
    sent = asked("mediawiki", url=WIKI)
    assert sent.items() >= {"list": "exturlusage", "euquery": "a.test/bees", "eunamespace": "0"}.items()
    cited = [
        {"pageid": 1, "title": "Honey", "url": "http://a.test/bees"},
        {"pageid": 2, "title": "Hive", "url": "https://a.test/bees/more"},  # begins so, but is another page
    ]
    assert links("mediawiki").read(wiki(exturlusage=cited), PAGE) == [
        EngineHit("https://wiki.test/wiki/Honey", "Honey")
    ]


@pytest.mark.parametrize("url", ["https://wiki.test/wiki/Bee_hive", "https://wiki.test/w/index.php?title=Bee_hive"])
def test_a_wiki_is_asked_which_articles_link_to_one_of_its_own(url: str) -> None:
    assert asked("mediawiki", EngineHit(url), url=WIKI).items() >= {"list": "backlinks", "bltitle": "Bee hive"}.items()
    body = wiki(backlinks=[{"pageid": 1, "ns": 0, "title": "Honey"}])
    assert [hit.url for hit in links("mediawiki").read(body, EngineHit(url))] == ["https://wiki.test/wiki/Honey"]


def test_a_wiki_s_one_answer_is_all_and_any_other_is_an_error() -> None:
    assert asked("mediawiki", number=2) == {}
    with pytest.raises(BadAnswer, match="mediawiki"):
        links("mediawiki").read(wiki(search=[]), PAGE)


def test_openalex_is_asked_for_works_that_cite_one_which_it_found() -> None:
    assert asked("openalex").items() >= {"filter": "cites:W12", "per-page": "7", "page": "1"}.items()
    assert asked("openalex", EngineHit("https://a.test/bees")) == {}
    work = {"id": "https://openalex.org/W34", "doi": "https://doi.org/10.1/h", "display_name": "Hives"}
    body = json.dumps({"results": [work]}).encode()
    assert links("openalex").read(body, PAGE) == [EngineHit("https://doi.org/10.1/h", "Hives", ref="openalex:W34")]


class Web:
    """Answers by path, and notes what it was asked."""

    def __init__(self, **answers: bytes | int) -> None:
        self.answers, self.asked = answers, list[str]()

    async def ask(self, _chosen: EngineAddress, ask: EngineRequest) -> FetchResult:
        parts = urlsplit(ask.url)
        self.asked.append(parse_qs(parts.query).get("q", [parts.path])[0])
        said = self.answers.get(parts.path.strip("/"), 404)
        status, body = (said, b"") if isinstance(said, int) else (200, said)
        return Response(ask.url, status, b"", {}, body, body)

    def linked(self, *urls: str, most: int = 5, engines: str = "searxng", **more: object) -> EngineResult | None:
        chosen = choose(engines.split(), {"searxng": "http://127.0.0.1/search"}, {"BRAVE_API_KEY": "k"}, 0)
        session = Session(chosen, self.ask, **more)  # type: ignore[arg-type]
        return asyncio.run(session.backlinks([EngineHit(url) for url in urls], most))


def test_a_searxng_that_announces_it_is_asked_for_back_links() -> None:
    web = Web(config=OFFERED, search=samples.searxng())
    found = web.linked("http://x.test/1", "http://x.test/2", "http://x.test/1")
    assert web.asked == ["/config", "link:http://x.test/1", "link:http://x.test/2"]
    assert found
    assert [hit.url for hit in found.hits["http://x.test/2"]] == [url for url, *_ in samples.PAGES]


def test_a_real_searxng_is_not_asked_for_what_it_cannot_tell() -> None:
    web = Web(config=NOT_OFFERED, search=samples.searxng())
    assert web.linked("http://x.test/1") is None
    assert web.asked == ["/config"]


def test_engines_without_back_links_are_not_asked_at_all() -> None:
    web = Web()
    assert web.linked("http://x.test/1", engines="brave marginalia") is None
    assert web.asked == []


def test_a_source_that_fails_says_so_and_the_others_go_on() -> None:
    class Shelf:
        async def __call__(self, query: str, wanted: int) -> list[EngineHit]:
            return []

        async def offers_backlinks(self) -> bool:
            return True

        async def backlinks(self, page: EngineHit, wanted: int) -> list[EngineHit]:
            return [EngineHit("http://hub.test/")]

    found = Web(config=OFFERED, search=500).linked("http://x.test/1", others={"shelf": Shelf()})
    assert found
    assert [hit.url for hit in found.hits["http://x.test/1"]] == ["http://hub.test/"]
    assert found.troubles == ("searxng answered with an error (HTTP 500)",)


def test_back_links_are_paid_from_the_same_budget() -> None:
    web = Web(config=OFFERED, search=samples.searxng())
    found = web.linked("http://x.test/1", "http://x.test/2", search=SearchSettings(budget=2))
    assert found
    assert (len(web.asked), len(found.hits["http://x.test/1"])) == (2, 2)
    assert "budget of 2" in found.troubles[0]


def test_back_links_are_kept_apart_from_searches(tmp_path: Path) -> None:
    web = Web(config=OFFERED, search=samples.searxng())
    first = web.linked("http://x.test/1", cache=tmp_path)
    assert web.linked("http://x.test/1", cache=tmp_path) == first
    assert web.asked == ["/config", "link:http://x.test/1", "/config"]
