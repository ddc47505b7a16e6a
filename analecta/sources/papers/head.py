"""The first page of a paper: title, authors, affiliations, abstract, keywords."""

import re
from collections.abc import Container, Sequence

from analecta.sources.papers.citation import is_name, take_names
from analecta.sources.papers.glyphs import GlyphWord, join_lines
from analecta.sources.papers.lines import TextLine, join_words
from analecta.sources.papers.paper import Paper

# --- people ----------------------------------------------------------------------------------------------------------
# Who wrote a paper: names and affiliations between title and abstract, in lines or in blocks side by side.


_PLACE = re.compile(
    r"(?i)\b(?:universi|institut|department|dept\b|departamento|dipartimento|school\b|college\b|laborator|labs?\b|cent(?:re|er)\b|"
    r"centro\b|faculty|faculdade|academy|inc\b|corp(?:oration)?\b|ltd\b|gmbh\b|research\b|division\b|hospital\b|street\b|"
    r"avenue\b|road\b|box\b|observator|ministry|foundation\b|group\b|polytechni|politecnico|cnrs\b|inria\b|google\b|"
    r"microsoft\b|ibm\b|usa\b|u\.s\.a|germany\b|france\b|china\b|japan\b|india\b|italy\b|spain\b|canada\b|pakistan\b|"
    r"australia\b|netherlands\b|kingdom\b|uk\b|switzerland\b|sweden\b|brazil\b|mexico\b|méxico\b|korea\b|israel\b|"
    r"austria\b|belgium\b|poland\b|russia\b|denmark\b|norway\b|finland\b|singapore\b|taiwan\b|iran\b|turkey\b|greece\b|"
    r"portugal\b|ireland\b|hungary\b|argentina\b|chile\b)"
)
_MARKS = re.compile(
    r"[*†‡§¶∗⋆♯#|]+|(?<=[^\W\d_])\d(?:\s?,\s?\d)*\b|\s\d(?:\s?,\s?\d)*(?=\s|$|,)|\(\d\)|\[\d\]|[\u2070-\u2079¹²³]+"
)
_MARK = re.compile(r"(?:[*†‡§¶∗⋆]+|[(\[]?\d{1,2}[)\]]?(?!\d)|[a-h]\b)\s*(?=[^\W\d_]|$)")
_DEGREE = re.compile(
    r"(?i)^(?:dr|prof|mr|mrs|ms|professor|by)\b\.?\s+|,?\s*\b(?:ph\.?d|m\.?d|msc|member|(?:senior|student)\s+member|fellow)\b.*$"
)
MAIL = re.compile(r"\S@\S|^\W*e-?mail|\{[^{]*\}@|^https?:|^www\.", re.IGNORECASE)
DATE = re.compile(
    r"(?i)^\W*(?:received|accepted|published|revised|submitted|online\s+at|doi|dated?:|\(dated|arxiv|\d{1,2}\s)"
)


def people(lines: Sequence[TextLine]) -> tuple[list[str], list[str]]:
    """Authors and affiliations between title and abstract, read block by block."""
    authors: list[str] = []
    places: list[str] = []
    open_place = False
    for piece in _in_blocks(lines):
        text = join_words(word for word in piece if not word.raised)
        marked = piece[0].raised or bool(_MARK.match(piece[0].text))
        bare = _DEGREE.sub("", _MARKS.sub(" ", text)).strip(" ,;")
        if not bare or MAIL.search(text) or DATE.match(text):
            open_place = False
            continue
        place = text[found.end() if (found := _MARK.match(text)) else 0 :].strip(" ,;")
        names = [] if _PLACE.search(bare) else _names_in(re.sub(r"\s+", " ", bare))
        if names:
            authors += [name for name in names if name not in authors]
            open_place = False
        elif authors and (_PLACE.search(bare) or open_place or marked):
            if open_place and not marked and places:
                places[-1] += (" " if places[-1].endswith(",") else ", ") + place
            else:
                places.append(place)
            open_place = True
    return authors, list(dict.fromkeys(places))


def _in_blocks(lines: Sequence[TextLine]) -> list[list[GlyphWord]]:
    """The pieces of lines that stand one below the other, block after block."""
    blocks: list[list[list[GlyphWord]]] = []
    for line in sorted(lines, key=lambda line: -line.y):
        for piece in _pieces(line):
            x0, x1 = piece[0].x0, piece[-1].x1
            for block in reversed(blocks):
                last = block[-1]
                over = min(x1, last[-1].x1) - max(x0, last[0].x0)
                if over > 0 and last[0].y - piece[0].y < 4 * line.size:
                    block.append(piece)
                    break
            else:
                blocks.append([piece])
    return [piece for block in blocks for piece in block]


def _pieces(line: TextLine) -> list[list[GlyphWord]]:
    pieces: list[list[GlyphWord]] = [[]]
    for word in line.words:
        if pieces[-1] and word.x0 - pieces[-1][-1].x1 > 1.4 * line.size:
            pieces.append([])
        pieces[-1].append(word)
    return pieces


def _names_in(text: str) -> list[str]:
    """The names in a line of names, or none where it is something else."""
    parts = re.split(r"\s*(?:,|;|·|•|\band\b|&|\bund\b|\bet\b)\s*", text)
    parts = [bare for part in parts if (bare := _DEGREE.sub("", part.strip()).strip())]
    if parts and all(is_name(part) for part in parts):
        return parts
    names, end = take_names(text)
    return names if names and end >= len(text) - 2 else []


# --- The first page of a paper: title, authors, affiliations, abstract, keywords -------------------------------------


_ABSTRACT = re.compile(
    r"(?:A\s?B\s?S\s?T\s?R\s?A\s?C\s?T|Abstract|Summary|SUMMARY|Synopsis|Zusammenfassung|Résumé)\s*(?:[:.—–-]+|$|(?=\s[A-Z“]))\s*"
)
_KEYWORDS = re.compile(
    r"(?i)(?:additional\s+)?(?:key\s?-?words?(?:\s+and\s+phrases)?|index\s+terms|mots[\s-]clés|schlüsselwörter)\s*[:.—–-]*\s*"
)
_BODY = re.compile(
    r"(?i)(?:(?:\d{1,2}|[ivx]{1,4})\.?\s+)?(?:introduction|contents|background|motivation|overview)\s*$|"
    r"(?:1|I)\.?\s+[A-Z]\w+|categories\s+and\s+subject|general\s+terms|ccs\s+concepts|acm\s+reference|pacs\b|"
    r"(?:msc|ams)\s.*classif|jel\s"
)
_NO_TITLE = re.compile(
    r"(?i)arxiv:|\bissn\b|\bdoi\b|https?:|www\.|\bvol(?:ume|\.)?\s*\d|^(?:research|original|review|short|full)\s+"
    r"(?:article|paper|communication)s?$|^(?:letters?|article|open access|technical report|preprint|draft)\b.{0,12}$|"
    r"^(?:the\s+)?(?:[\w&]+\s+){0,3}(?:international\s+|open\s+)?(?:journal|proceedings|transactions|annals|bulletin|"
    r"conference)\b.*|©|copyright|downloaded|accepted\s+(?:for|manuscript)|^received\b|contents\s+lists|^\W*\d+\W*$"
)


def read_head(
    lines: Sequence[TextLine], body: float, stated: str, known: Container[str]
) -> tuple[Paper, list[TextLine]]:
    """What the first page says before the text begins, and the lines of the text, whose letters are of size `body`.

    `stated` is the title in the file's own notes.
    """
    page = [line for line in lines if line.page == lines[0].page] if lines else []
    if not page:
        return Paper(), []
    title = _title(page, body, stated)
    start, summary, end = _abstract(lines, page, max(title) + 1, known)
    top = min(page[i].y for i in title)
    low = min(page[start].y + 0.5 * page[start].size, top) if start < len(page) else -1e9
    between = [line for i, line in enumerate(page) if i not in title and low < line.y < top]
    authors, places = people(between)
    words, after = _keywords(lines, end, known)
    head = Paper(
        title=join_lines([join_words(word for word in page[i].words if not _is_mark(word)) for i in title], known),
        authors=tuple(authors),
        affiliations=tuple(places),
        abstract=summary,
        keywords=tuple(words),
    )
    rest = lines[max(end, after) :]  # what stands higher on the first page belongs to the head, too
    return head, [line for line in rest if line.page or start == len(page) or line.y < low]


def _is_mark(word: GlyphWord) -> bool:
    """Whether a word only points to a footnote."""
    return word.text.strip("*†‡§¶∗⋆") == "" or (word.raised and len(word.text) < 4)


def _title(page: Sequence[TextLine], body: float, stated: str) -> list[int]:
    """The lines of the title: those of the largest letters that can be a title."""
    groups: list[list[int]] = []
    for i, line in enumerate(page):
        last = page[groups[-1][-1]] if groups else None
        if last and _alike(last, line) and 0 < last.y - line.y < 2.2 * line.size and len(groups[-1]) < 6:
            groups[-1].append(i)
        else:
            groups.append([i])
    height = max(line.y for line in page)
    low = min(line.y for line in page)

    def worth(group: list[int]) -> float:
        line, text = page[group[0]], " ".join(page[i].text for i in group)
        letters = sum(map(str.isalpha, text))
        value = line.size * (1.12 if line.bold else 1.0)
        if letters < 8 or " " not in text.strip() or _ABSTRACT.match(text) or _BODY.match(text):
            value *= 0.3
        if _NO_TITLE.search(text):
            value *= 0.5
        if letters > 300 or line.y < low + 0.35 * (height - low):
            value *= 0.5
        if len(stated) > 12 and _letters(stated)[:60] == _letters(text)[:60]:
            value *= 2
        return value

    best = max(groups, key=worth)
    return best if len(best) < 7 else best[:2]


def _alike(one: TextLine, other: TextLine) -> bool:
    return abs(one.size - other.size) < 0.04 * one.size and one.bold == other.bold


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())


def _abstract(
    lines: Sequence[TextLine], page: Sequence[TextLine], below: int, known: Container[str]
) -> tuple[int, str, int]:
    """Which line begins the abstract (or else the text), the abstract, and the line after it."""
    for i, line in enumerate(page):
        if found := _announced(line):
            end = _end_of_abstract(lines, i + 1)
            return i, join_lines([line.text[found.end() :], *(line.text for line in lines[i + 1 : end])], known), end
    first = next((i for i in range(below, len(page)) if _BODY.match(page[i].text)), len(page))
    start = next((i for i in range(below, first) if _is_prose(page[i : i + 3])), first)
    if first == len(page):
        return start, "", start
    return start, join_lines([line.text for line in page[start:first]], known), first  # no heading: what comes first


def _is_prose(lines: Sequence[TextLine]) -> bool:
    """Whether lines are the beginning of a paragraph: long, and no addresses."""
    text = " ".join(line.text for line in lines)
    long = len(lines) == 3 and all(len(line.text) > 38 for line in lines[:2]) and len(text) > 100
    return (
        long
        and not any(MAIL.search(line.text) or DATE.match(line.text) for line in lines)
        and (sum(word.islower() for word in text.split()) > 0.6 * len(text.split()))
    )


def _announced(line: TextLine) -> re.Match[str] | None:
    """The word "Abstract" at a line's beginning, set off from what follows by a sign or by its style."""
    found = _ABSTRACT.match(line.text)
    if found and found[0][-1:].isalpha() and found.end() < len(line.text):
        first, second = line.words[0], line.words[1]
        return (
            found if (first.bold, first.italic, first.text.isupper()) != (second.bold, second.italic, False) else None
        )
    return found


def _end_of_abstract(lines: Sequence[TextLine], start: int) -> int:
    size = lines[start].size if start < len(lines) else 0.0
    for i in range(start, min(len(lines), start + 60)):
        line = lines[i]
        if _KEYWORDS.match(line.text) or _BODY.match(line.text):
            return i
        heading = (line.bold and not lines[start].bold) or line.size > 1.15 * size
        if i > start + 2 and heading and len(line.text) < 60:
            return i
        if line.page > lines[start].page + 1:
            return i
    return min(len(lines), start + 60)


def _keywords(lines: Sequence[TextLine], near: int, known: Container[str]) -> tuple[list[str], int]:
    for i in range(max(0, near - 3), min(len(lines), near + 25)):
        if not (found := _KEYWORDS.match(lines[i].text)):
            continue
        end = i + 1
        while end < min(len(lines), i + 6) and not _stops(lines[end - 1], lines[end]):
            end += 1
        text = join_lines([lines[i].text[found.end() :], *(line.text for line in lines[i + 1 : end])], known)
        words = re.split(r"\s*[;•·|]\s*" if re.search("[;•·|]", text) else r"\s*,\s*", text)
        return [word.strip(" .—–-") for word in words if word.strip(" .—–-")][:30], end
    return [], near


def _stops(last: TextLine, line: TextLine) -> bool:
    gap = last.y - line.y
    return (
        bool(_BODY.match(line.text) or _ABSTRACT.match(line.text) or DATE.match(line.text))
        or abs(line.size - last.size) > 0.6
        or gap < 0
        or gap > 1.8 * last.size
        or (last.text.rstrip().endswith(".") and not last.text.rstrip().endswith("etc."))
    )
