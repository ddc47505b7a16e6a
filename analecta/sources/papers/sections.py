"""The headings of a paper, by their font and their numbers, and the text below each."""

import re
from collections.abc import Container, Sequence

from analecta.sources.papers.characters import join_lines
from analecta.sources.papers.lines import Line
from analecta.sources.papers.paper import Section

_NUMBER = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-Z]\.(?:\d\.?)?|Appendix\b.{0,3})\s+(?=[A-ZÀ-Þ“\"])"
)
_NAMED = re.compile(
    r"(?i)(?:introduction|related work|background|methods?|materials and methods|results(?: and discussion)?|"
    r"discussion|conclusions?(?: and .*)?|acknowledge?ments?|summary|experiments?|evaluation|future work)\s*[.:]?$"
)
_PAGE = re.compile(r"(?<![\s.])[\s.]++\d{1,4}$")
_WORD = re.compile(r"[A-Za-zÀ-ÿ]{4}")
_CAPTION = re.compile(r"(?i)(?:fig(?:ure|\.)|table|algorithm|listing|theorem|lemma|proof|definition|example)\b")


def read_sections(lines: Sequence[Line], size: float, known: Container[str] = ()) -> list[Section]:
    """The sections of a text whose letters are of `size`."""
    bold_text = 2 * sum(line.bold for line in lines) > len(lines)
    found: list[tuple[list[Line], list[Line]]] = []
    for line in lines:
        if found and not found[-1][1] and _continues(found[-1][0][-1], line):
            found[-1][0].append(line)
        elif _is_heading(line, size, bold_text):
            found.append(([line], []))
        elif found:
            found[-1][1].append(line)
    sections = [
        Section(join_lines([line.text for line in heading], known), join_lines([line.text for line in text], known))
        for heading, text in found
    ]
    titles = {section.title for section in sections} | {"References", "Bibliography"}
    return [section for section in sections if not _of_contents(section.title, titles)]


def _of_contents(title: str, titles: Container[str]) -> bool:
    """Whether a heading is a line of the table of contents."""
    return title.lower() == "contents" or (bool(_PAGE.search(title)) and _PAGE.sub("", title) in titles)


def _is_heading(line: Line, size: float, bold_text: bool) -> bool:
    text = line.text
    letters = [char for char in text if char.isalpha()]
    if (
        len(letters) < 4
        or len(letters) < 0.6 * len(text.replace(" ", ""))
        or len(text) > 120
        or _CAPTION.match(text)
        or not _WORD.search(text)
    ):
        return False
    if text.rstrip().endswith((",", ";", "-")) or not (text[0].isupper() or text[0].isdigit()):
        return False
    numbered, named = bool(_NUMBER.match(text)), bool(_NAMED.match(text))
    large = line.size > 1.08 * size
    bold = (
        not bold_text
        and line.bold
        and all(word.bold or len(word.text) < 3 for word in line.words)
        and line.size > 0.88 * size
    )
    capitals = sum(map(str.isupper, letters)) > 0.8 * len(letters) and line.size > 0.75 * size
    whole = not text.rstrip().endswith(".")
    if named and whole and len(text) < 30:
        return True
    return (numbered or named or whole) and (large or bold or (capitals and (numbered or named)))


def _continues(heading: Line, line: Line) -> bool:
    """Whether a line is a heading's second line."""
    same = (
        abs(heading.size - line.size) < 0.3
        and heading.bold == line.bold
        and heading.text.isupper() == line.text.isupper()
    )
    near = heading.page == line.page and 0 < heading.y - line.y < 1.6 * line.size
    marked = line.bold or line.text.isupper()
    return same and near and marked and not _NUMBER.match(line.text) and not _NAMED.match(line.text)
