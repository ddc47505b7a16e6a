import inspect
from urllib.parse import parse_qs, urlsplit

import pytest

from analecta.sources.engines import ENGINES
from analecta.sources.engines.engine import BadAnswer, EngineHit
from tests.sources.engines import samples

HITS = [EngineHit(*page) for page in samples.PAGES]
JSON = {name: getattr(samples, name)() for name in ("searxng", "brave", "mediawiki", "openalex", "marginalia")}

GARBAGE = [b"", b"<html>busy</html>", b"[]", b"{}", b'{"results": 7, "query": 7, "type": "x"}', b"\xff"]
GARBAGE.append(b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b', "results": [], "type": "search"}')


def asked(
    name: str, query: str = "bees", count: int = 7, page: int = 2, key: str = "k", url: str = ""
) -> dict[str, str]:
    ask = ENGINES[name].request(query, count, page, key, url or ENGINES[name].url)
    return {field: values[0] for field, values in parse_qs(urlsplit(ask.url).query).items()}


@pytest.mark.parametrize("name", ["searxng", "brave", "marginalia"])
def test_hits_are_read_as_documented(name: str) -> None:
    assert ENGINES[name].read(JSON[name]) == HITS


def test_the_pages_of_a_wiki_are_at_its_article_path() -> None:
    first, second = ENGINES["mediawiki"].read(JSON["mediawiki"])
    assert first == EngineHit("https://wiki.test/wiki/Bee", "Bee", "Bee & so")
    assert second.url == "https://wiki.test/wiki/Bee_hive_%26_co%3F"


def test_a_wiki_without_article_path_is_asked_by_page_number() -> None:
    hits = ENGINES["mediawiki"].read(samples.mediawiki(["Bee"], articlepath=""))
    assert [hit.url for hit in hits] == ["https://wiki.test/w/index.php?curid=7"]


def test_a_work_s_open_copy_comes_before_the_publisher_s_and_the_doi() -> None:
    hits = ENGINES["openalex"].read(JSON["openalex"])
    assert hits == [HITS[0], EngineHit("https://doi.org/10.1/h", "Hives")]  # a work that is nowhere is no hit


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("body", GARBAGE, ids=range(len(GARBAGE)))
def test_anything_else_is_an_error_that_names_the_engine(name: str, body: bytes) -> None:
    with pytest.raises(BadAnswer, match=name):
        ENGINES[name].read(body)


@pytest.mark.parametrize(
    ("name", "field"), [("searxng", "url"), ("brave", "url"), ("marginalia", "title"), ("mediawiki", "title")]
)
def test_a_field_of_the_wrong_type_is_an_error(name: str, field: str) -> None:
    start = JSON[name].index(f'"{field}": "'.encode()) + len(field) + 4
    wrong = JSON[name][:start] + b"[1]" + JSON[name][JSON[name].index(b'"', start + 1) + 1 :]
    with pytest.raises(BadAnswer, match=f"{name}.*{field}"):
        ENGINES[name].read(wrong)


def test_an_error_of_a_wiki_comes_with_status_200() -> None:
    with pytest.raises(BadAnswer, match="search-disabled: No text search"):
        ENGINES["mediawiki"].read(b'{"error": {"code": "search-disabled", "info": "No <b>text</b> search."}}')


def test_searxng_without_answers_from_its_engines_has_not_searched() -> None:
    with pytest.raises(BadAnswer, match="x timeout"):
        ENGINES["searxng"].read(samples.searxng([], unresponsive_engines=[["x", "timeout"]]))
    assert ENGINES["searxng"].read(samples.searxng([])) == []


def test_brave_leaves_the_web_out_where_nothing_was_found() -> None:
    assert ENGINES["brave"].read(b'{"type": "search", "query": {"original": "x"}}') == []


def test_requests_are_as_documented() -> None:
    assert asked("searxng", url="https://s.test/") == {"q": "bees", "format": "json", "pageno": "2"}
    assert asked("brave").items() >= {"q": "bees", "count": "7", "offset": "1"}.items()
    assert asked("mediawiki").items() >= {"srsearch": "bees", "srlimit": "7", "sroffset": "7", "list": "search"}.items()
    assert asked("openalex").items() >= {"search": "bees", "per-page": "7", "page": "2", "api_key": "k"}.items()
    assert asked("marginalia") == {"query": "bees", "count": "7", "page": "2"}


@pytest.mark.parametrize("name", ["brave", "marginalia"])
def test_a_key_goes_into_the_head_and_not_into_the_url(name: str) -> None:
    ask = ENGINES[name].request("bees", 7, 1, "secret", ENGINES[name].url)
    assert "secret" in dict(ask.headers).values()
    assert "secret" not in ask.url


@pytest.mark.parametrize("url", ["https://s.test", "https://s.test/", "https://s.test/search"])
def test_searxng_is_found_below_the_address_of_the_instance(url: str) -> None:
    assert ENGINES["searxng"].request("bees", 7, 1, "", url).url.startswith("https://s.test/search?q=bees&")


@pytest.mark.parametrize("name", JSON)
def test_exact_phrases_are_passed_on_whatever_the_letters(name: str) -> None:
    sent = asked(name, '"die Bienen" ü & #1', url="https://e.test/x?own=1")
    assert '"die Bienen" ü & #1' in sent.values()
    assert "? x" in asked(name, "\ud800 x").values()  # a letter that is none


def test_signs_of_openalex_s_query_language_are_taken_out_of_titles() -> None:
    assert asked("openalex", '"What is life?"')["search"] == '"What is life "'


def test_the_library_s_own_index_is_no_web_service() -> None:
    assert list(ENGINES) == ["searxng", "brave", "mediawiki", "openalex", "marginalia", "opensearch"]
    assert all(len(inspect.signature(engine.request).parameters) == 5 for engine in ENGINES.values())
