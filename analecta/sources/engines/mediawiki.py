"""The pages of any MediaWiki; the URL is that of its api.php.

The wiki is asked in the same breath where its pages are (siteinfo), so that an answer says all that a hit needs.
It knows which of its articles link to one another, and which cite a page of the web.
"""

from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec

from analecta.sources.engines.engine import (
    BackLinks,
    BadAnswer,
    EngineHit,
    EngineKind,
    EngineRequest,
    decode,
    plain,
    with_query,
)
from analecta.urls import canonical

MOST = 50  # an answer may hold up to 500, of which nobody wants so many


class _MediawikiHit(msgspec.Struct):
    title: str
    pageid: int
    snippet: str = ""
    url: str = ""  # that an article cites


class _General(msgspec.Struct):
    base: str  # the URL of the main page
    articlepath: str = ""  # "/wiki/$1"
    script: str = ""  # "/w/index.php"


class _Query(msgspec.Struct):
    general: _General
    search: list[_MediawikiHit] | None = None
    backlinks: list[_MediawikiHit] | None = None
    exturlusage: list[_MediawikiHit] | None = None


class _Error(msgspec.Struct):
    code: str
    info: str = ""


class _MediawikiAnswer(msgspec.Struct):
    query: _Query | None = None
    error: _Error | None = None  # comes with status 200


def request(query: str, count: int, page: int, key: str, url: str) -> EngineRequest:
    """Full-text search in the articles (namespace 0)."""
    fields = {"list": "search", "srsearch": query, "srlimit": count, "srprop": "snippet"}
    return _ask(fields | {"sroffset": (page - 1) * count, "srnamespace": 0}, url)


def linking(page: EngineHit, count: int, number: int, key: str, url: str) -> EngineRequest | None:
    """The articles that link to one of the same wiki, or else cite this page of the web; one answer is all."""
    if number > 1:
        return None
    if title := _title(page.url, url):
        fields = {"list": "backlinks", "bltitle": title, "bllimit": count, "blnamespace": 0}
        return _ask(fields | {"blfilterredir": "nonredirects"}, url)
    address = page.url.partition("://")[2]  # finds what begins so, too: more than is wanted
    return _ask({"list": "exturlusage", "euquery": address, "eulimit": MOST, "eunamespace": 0}, url)


def _ask(fields: dict[str, object], url: str) -> EngineRequest:
    usual = {"action": "query", "format": "json", "formatversion": 2, "meta": "siteinfo", "siprop": "general"}
    return EngineRequest(with_query(url, usual | fields))


def _title(page: str, api: str) -> str:
    """The title of an article by its address, "" where it is none of this wiki."""
    parts, home = urlsplit(page), urlsplit(api)
    if parts.netloc != home.netloc:
        return ""
    last = parse_qs(parts.query).get("title", [parts.path.partition("/wiki/")[2]])[0]
    return unquote(last).replace("_", " ")


def read(body: bytes) -> list[EngineHit]:
    """The articles found, by the wiki's own article path."""
    query = _query(body)
    return [_hit(one, query.general) for one in _listed(query.search)]


def read_linking(body: bytes, page: EngineHit) -> list[EngineHit]:
    """The articles that link to the page."""
    query, wanted = _query(body), canonical(page.url)
    if query.exturlusage is None:
        return [_hit(one, query.general) for one in _listed(query.backlinks)]
    cited = [(one, canonical(one.url)) for one in query.exturlusage]
    return [_hit(one, query.general) for one, url in cited if url and wanted and url.id == wanted.id]


def _query(body: bytes) -> _Query:
    answer = decode("mediawiki", body, _MediawikiAnswer)
    if answer.error:
        raise BadAnswer(f"mediawiki says {answer.error.code}: {plain(answer.error.info)[:200]}")
    if answer.query is None:
        raise BadAnswer("mediawiki did not answer in its documented format: there is neither query nor error")
    return answer.query


def _listed(found: list[_MediawikiHit] | None) -> list[_MediawikiHit]:
    if found is None:
        raise BadAnswer("mediawiki did not answer in its documented format: what was asked for is not there")
    return found


def _hit(found: _MediawikiHit, general: _General) -> EngineHit:
    if "$1" in general.articlepath:
        name = quote(found.title.replace(" ", "_"), safe=";@$!*(),/:~", errors="replace")  # as MediaWiki writes titles
        path = general.articlepath.replace("$1", name)
    else:
        path = f"{general.script or '/index.php'}?curid={found.pageid}"
    target = canonical(path, general.base)
    if target is None:
        raise BadAnswer(f"mediawiki has a page at {path[:100]!r} of {general.base[:100]!r}, which is no URL")
    return EngineHit(target.url, plain(found.title), plain(found.snippet))


ENGINE = EngineKind(
    "mediawiki",
    request,
    read,
    url="https://en.wikipedia.org/w/api.php",
    most=MOST,
    backlinks=BackLinks(linking, read_linking),
)
