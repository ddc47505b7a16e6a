"""Characters as PDFs hold them -> characters as people write them: ligatures, accents set as glyphs, line ends."""

import re
import unicodedata
from collections.abc import Container, Iterable

# Accents that TeX and old fonts print as a glyph of their own over (or under) a letter.
ACCENTS = {
    "\u00b4": "\u0301", "\u02ca": "\u0301", "`": "\u0300", "\u02cb": "\u0300", "\u00a8": "\u0308",
    "^": "\u0302", "\u02c6": "\u0302", "~": "\u0303", "\u02dc": "\u0303", "\u00af": "\u0304",
    "\u02c7": "\u030c", "\u02d8": "\u0306", "\u02d9": "\u0307", "\u02da": "\u030a", "\u02dd": "\u030b",
    "\u00b8": "\u0327", "\u02db": "\u0328",
}  # fmt: skip
ACCENTS |= {mark: mark for mark in "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328"}

_ODD = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st",
    "\x0b": "ff", "\x0c": "fi", "\x0e": "ffi", "\x0f": "ffl",  # TeX's own encoding, where a font does not say more
    "\x02": "-", "\ufffe": "-", "\u2010": "-", "\u2011": "-", "\xad": "-",  # pdfium marks hyphens at line ends
    "\u2212": "-", "\xa0": " ", "\u200b": "", "\ufeff": "",
}  # fmt: skip
_WITHOUT_DOT = {"\u0131": "i", "\u0237": "j"}
_LAST_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]++)-$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
# Second halves of compounds that English writes with a hyphen.
_COMPOUND = frozenset(
    "based driven aware oriented grained free like time scale level order dimensional efficient specific related "
    "dependent independent wide term defined art linear parametric local empty negative supervised known".split()
)
_IN_A_LINK = re.compile(r"(?:https?://|www\.)\S*[/.\-_=?&]$")


def plain(text: str) -> str:
    """Text without ligatures, odd hyphens and control characters, as valid Unicode."""
    if text.isascii() and text.isprintable():
        return text
    text = "".join(_ODD.get(char, char) for char in text)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = "".join(char for char in text if char.isprintable() or char == " ")
    return unicodedata.normalize("NFC", text)


def accented(letter: str, accent: str) -> str:
    """A letter with the accent that was printed over it."""
    return unicodedata.normalize("NFC", _WITHOUT_DOT.get(letter, letter) + ACCENTS[accent])


def join_lines(lines: Iterable[str], known: Container[str] = ()) -> str:
    """One running text; words that were divided at a line's end are whole again.

    `known` holds the words of the document: it tells "market-driven" from "de-partment".
    """
    text = ""
    for line in lines:
        line = line.strip()
        if not line:
            continue
        if not text:
            text = line
        elif text[-1] == "-" and len(text) > 1 and text[-2].isalnum():
            text = _joined(text, line, known)
        elif _IN_A_LINK.search(text[-200:]) and line[0].islower():
            text += line
        else:
            text += " " + line
    return text


def _joined(text: str, line: str, known: Container[str]) -> str:
    before, after = _LAST_WORD.search(text[-60:]), _FIRST_WORD.match(line)
    if before is None or after is None or not line[0].islower():
        return text + line  # pages 325-349; Mobi-COM
    first, second = before[1].lower(), after[0].lower()
    if first + second not in known and (f"{first}-{second}" in known or second in _COMPOUND):
        return text + line
    return text[:-1] + line
