"""Exact phrases: words in double quotes must stand in a page one after the other."""

import re

from analecta.sources.engines.engine import Hit

MAX_LENGTH, MAX_WORDS = 400, 50  # of a query: Brave's bounds, and as much as any engine makes use of

_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»″", '"'))
_PHRASE = re.compile(r'"([^"]+)"')
_WORD = re.compile(r"\w+")


def phrase(text: str) -> str:
    """The query that finds exactly these words, such as a title (P2)."""
    inner = " ".join(text.translate(_QUOTES).replace('"', " ").split())
    return f'"{inner}"'


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


def may_hold(hit: Hit, wanted: list[str]) -> bool:
    """Whether a page may hold all the phrases; only a title and a text that are both known can speak against it."""
    if not hit.title or not hit.text:
        return True
    shown = f" {_words(hit.title)} | {_words(hit.text)} "
    return all(f" {one} " in shown for one in wanted)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
