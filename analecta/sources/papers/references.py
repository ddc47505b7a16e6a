"""The list of references of a paper: where it is, and which of its lines belong together."""

import re
from collections.abc import Container, Sequence
from itertools import pairwise

from analecta.sources.papers.citation import Italics, without_label
from analecta.sources.papers.glyphs import join_lines
from analecta.sources.papers.lines import TextLine, common_size, without_footnotes

_HEADING = re.compile(
    r"(?i)\s*(?:(?:section\s+)?(?:\d{1,2}|[ivx]{1,5}|[a-z])[.:)]?\s+)?(?:references|bibliography|references\s+and\s+notes|"
    r"notes\s+and\s+references|references\s+cited|literature\s+cited|works\s+cited|cited\s+references|reference\s+list|"
    r"cited\s+literature|literature|literatur|literaturverzeichnis|références|bibliographie|referencias|bibliografía|"
    r"r\s?e\s?f\s?e\s?r\s?e\s?n\s?c\s?e\s?s)\s*[:.]?\s*$"
)
_AFTER = re.compile(
    r"(?i)\s*(?:[a-z\d]{1,2}[.:)]?\s+)?(?:appendix|appendices|supplementa(?:ry|l)|supporting\s+information|acknowledge?ments?|"
    r"biograph(?:y|ies)|about\s+the\s+authors?|author\s+biograph|figure\s+(?:captions|legends)|list\s+of\s+figures|"
    r"affiliations?:|correspondence|received\b.*\baccepted|online\s+appendix)\b"
)
_NUMBERED = (
    re.compile(r"\[\s?(\d{1,3})\s?\]"),
    re.compile(r"\((\d{1,3})\)(?=\s)"),
    re.compile(r"(\d{1,3})\s?[.)](?=\s|[A-Z])"),
    re.compile(r"(\d{1,3})(?=\s*[A-Z“\"‘])"),
)
_KEY = re.compile(r"\[[A-Za-z][^\]]{1,25}\]\s*\S")
_AUTHOR = re.compile(
    r"(?:[“\"‘]|(?:(?:van|von|de|der|den|di|la|le|del|du|el|al)\s+)*[A-ZÀ-Þ][\w'’-]+(?:\s[A-ZÀ-Þ][\w'’-]+){0,2}(?:,|\s[A-Z]{1,3}[\s,(])|"
    r"(?:[A-Z]\.[\s-]?)+\s?[A-Z][\w'’-]+)"
)
_SMALL_NAME = re.compile(r"(?:van|von|de|der|den|di|da|la|le|du|del|ten|ter)\s")
_YEAR = re.compile(r"(?:1[89]|20)\d\d[a-z]?")


def find_list(lines: Sequence[TextLine]) -> tuple[int, list[TextLine]]:
    """Where the list of references begins (its heading, if it has one), and its lines."""
    for i in range(len(lines) - 1, -1, -1):
        if _HEADING.match(lines[i].text) and i + 1 < len(lines):
            found = _until_end(lines[i + 1 :], lines[i])
            if _is_list(found):
                return i, found
    for i in range(len(lines) - 1, len(lines) // 3, -1):  # a list without heading: REVTeX
        if (label := _NUMBERED[0].match(lines[i].text)) and label[1] == "1":
            found = _until_end(lines[i:], None)
            if len(_starts_by_number(found)) >= 3:
                return i, found
    return len(lines), []


def _is_list(lines: Sequence[TextLine]) -> bool:
    return bool(lines) and any(_YEAR.search(line.text) or _NUMBERED[0].match(line.text) for line in lines[:6])


def _until_end(lines: Sequence[TextLine], heading: TextLine | None) -> list[TextLine]:
    """The lines of the list: up to the next heading; without what has another size, and without footnotes."""
    size = common_size(lines[:40])
    found: list[TextLine] = []
    for line in lines:
        if _ends(line, heading, size):
            break
        found.append(line)
    size = common_size(found)
    found = without_footnotes(found, size)
    return [line for line in found if 0.9 * size < line.size < 1.1 * size]


def _ends(line: TextLine, heading: TextLine | None, size: float) -> bool:
    text = line.text
    if any(pattern.match(text) for pattern in _NUMBERED[:2]) or len(text) > 110:
        return False
    distinct = line.bold or line.size > 1.05 * size or text.isupper()
    if _AFTER.match(text) and (distinct or len(text) < 40):
        return True
    if heading is None or not (text[:1].isupper() or text[:1].isdigit()):
        return False
    alike = abs(line.size - heading.size) < 0.3 and line.bold == heading.bold
    unlike_text = heading.bold or heading.size > 1.05 * size
    if alike and unlike_text and all(word.bold or not heading.bold for word in line.words):
        return True
    return heading.text.isupper() and text.isupper() and len(text) > 8 and not _YEAR.search(text)


def split_list(lines: Sequence[TextLine], known: Container[str] = ()) -> list[tuple[str, Italics]]:
    """The entries of a list of references, each without its label, and where it is in italics."""
    if not lines:
        return []
    starts = _starts_by_number(lines) or _starts_by_key(lines) or _starts_by_place(lines)
    starts = sorted(set(starts))
    bounds = zip(starts, [*starts[1:], len(lines)], strict=True)
    entries = [_entry(lines[a:b], known) for a, b in bounds]
    return [entry for entry in entries if len(entry[0]) > 8]


def _starts_by_number(lines: Sequence[TextLine]) -> list[int]:
    """The lines that begin with 1, 2, 3 … in order."""
    best: list[int] = []
    for pattern in _NUMBERED:
        chain: list[int] = []
        expected = 1
        for i, line in enumerate(lines):
            found = pattern.match(line.text)
            if found and (expected <= int(found[1]) <= expected + (2 if chain else 0)):
                chain.append(i)
                expected = int(found[1]) + 1
        if len(chain) > len(best) * 1.1:
            best = chain
    enough = len(best) >= 3 or (best and best[0] == 0)
    return best if enough and best[0] < 4 else []


def _starts_by_key(lines: Sequence[TextLine]) -> list[int]:
    """The lines that begin with a key: [Knu84]."""
    found = [i for i, line in enumerate(lines) if _KEY.match(line.text)]
    return found if len(found) >= 3 and found[0] < 2 else []


def _starts_by_place(lines: Sequence[TextLine]) -> list[int]:
    """Entries with hanging or first-line indents; else by the space between; else by how they begin."""
    outer: list[int] = []
    inner: list[int] = []
    lefts: dict[tuple[int, int], float] = {}
    for line in lines:
        key = (line.page, line.column)
        lefts[key] = min(lefts.get(key, line.x0), line.x0)
    for i, line in enumerate(lines):
        (outer if line.x0 - lefts[line.page, line.column] < 0.4 * line.size else inner).append(i)
    if len(inner) >= 0.15 * len(lines):
        like = [sum(bool(_AUTHOR.match(lines[i].text)) for i in group) / max(1, len(group)) for group in (outer, inner)]
        if like[0] >= like[1]:
            return [i for i in outer if i == 0 or not _goes_on(lines[i - 1].text, lines[i].text)]
        return [0, *inner]
    return _starts_by_space(lines) or [0] + [
        i for i in range(1, len(lines)) if _begins(lines[i - 1].text, lines[i].text)
    ]


def _starts_by_space(lines: Sequence[TextLine]) -> list[int]:
    gaps = [a.y - b.y if (a.page, a.column) == (b.page, b.column) else 0.0 for a, b in pairwise(lines)]
    inside = sorted(gap for gap in gaps if gap > 0)
    if not inside or inside[-1] < 1.25 * inside[len(inside) // 5]:
        return []
    usual = inside[len(inside) // 5]
    wide = [i + 1 for i, gap in enumerate(gaps) if gap > 1.2 * usual]
    turns = [i + 1 for i, gap in enumerate(gaps) if gap <= 0 and _begins(lines[i].text, lines[i + 1].text)]
    return sorted({0, *wide, *turns}) if len(wide) >= 2 else []


def _begins(before: str, text: str) -> bool:
    return before.rstrip().endswith((".", ")", "]")) and bool(_AUTHOR.match(text)) and not _goes_on(before, text)


def _goes_on(before: str, text: str) -> bool:
    """Whether a line that stands at the margin still belongs to the entry above."""
    small = text[:1].islower() and not _SMALL_NAME.match(text)
    return small or before.rstrip().endswith((",", "-", " and", "&"))


def _entry(lines: Sequence[TextLine], known: Container[str]) -> tuple[str, Italics]:
    """The lines of an entry as one text, without its label; places of italics are found again in it."""
    text = without_label(join_lines([line.text for line in lines], known)).strip()
    runs: list[list[str]] = []
    slanted = False
    for line in lines:
        for word in line.words:
            if word.italic and slanted:
                runs[-1].append(word.text)
            elif word.italic:
                runs.append([word.text])
            slanted = word.italic
    return text, tuple(_places(text, runs))


def _places(text: str, runs: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    end = 0
    for run in runs:
        start = text.find(run[0].rstrip("-"), end)
        if start < 0:
            continue
        stop = text.find(run[-1].rstrip("-"), start + (len(run[0]) if len(run) > 1 else 0))
        end = (stop if stop >= 0 else start) + len(run[-1].rstrip("-"))
        if end - start > 3:
            places.append((start, end))
    return places
