"""Who wrote a paper: names and affiliations between title and abstract, in lines or in blocks side by side."""

import re
from collections.abc import Sequence

from analecta.sources.papers.glyphs import Word
from analecta.sources.papers.lines import Line, join_words
from analecta.sources.papers.names import is_name, take_names

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


def people(lines: Sequence[Line]) -> tuple[list[str], list[str]]:
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
                places[-1] += ", " * (not places[-1].endswith(",")) + " " * places[-1].endswith(",") + place
            else:
                places.append(place)
            open_place = True
    return authors, list(dict.fromkeys(places))


def _in_blocks(lines: Sequence[Line]) -> list[list[Word]]:
    """The pieces of lines that stand one below the other, block after block."""
    blocks: list[list[list[Word]]] = []
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


def _pieces(line: Line) -> list[list[Word]]:
    pieces: list[list[Word]] = [[]]
    for word in line.words:
        if pieces[-1] and word.x0 - pieces[-1][-1].x1 > 1.4 * line.size:
            pieces.append([])
        pieces[-1].append(word)
    return pieces


def _names_in(text: str) -> list[str]:
    """The names in a line of names, or none where it is something else."""
    parts = [part.strip() for part in re.split(r"\s*(?:,|;|·|•|\band\b|&|\bund\b|\bet\b)\s*", text) if part.strip()]
    parts = [_DEGREE.sub("", part).strip() for part in parts]
    parts = [part for part in parts if part]
    if parts and all(is_name(part) for part in parts):
        return parts
    names, end = take_names(text)
    return names if names and end >= len(text) - 2 else []
