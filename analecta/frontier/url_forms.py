"""The forms of URLs, by which traps are known: what repeats, what differs only by numbers, where new links lead."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import msgspec

from analecta.model import Page, UrlRef

_MAX_SEGMENTS = 20
_DEEP = 3  # segments from which a path that extends the path of its parent is growing
_FERTILE = 0.8  # share of links to their own domain that are new on the pages of a domain without end
_WORD = re.compile(r"[A-Za-z0-9]+")
_VARIES = re.compile(r"[?\d]")
# A group of one to three path segments that stands at least three times in a row, or a pair that stands twice.
_REPEATS = re.compile(r"/([^/]+)/\1/\1(?:/|$)|/([^/]+/[^/]+(?:/[^/]+)?)/\2(?:/|$)")


def refusal(url: str) -> str:
    """Why this URL is not worth a try, judged by its form alone; "" where it is."""
    path = url[url.index("/", 8) :].partition("?")[0]
    if path.count("/") > _MAX_SEGMENTS:
        return "trap-depth"
    return "trap-repeat" if _REPEATS.search(path) else ""


def shape(url: str) -> str:
    """The form of a URL: numbers and tokens as 0, and of the query only the names."""
    start = url.index("/", 8)
    path, mark, query = url[start:].partition("?")
    names = sorted({part.partition("=")[0] for part in query.split("&")}) if query else []
    return url[:start] + formed(path) + mark + "&".join(formed(name) for name in names)


def formed(text: str) -> str:
    """A text without its numbers: `item17` as `item0`, a token of letters and digits as `0`."""
    return _WORD.sub(_form, text)


def _form(found: "re.Match[str]") -> str:
    word = found[0]
    if word.isalpha():
        return word
    name = word.rstrip("0123456789")
    return f"{name}0" if name.isalpha() else "0"


@lru_cache(1024)  # a page that comes in is looked at four times
def kind_of(url: str) -> tuple[str, str]:
    """The narrowest group of a URL: its form where that varies, else its first directory and depth."""
    start = url.index("/", 8)
    if _VARIES.search(url, start):
        return "form", shape(url)
    return "plain", f"{url[:start]}{folder_of(url[start:])} {min(url.count('/', start), _DEEP + 1)}"


def folder_of(path: str) -> str:
    """The first directory of a path, without its numbers."""
    return formed(path[: path.find("/", 1) + 1])


def is_kin(url: str, parent: str) -> bool:
    """Whether a URL is of the kind of the page that links to it: of the same form, or a longer form of it."""
    start = url.find("/", 8) + 1
    if not start or url[:start] != parent[:start]:
        return False
    path, mark, _ = url.partition("?")
    above, other, _ = parent.partition("?")
    if _VARIES.search(url, start) and formed(path) == formed(above) and (mark or not other):
        return True
    return path.count("/", start) >= _DEEP and path.startswith(above.rstrip("/") + "/") and len(above) > start


def is_front(url: str) -> bool:
    """Whether it is the front page of its host."""
    return url.count("/") == 3 and url.endswith("/")


def is_trusted(url: str, trusted: Iterable[str]) -> bool:
    """Whether a person says that there is no trap: of the host, or of all URLs that begin so."""
    rest = url.partition("://")[2]
    host = rest.partition("/")[0]
    return any(host == one or ("/" in one and (rest.startswith(one) or url.startswith(one))) for one in trusted)


def two_labels(host: str) -> str:
    """The last two labels of a host name: its domain, without a look at the list of public suffixes."""
    return ".".join(host.rsplit(".", 2)[-2:])


class NewLinks(msgspec.Struct, frozen=True):
    """Where the new links of a page lead."""

    out: bool = False  # to pages of another kind
    off: bool = False  # to other domains
    fertile: bool = False  # nearly all links to its own domain are new


def leads_of(page: Page, fresh: Sequence[UrlRef], domain_of: Callable[[str], str]) -> NewLinks:
    """Of a page with these new links."""
    url, host = page.url, page.host
    folder = url[: url.find("/", url.index("/", 8) + 1) + 1]
    out = False
    near = 0  # new links inside the domain
    domain = ""
    for target in fresh:
        if target.host == host:
            near += 1
            plain = not out and not _VARIES.search(target.url, target.url.index("/", 8))
            out = out or (plain and not target.url.startswith(folder) and not is_kin(target.url, url))
        else:
            out = True
            domain = domain or domain_of(host)
            near += domain_of(target.host) == domain
    if not 1 < near == len(fresh):
        return NewLinks(out, near < len(fresh), False)
    own = two_labels(host)
    inside = sum(link.target.host == host or two_labels(link.target.host) == own for link in page.links)
    return NewLinks(out, False, near >= _FERTILE * inside)
