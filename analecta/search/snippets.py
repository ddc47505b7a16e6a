"""The part of a text that answers a question, with its words marked."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import cache

import msgspec

from analecta.search.index import apart
from analecta.text.stems import stem_all

WIDTH = 220  # characters
_LOOKED_AT = 100_000  # characters of a text, its first
_MOST = 500  # places that are weighed
_BEFORE = WIDTH // 4
# Menus, tables and lists: four short lines in a row. In prose no more than two are, where a link has a line of its own.
_NO_PROSE = re.compile(r"(?:^.{0,24}\n){4,}", re.MULTILINE)


class Snippet(msgspec.Struct, frozen=True):
    """Some of a text; marks are where the words of the question are in it, from and to."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def parts(self) -> list[tuple[str, bool]]:
        """The text in pieces, and whether each is marked."""
        found, at = [], 0
        for begin, end in self.marks:
            found += [(self.text[at:begin], False), (self.text[begin:end], True)]
            at = end
        return [piece for piece in (*found, (self.text[at:], False)) if piece[0]]


def snippet(text: str, stems: Collection[str], words: Collection[str]) -> Snippet:
    """The part of a text that has the most different words of a question, of its prose where that has as many.

    Where it has none it is the beginning.
    """
    text = unicodedata.normalize("NFC", text[:_LOOKED_AT])
    lines = [" ".join(part.split()) for part in (_NO_PROSE.sub("", text), text)]
    tried = [(line, found, *_best(found)) for line in lines for found in [places(line, stems, words)]]
    text, found, _, start = max(tried, key=lambda one: (one[2], bool(one[0])))  # the first of equals
    begin = _begin(text, start - _BEFORE if found else 0)
    end = _end(text, begin + WIDTH)
    before, after = ("… " if begin else ""), ("…" if end < len(text) else "")
    shift = len(before) - begin
    marks = tuple((a + shift, b + shift) for a, b, _ in found if a >= begin and b <= end)
    return Snippet(f"{before}{text[begin:end]}{after}", marks)


def places(text: str, stems: Collection[str], words: Collection[str]) -> list[tuple[int, int, str]]:
    """Where the words are in a text: from, to, and which it is."""
    pattern = _pattern(frozenset(stems), frozenset(words))
    if pattern is None:
        return []
    found = []
    for match in pattern.finditer(folded(text)):
        known = match[0] if match[0] in words else _stem(match[0])
        if known in stems or known in words:
            found.append((match.start(), match.end(), known))
            if len(found) == _MOST:
                break
    return found


def folded(text: str) -> str:
    """Lower case without accents, each character in its place."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


class _Folding(dict[int, str]):
    """What each character becomes; learnt as they come."""

    def __missing__(self, code: int) -> str:
        latin = code < 0x250 or 0x1E00 <= code < 0x1F00
        small = (unicodedata.normalize("NFD", chr(code))[0] if latin else chr(code)).lower()
        self[code] = small if len(small) == 1 else chr(code)
        return self[code]


_FOLDING = _Folding()


@cache
def _pattern(stems: frozenset[str], words: frozenset[str]) -> "re.Pattern[str] | None":
    """Finds all that may be one of the words: stems differ from their words at the end, from the last letter on."""
    begins = [rf"{re.escape(stem[: max(2, len(stem) - 1)])}\w*" for stem in stems if not _alone(stem)]
    whole = [re.escape(word) for word in words if not _alone(word)]
    alone = [re.escape(one) for one in sorted(stems | words) if _alone(one)]
    bounded = sorted({*begins, *whole}, key=len, reverse=True)
    parts = ([rf"\b(?:{'|'.join(bounded)})\b"] if bounded else []) + alone
    return re.compile("|".join(parts)) if parts else None


def _alone(word: str) -> bool:
    """Whether it is a character of a script without spaces."""
    return len(word) == 1 and apart(word) != word


@cache
def _stem(word: str) -> str:
    return stem_all([word], "en")[0]


def _best(found: Sequence[tuple[int, int, str]]) -> tuple[int, int]:
    """How many different words a window has at most, and where the earliest of those begins."""
    if not found:
        return 0, 0
    starts = [begin for begin, _, _ in found]

    def different(n: int) -> int:
        last = bisect_left(starts, starts[n] + WIDTH - _BEFORE)
        return len({word for _, _, word in found[n:last]})

    best = max(range(len(found)), key=lambda n: (different(n), -n))
    return different(best), starts[best]


def _begin(text: str, start: int) -> int:
    """Where to begin: no nearer to the end than there is text to show, and with a word if one begins near."""
    start = max(0, min(start, len(text) - WIDTH))
    space = text.find(" ", start, start + 20) if 0 < start < len(text) - WIDTH else -1
    return space + 1 if space >= 0 else start


def _end(text: str, end: int) -> int:
    """Where to end: after a whole word if one ends near."""
    space = text.rfind(" ", end - 20, end + 1) if end < len(text) else -1
    return space if space > 0 else min(len(text), end)
