"""What a search engine is: two pure functions. One says what to ask for, the other reads what comes back.

An engine that knows which pages link to a page has a second pair (P6).

Neither touches the network, so an engine can be tried on bytes; who asks, how often and how politely is not its matter.
"""

import html
import re
from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import urlencode

import msgspec

from analecta.errors import ResourceError


class EngineRequest(msgspec.Struct, frozen=True):
    """A request to make: a URL and the header fields that go with it."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()


class EngineHit(msgspec.Struct, frozen=True):
    """A page that an engine found; title and text as far as it tells them.

    `ref` is what an engine itself calls it, "openalex:W12", where back-links cannot be asked for by URL.
    """

    url: str
    title: str = ""
    text: str = ""
    ref: str = ""


class BadAnswer(ResourceError):
    """An engine said something else than its documented format; the text says which engine and what was wrong."""


# Query, how many (as many as one answer may hold, at most), which page (from 1), key, URL of the engine.
Request = Callable[[str, int, int, str, str], EngineRequest]


class BackLinks(msgspec.Struct, frozen=True):
    """How an engine is asked which pages link to a page, and how its answer is read.

    Where only some of a kind offer it, `first` is what to ask before, and `offered` says whether this one does.
    """

    request: Callable[[EngineHit, int, int, str, str], EngineRequest | None]  # None: there is nothing to ask
    read: Callable[[bytes, EngineHit], list[EngineHit]]
    first: Callable[[str], EngineRequest] | None = None
    offered: Callable[[bytes], bool] = bool


class EngineKind(msgspec.Struct, frozen=True):
    """A kind of search engine: how it is asked and read, and what a person should know of it."""

    name: str
    request: Request
    read: Callable[[bytes], list[EngineHit]]
    url: str = ""  # where it is, if there is one place for all
    key: str = ""  # the environment variable that holds its key; "" = it knows no keys
    keyless: str | None = ""  # the key to use where a person has none; None = it does not work without
    most: int = 10  # hits that one answer holds at most
    phrases: bool = True  # whether it finds "words in quotes" as they stand
    refusal: str = ""  # what to look at when it refuses to answer (401, 403)
    describe: Callable[[bytes, str], Request] | None = None  # its URL is a document that says how it is asked
    backlinks: BackLinks | None = None  # if it knows which pages link to one


T = TypeVar("T")


def decode(engine: str, body: bytes, kind: type[T]) -> T:
    """JSON of exactly this kind; fields that nobody asked for are passed over."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:  # the last: nested without end
        raise BadAnswer(f"{engine} did not answer in its documented format: {error}") from error


def with_query(url: str, fields: Mapping[str, object]) -> str:
    """The URL with these fields in its query, after those that it has."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(fields, errors='replace')}"


_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def plain(text: str | None) -> str:
    """Text without mark-up: engines put the words they found in bold."""
    return " ".join(html.unescape(_TAG.sub("", text or "")).split())


# --- Exact phrases: words in double quotes must stand in a page one after the other ----------------------------------


MAX_LENGTH, MAX_WORDS = 400, 50  # of a query: Brave's bounds, and as much as any engine makes use of

_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»″", '"'))
_PHRASE = re.compile(r'"([^"]+)"')
_WORD = re.compile(r"\w+")


def tidy(query: str) -> str:
    """The query as it is sent: straight quotes, single blanks, no longer than engines take."""
    words = query.translate(_QUOTES).split()[:MAX_WORDS]
    while len(words) > 1 and len(" ".join(words)) >= MAX_LENGTH:
        words.pop()
    short = " ".join(words)[: MAX_LENGTH - 1]
    return f'{short}"' if short.count('"') % 2 else short  # a phrase that was cut ends here


def phrases(query: str) -> list[str]:
    """The phrases of a query, in small letters without punctuation."""
    found = (_words(inner) for inner in _PHRASE.findall(query.translate(_QUOTES)))
    return [one for one in found if one]


def may_hold(hit: EngineHit, wanted: list[str]) -> bool:
    """Whether a page may hold all the phrases; only a title and a text that are both known can speak against it."""
    if not hit.title or not hit.text:
        return True
    shown = f" {_words(hit.title)} | {_words(hit.text)} "
    return all(f" {one} " in shown for one in wanted)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
