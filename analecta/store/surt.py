"""The keys under which web archives sort URLs: `http://www.example.org/A?b` is `org,example)/a?b`.

Replay looks a URL up by its key, so a key must be, letter for letter, what other tools make of the URL. What they all
do: scheme, `www.`, default port, letter case, order of the query and visitors' numbers do not count.
"""

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

_KEPT = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"  # with letters and digits: all of ASCII that is seen, but # and %
_WWW = re.compile(r"^www\d*\.")
_PORTS = {"http": 80, "https": 443}
# Visitors' numbers: in the path as ASP.NET puts them, and in the query.
_IN_PATH = (r"\((?:[a-z]\([0-9a-z]{24}\))+\)/", r"\([0-9a-z]{24}\)/")
_IN_QUERY = (
    r"jsessionid=[0-9a-z]{32}",
    r"phpsessid=[0-9a-z]{32}",
    r"sid=[0-9a-z]{32}",
    r"aspsessionid[a-z]{8}=[a-z]{24}",
    r"cfid=[^&]+&cftoken=[^&]+",
)
_PATHS = [re.compile(rf"(.*/){number}([^?]+\.aspx.*)", re.I) for number in _IN_PATH]
_QUERIES = [re.compile(rf"(.*){number}(?:&(.*))?", re.I) for number in _IN_QUERY]


def surt_key(url: str) -> str:
    """The key of a canonical http(s) URL."""
    parts = urlsplit(url)
    host = ",".join(reversed(_WWW.sub("", (parts.hostname or "").strip("."), count=1).split(".")))
    port = f":{parts.port}" if parts.port and parts.port != _PORTS[parts.scheme] else ""
    query = _query(parts.query)
    return f"{host}{port}){_path(parts.path)}" + (f"?{query}" if query else "")


def _path(path: str) -> str:
    steps: list[bytes] = []
    for step in _unescaped(path).split(b"/")[1:]:
        if step == b".." and steps:
            steps.pop()
        elif step != b".":
            steps.append(step)
    folders = [step for step in steps[:-1] if step]  # two slashes are one
    text = "/" + _escaped(b"/".join(folders + steps[-1:])).lower()
    for number in _PATHS:
        if found := number.fullmatch(text):
            text = found[1] + found[2]
    return text.removesuffix("/") or "/"


def _query(query: str) -> str:
    text = _escaped(_unescaped(query))
    for number in _QUERIES:
        if found := number.fullmatch(text):
            text = found[1] + (found[2] or "")
    pairs = sorted(tuple(part.split("=", 1)) for part in text.lower().split("&"))
    return "&".join(map("=".join, pairs)) if len(text) > 1 else text.lower()


def _unescaped(text: str) -> bytes:
    """Without escapes, however often they were escaped."""
    raw = text.encode()
    while (plain := unquote_to_bytes(raw)) != raw:
        raw = plain
    return raw


def _escaped(raw: bytes) -> str:
    return quote_from_bytes(raw, safe=_KEPT)
