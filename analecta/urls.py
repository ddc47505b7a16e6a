"""URLs by the WHATWG rules (ada-url is the one parser), one canonical form and one identity each; what people write."""

import contextlib
import ipaddress
import re
from collections.abc import Callable, Container
from functools import cache

import xxhash
from ada_url import join_url, normalize_url
from publicsuffixlist import PublicSuffixList

from analecta.model import UrlRef

MAX_URL = 1000  # characters, B16
MAX_HOST = 255

_SIGN = 1 << 63
_WRAP = 1 << 64
_UNRESERVED = re.compile(r"%(2[dDeE]|3[0-9]|4[1-9a-fA-F]|5[0-9aA]|5[fF]|6[1-9a-fA-F]|7[0-9aA]|7[eE])")
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_ROUNDS = 8  # of escapes within escapes; more are nobody's address
# A visitor's number in the address makes a new web for each visitor; without it the pages are the same. Names that
# others use too (`?session=opening`, `?sid=123456` of a story) count only with what looks like such a number.
_SESSION = re.compile(
    r"(?i);jsessionid=[^?/]*"
    r"|(?<=[?&])(?:(?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken)=[0-9a-z_-]{6,}"
    r"|(?:sessionid|session_id|session|sid)=(?=[a-z]*[0-9])(?=[0-9]*[a-z])[0-9a-z]{16,})(?:&|$)"
)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_FULL = re.compile(r"[hH][tT][tT][pP][sS]?://")
_CARRIED = re.compile(r"(?i)\?.*https?(?::|%3a)(?:/|%2f){2}")
_OF_THE_PAGE = ("", "#", "?", " ")  # hrefs that begin so depend on the page's own name, not only its directory
_PARAMETER = re.compile(r"\{[^{}]*\}")


def url_id(url: str) -> int:
    """A signed 64-bit identity that fits a SQLite integer; never 0, which stands for 'none'.

    The scheme does not count: http and https are two ways to one page, which is to be fetched once (F26).
    """
    digest = xxhash.xxh3_64_intdigest(url[url.index(":") :].encode())
    return (digest if digest < _SIGN else digest - _WRAP) or 1


def hex_id(id: int) -> str:
    """A URL's id in 16 hexadecimal digits, as other programs get it."""
    return f"{id % _WRAP:016x}"


def partition_of(host: str, partitions: int) -> int:
    """Which partition owns a host."""
    return int(xxhash.xxh3_64_intdigest(host.encode())) % partitions


def canonical(href: str, base: str | None = None) -> UrlRef | None:
    """The canonical target of an http(s) link, or None where WHATWG or our limits say that it is none.

    Userinfo and fragment go; escapes of unreserved characters are undone and the others put in capitals
    (`%7e` is `~`): the forms that RFC 3986 calls equivalent get one identity, as do http and https. Forms that
    are only usually the same page (www, slashes) are told apart here and joined by content digest later.
    """
    try:
        text = join_url(base, href) if base else normalize_url(href)
    except ValueError:
        return None
    # The href is in WHATWG's own form now, so plain string work finds its parts (3 times faster than asking ada).
    if not text.startswith(("http://", "https://")):
        return None
    if "#" in text:
        text = text[: text.index("#")]
    start = text.index("/") + 2
    end = text.find("/", start)
    host = text[start:end]
    if "@" in host:
        host = host[host.rindex("@") + 1 :]
        text = text[:start] + host + text[end:]
        end = start + len(host)
    if "%" in text:
        if _UNRESERVED.search(text):
            plain = _unescaped(text)
            return canonical(plain) if plain else None  # `%%32e` has become a dot, which is a step in a path
        text = _ESCAPE.sub(lambda m: m[0].upper(), text)
    if "=" in text and _SESSION.search(text, end):
        return canonical(text[:end] + _SESSION.sub("", text[end:]).rstrip("?&"))
    if len(text) > MAX_URL or len(host) > MAX_HOST:
        return None
    return UrlRef(text, url_id(text), host)


def _unescaped(text: str) -> str:
    """The text without escapes of unreserved characters, of which `%%341` has two; "" where they go on and on."""
    for _ in range(_ROUNDS):
        text, undone = _UNRESERVED.subn(lambda m: chr(int(m[1], 16)), text)
        if not undone:
            return text
    return ""


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()  # 0.1 s: only where domains matter


def carries(url: str) -> bool:
    """Whether a URL has another address in its query: a button that shares or checks a page, a detour to somewhere."""
    return "?" in url and _CARRIED.match(url, url.index("?")) is not None


def is_below(host: str, hosts: Container[str]) -> bool:
    """Whether a host is one of some hosts, or below one of them."""
    while host not in hosts:
        _, dot, host = host.partition(".")
        if not dot:
            return False
    return True


def domain_of(host: str) -> str:
    """The registrable domain of a host, such as example.org of www.example.org; an address has none but itself."""
    name = host.partition(":")[0]
    is_address = name.startswith("[") or name.rpartition(".")[2].isdigit()
    return host if is_address else _suffixes().privatesuffix(name) or host


class Joiner:
    """Joins hrefs to page URLs through a cache: most links of a site stand on many of its pages.

    A relative href means the same for all pages of one directory, an absolute path for all pages of one
    origin, a full URL everywhere: that is the cache key. A hit costs a tenth of a parse.
    """

    def __init__(self, size: int = 50_000, join: Callable[[str, str | None], UrlRef | None] = canonical) -> None:
        self.size = size
        self.join = join
        self._cache: dict[tuple[str, str], UrlRef | None] = {}

    def base(self, url: str) -> Callable[[str], UrlRef | None]:
        """A function that joins hrefs found on the page (or in the <base>) `url`."""
        cache, join = self._cache, self.join
        if len(cache) > self.size:
            cache.clear()
        path_start = url.find("/", url.find("//") + 2)
        query = url.find("?")
        if path_start < 0 or 0 <= query < path_start:
            return lambda href: join(href, url)
        origin = url[:path_start]
        directory = url[: url.rfind("/", 0, query if query >= 0 else len(url)) + 1]

        def joined(href: str) -> UrlRef | None:
            first = href[:1]
            if first in _OF_THE_PAGE or not href.isprintable():
                return join(href, url)
            if first == "/" or first == "\\":
                scope = origin
            elif _SCHEME.match(href):
                if not _FULL.match(href):
                    return join(href, url)
                scope = ""
            else:
                scope = directory
            key = (scope, href)
            try:
                return cache[key]
            except KeyError:
                target = cache[key] = join(href, url)
                return target

        return joined


def is_loopback(connect_to: str) -> bool:
    """Whether an address like "127.0.0.1:8080" or "https://[::1]:443" is on this machine."""
    return _is_here(connect_to.rpartition("//")[2].rpartition(":")[0])


def origin(url: str) -> str:
    """Scheme, host and port of a URL, or of a template of URLs; "" where it is none."""
    target = canonical(_PARAMETER.sub("x", url))
    return "/".join(target.url.split("/", 3)[:3]) if target else ""


def on_this_machine(url: str) -> bool:
    """Whether a URL's host is this machine by its very name, whatever a name server may say."""
    target = canonical(_PARAMETER.sub("x", url))
    return target is not None and _is_here(re.sub(r":\d+$", "", target.host))


def _is_here(host: str) -> bool:
    name = host.strip("[]")
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(name).is_loopback
    return name == "localhost"


# --- Which words are an address that can be crawled, and why others are none -----------------------------------------


_SCHEME_NO_PORT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")  # "example.org:8080" has a port, no scheme
_BARE = re.compile(r"[\w-]+(?:\.[\w-]+)+\.?(?::\d+)?(?:[/?].*)?|localhost(?::\d+)?(?:[/?].*)?")
_EVIDENT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|www\.|(?:javascript|mailto|data|about|place):", re.IGNORECASE)


def address(words: str) -> tuple[str, str]:
    """The URL that is meant, or why none is."""
    if len(words) > MAX_URL:
        return "", f"it is longer than {MAX_URL} characters"
    if scheme := _SCHEME_NO_PORT.match(words):
        if scheme[0].lower() in ("http:", "https:"):
            return words, ""
        return "", f"only http and https can be crawled, not {scheme[0]}"
    if _BARE.fullmatch(words):
        return f"https://{words}", ""
    return "", "it looks neither like a URL nor like a host"


def address_line(line: str) -> tuple[str, str]:
    """The same for a line of a list, which holds nothing else."""
    if len(line.split()) > 1:
        return "", "there is more than one word on the line"
    return address(line)


def evident(words: str) -> bool:
    """Whether words are meant as a link where names may stand too: `Node.js` is no host there."""
    return _EVIDENT.match(words) is not None
