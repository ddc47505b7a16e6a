"""A page of a PDF -> its words, each with its place, its size and its style; letters as people type them."""

import contextlib
import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import Any

import msgspec
import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

# --- characters ------------------------------------------------------------------------------------------------------
# Characters as PDFs hold them -> characters as people write them: ligatures, accents set as glyphs, line ends.


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


# --- A page of a PDF -> its words, each with its place, its size and its style ---------------------------------------


_BLANK = frozenset({0, 9, 10, 32, 160, 0x2002, 0x2003, 0x2009, 0x200A, 0x202F, 0x3000})
_BOLD = ("bold", "cmbx", "cmb1", "black", "heavy", "demi", "medi", "-bd", "sfbx", "cmssbx")
_ITALIC = ("italic", "oblique", "cmti", "cmsl", "slanted", "-it", "ital", "sfti", "cmmi")
_TEX = frozenset("\x02\x0b\x0c\x0e\x0f")  # ligatures of TeX's fonts, and pdfium's sign for a hyphen at a line's end
_FAR = 120  # an accent is looked for among so many characters before and after: about two lines
_SERIF_ITALIC = 0x40  # the flag in a font's descriptor


class Style(msgspec.Struct, frozen=True):
    """How a run of characters looks; `turn` is its direction in quarters of a circle."""

    size: float
    bold: bool
    italic: bool
    turn: int


class GlyphWord(msgspec.Struct, gc=False):
    """A word, or a part of one in another style (`glued` to what stands before it); `y` is its baseline."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool = False
    italic: bool = False
    glued: bool = False
    raised: bool = False


def words_of(page: pypdfium2.PdfPage) -> list[GlyphWord]:
    """The words of a page in the order of the file; what is printed sideways (a stamp in the margin) is left out."""
    with contextlib.closing(page.get_textpage()) as text:
        found = list(_GlyphReader(text.raw).words())
    turns: Counter[int] = Counter()
    for word, turn in found:
        turns[turn] += len(word.text)
    upright = turns.most_common(1)[0][0] if turns else 0  # a page that lies on its side is read as if it stood
    return [word for word, turn in found if turn == upright]


class _GlyphReader:
    """Reads one text page of pdfium; a call costs 2 us, so places are asked for by words, not characters."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.codes = [pdfium.FPDFText_GetUnicode(handle, i) for i in range(pdfium.FPDFText_CountChars(handle))]
        self.letters: dict[int, str] = {}  # characters that are not what their code says
        self.moved: set[int] = set()  # accents that went to their letters
        self._objects: dict[int, int] = {}
        self._styles: dict[int, Style] = {}
        self._spans: dict[int, tuple[float, float, float]] = {}
        self._numbers = [ctypes.c_double() for _ in range(4)]
        self._places = [ctypes.byref(number) for number in self._numbers]
        self._put_accents()

    def words(self) -> Iterator[tuple[GlyphWord, int]]:
        """Each word and its direction."""
        for run in self._runs():
            glued = False
            for part in self._by_style(run):
                text = plain("".join(self.letters.get(i) or _letter(self.codes[i]) for i in part)).strip()
                if not text:
                    continue
                style, (x0, _, y) = self._style(part[0]), self._span(part[0])
                x1 = max(x0, self._span(part[-1])[1])
                yield GlyphWord(text, x0, x1, y, style.size, style.bold, style.italic, glued), style.turn
                glued = True

    def _runs(self) -> Iterator[list[int]]:
        """The characters of each word."""
        run: list[int] = []
        blank = lost = False  # since the last character: a blank; an accent taken away
        for i, code in enumerate(self.codes):
            if i in self.moved:
                lost = True
            elif self._is_blank(i, code):
                blank = True
            else:
                if run and blank and not (lost and self._touch(run[-1], i)):
                    yield run
                    run = []
                run.append(i)
                blank = lost = False
        if run:
            yield run

    def _is_blank(self, i: int, code: int) -> bool:
        if code == 13:  # pdfium's own line end, or "fl" of a TeX font
            if pdfium.FPDFText_HasUnicodeMapError(self.handle, i) != 1:
                return True
            self.letters[i] = "fl"
            return False
        return code in _BLANK or (code < 32 and chr(code) not in _TEX)

    def _by_style(self, run: list[int]) -> Iterator[list[int]]:
        if self._object(run[0]) == self._object(run[-1]):
            yield run
            return
        part = run[:1]
        for i in run[1:]:
            if self._object(i) != self._object(part[-1]) and self._apart(part[-1], i):
                yield part
                part = []
            part.append(i)
        yield part

    def _touch(self, i: int, j: int) -> bool:
        (_, end, here), (start, _, there) = self._span(i), self._span(j)
        size = self._style(j).size
        return abs(here - there) < 0.2 * size and -size < start - end < 0.15 * size

    def _apart(self, i: int, j: int) -> bool:
        """Whether two neighbours look different or do not stand side by side."""
        (_, end, here), (start, _, there) = self._span(i), self._span(j)
        size = self._style(i).size
        return self._style(i) != self._style(j) or abs(here - there) > 0.15 * size or not -size < start - end < size / 2

    def _put_accents(self) -> None:
        """Give each accent that is a glyph of its own to the letter that it stands over."""
        for i, code in enumerate(self.codes):
            if _letter(code) not in ACCENTS:
                continue
            left, right, level = self._span(i)
            best, nearest = -1, 0.22 * self._style(i).size
            for j in range(max(0, i - _FAR), min(len(self.codes), i + _FAR)):
                letter = _letter(self.codes[j])
                if j in self.letters or letter > "\u2000" or letter in ACCENTS or not letter.isalpha():
                    continue
                start, end, there = self._span(j)
                distance = abs(start + end - left - right) / 2
                if distance < nearest and abs(there - level) < 0.4 * self._style(j).size:
                    best, nearest = j, distance
            if best >= 0 and len(made := accented(chr(self.codes[best]), chr(code))) == 1:
                self.letters[best] = made
                self.moved.add(i)

    def _object(self, i: int) -> int:
        if i not in self._objects:
            pointer = pdfium.FPDFText_GetTextObject(self.handle, i)
            self._objects[i] = ctypes.cast(pointer, ctypes.c_void_p).value or 0
        return self._objects[i]

    def _style(self, i: int) -> Style:
        key = self._object(i)
        if key not in self._styles:
            self._styles[key] = self._look(i)
        return self._styles[key]

    def _look(self, i: int) -> Style:
        matrix, flags, buffer = pdfium.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(128)
        pdfium.FPDFText_GetMatrix(self.handle, i, matrix)
        pdfium.FPDFText_GetFontInfo(self.handle, i, buffer, 128, ctypes.byref(flags))
        name = buffer.value.decode("utf-8", "replace").lower()
        size = pdfium.FPDFText_GetFontSize(self.handle, i) * math.hypot(matrix.c, matrix.d)
        return Style(
            size=round(abs(size), 1),
            bold=any(mark in name for mark in _BOLD) or pdfium.FPDFText_GetFontWeight(self.handle, i) >= 600,
            italic=any(mark in name for mark in _ITALIC) or bool(flags.value & _SERIF_ITALIC),
            turn=round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4,
        )

    def _span(self, i: int) -> tuple[float, float, float]:
        """Where a character begins and ends along its line, and the height of its baseline."""
        if i not in self._spans:
            numbers, places = self._numbers, self._places
            pdfium.FPDFText_GetCharBox(self.handle, i, *places)
            left, right, bottom, top = (number.value for number in numbers)
            pdfium.FPDFText_GetCharOrigin(self.handle, i, places[0], places[1])
            x, y = numbers[0].value, numbers[1].value
            turned = ((left, right, y), (bottom, top, -x), (-right, -left, -y), (-top, -bottom, x))
            self._spans[i] = turned[self._style(i).turn]
        return self._spans[i]


def _letter(code: int) -> str:
    return chr(code) if code < 0x110000 else ""
