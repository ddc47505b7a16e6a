"""The pages of any MediaWiki; the URL is that of its api.php.

The wiki is asked in the same breath where its pages are (siteinfo), so that an answer says all that a hit needs.
"""

from urllib.parse import quote

import msgspec

from analecta.seed.engines.engine import Ask, BadAnswer, Engine, Hit, decode, plain, with_query
from analecta.urls import canonical

MOST = 50  # an answer may hold up to 500, of which nobody wants so many


class _Found(msgspec.Struct):
    title: str
    pageid: int
    snippet: str = ""


class _General(msgspec.Struct):
    base: str  # the URL of the main page
    articlepath: str = ""  # "/wiki/$1"
    script: str = ""  # "/w/index.php"


class _Query(msgspec.Struct):
    search: list[_Found]
    general: _General


class _Error(msgspec.Struct):
    code: str
    info: str = ""


class _Answer(msgspec.Struct):
    query: _Query | None = None
    error: _Error | None = None  # comes with status 200


def request(query: str, count: int, page: int, key: str, url: str) -> Ask:
    """Full-text search in the articles (namespace 0)."""
    fields = {"action": "query", "format": "json", "formatversion": 2, "list": "search", "srsearch": query}
    fields |= {"srlimit": min(count, MOST), "sroffset": (page - 1) * min(count, MOST), "srprop": "snippet"}
    return Ask(with_query(url, fields | {"srnamespace": 0, "meta": "siteinfo", "siprop": "general"}))


def read(body: bytes) -> list[Hit]:
    """The articles found, by the wiki's own article path."""
    answer = decode("mediawiki", body, _Answer)
    if answer.error:
        raise BadAnswer(f"mediawiki says {answer.error.code}: {plain(answer.error.info)[:200]}")
    if answer.query is None:
        raise BadAnswer("mediawiki did not answer in its documented format: there is neither query nor error")
    general = answer.query.general
    return [Hit(_url(one, general), plain(one.title), plain(one.snippet)) for one in answer.query.search]


def _url(found: _Found, general: _General) -> str:
    if "$1" in general.articlepath:
        name = quote(found.title.replace(" ", "_"), safe=";@$!*(),/:~", errors="replace")  # as MediaWiki writes titles
        path = general.articlepath.replace("$1", name)
    else:
        path = f"{general.script or '/index.php'}?curid={found.pageid}"
    target = canonical(path, general.base)
    if target is None:
        raise BadAnswer(f"mediawiki has a page at {path[:100]!r} of {general.base[:100]!r}, which is no URL")
    return target.url


ENGINE = Engine("mediawiki", request, read, url="https://en.wikipedia.org/w/api.php", most=MOST)
