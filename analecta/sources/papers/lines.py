"""Words with places -> lines in reading order, without running heads and footnotes."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from analecta.sources.papers.glyphs import GlyphWord

_FEW = 4  # lines that must begin at the same place to make a column


class TextLine(msgspec.Struct):
    """A line of a column; column -1 are lines over the whole page.

    Size, boldness and the height of the baseline are those of most of its letters.
    """

    words: list[GlyphWord]
    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool
    page: int = 0
    column: int = -1


def line_of(words: list[GlyphWord], page: int = 0, column: int = -1) -> TextLine:
    """Words that stand on one line, from left to right."""
    letters: Counter[tuple[float, bool]] = Counter()
    for word in words:
        letters[word.size, word.bold] += len(word.text)
    size, bold = max(letters, key=letters.__getitem__)
    y = next(word.y for word in words if (word.size, word.bold) == (size, bold))
    x0, x1 = min(word.x0 for word in words), max(word.x1 for word in words)
    return TextLine(words, join_words(words), x0, x1, y, size, bold, page, column)


def join_words(words: Iterable[GlyphWord]) -> str:
    """The text of words, glued where they are parts of one."""
    return "".join((word.text if word.glued else " " + word.text) for word in words).strip()


def read_lines(pages: Sequence[Sequence[GlyphWord]]) -> list[list[TextLine]]:
    """The lines of each page in reading order."""
    pieces = [_pieces(words) for words in pages]
    edges = [_edges(page, loose=0.35) for page in pieces]
    if sum(len(found) > 1 for found in edges) * 2 >= len(edges):  # a paper in columns: pages with more that is not
        edges = [
            found if len(found) > 1 else _edges(page, loose=2.0) for page, found in zip(pieces, edges, strict=True)
        ]
    return [_ordered(page, found, number) for number, (page, found) in enumerate(zip(pieces, edges, strict=True))]


def _pieces(words: Sequence[GlyphWord]) -> list[TextLine]:
    """Runs of words that stand close together on one line."""
    pieces: list[list[GlyphWord]] = []
    level = size = 0.0
    for word in words:
        last = pieces[-1][-1] if pieces else None
        big = max(size, word.size)
        if last and abs(word.y - level) < 0.55 * big and -0.6 * big < word.x0 - last.x1 < 0.75 * big:
            pieces[-1].append(word)
            if word.size > size * 1.05:
                level, size = word.y, word.size
        else:
            pieces.append([word])
            level, size = word.y, word.size
    return [line_of(piece) for piece in pieces]


def _edges(pieces: Sequence[TextLine], loose: float) -> list[float]:
    """Where the columns of a page begin: places where lines begin that few lines cross.

    `loose` is how many letters may cross the edge for each letter that begins there.
    """
    spans = [(piece.x0, piece.x1, len(piece.text)) for piece in pieces]
    if not spans:
        return [0.0]
    begin, end = min(x0 for x0, _, _ in spans), max(x1 for _, x1, _ in spans)
    starts = Counter(round(x0) for x0, _, letters in spans if letters > 11)
    edges = [begin]
    for place in sorted(starts):
        if starts[place] + starts[place + 1] < _FEW or place - edges[-1] < 0.2 * (end - begin):
            continue
        here = sum(letters for x0, _, letters in spans if -1.5 < x0 - place < 2.5)
        crossing = sum(letters for x0, x1, letters in spans if x0 < place - 3 and x1 > place + 3)
        before = sum(letters for x0, x1, letters in spans if edges[-1] - 3 < x0 and x1 < place)
        if here > 80 and crossing < loose * here and before > 0.1 * here:
            edges.append(float(place))
    return edges


def _ordered(pieces: Sequence[TextLine], edges: Sequence[float], page: int) -> list[TextLine]:
    """Lines from top to bottom, column by column; a line over all columns parts what is above from what is below."""
    lines: list[TextLine] = []
    for band in _bands(pieces, edges):
        for column in sorted(band):
            lines += _merged(band[column], page, column)
    return lines


def _bands(pieces: Sequence[TextLine], edges: Sequence[float]) -> list[dict[int, list[TextLine]]]:
    """The page from top to bottom as bands that are either in columns or (column -1) over all of them."""
    bands: list[dict[int, list[TextLine]]] = []
    low = 0.0
    for row in _rows(pieces):
        columns = [_column(piece, edges) for piece in row]
        full = -1 in columns
        # A blank that runs over all columns parts them too: so does REVTeX with its list of references.
        blank = len(edges) > 1 and low - max(piece.y for piece in row) > 3.5 * max(piece.size for piece in row)
        if not bands or blank or full != (-1 in bands[-1]):
            bands.append(defaultdict(list))
        for piece, column in zip(row, columns, strict=True):
            bands[-1][-1 if full else column].append(piece)
        low = min(piece.y for piece in row)
    return bands


def _rows(pieces: Sequence[TextLine]) -> list[list[TextLine]]:
    rows: list[list[TextLine]] = []
    for piece in sorted(pieces, key=lambda piece: -piece.y):
        if rows and abs(rows[-1][0].y - piece.y) < 0.55 * max(rows[-1][0].size, piece.size):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return rows


def _column(piece: TextLine, edges: Sequence[float]) -> int:
    column = max((i for i, edge in enumerate(edges) if piece.x0 > edge - 4), default=0)
    if column + 1 == len(edges):
        return column if len(edges) > 1 else -1
    width = edges[column + 1] - edges[column]
    return -1 if piece.x1 > edges[column + 1] + 0.08 * width else column  # a long address may run over a little


def _merged(pieces: Iterable[TextLine], page: int, column: int) -> list[TextLine]:
    """Pieces of one column as lines: those on one height are one line; small raised words are marked."""
    lines: list[TextLine] = []
    for row in _rows(list(pieces)):
        words = [word for piece in sorted(row, key=lambda piece: piece.x0) for word in piece.words]
        line = line_of(words, page, column)
        for word in words:
            word.raised = word.size < 0.88 * line.size and word.y > line.y + 0.12 * line.size
        lines.append(line)
    return lines


# --- What is on pages and is not text: running heads, page numbers, footnotes ----------------------------------------


_NUMBER = re.compile(r"^\d+\b|\b\d+$")  # a page number beside a running head
_PAGE_NUMBER = re.compile(r"(?i)\W*(?:page\s*)?(?:\d{1,5}|[ivxl]{1,6}|[a-z]?\d{1,4}-\d{1,4})(?:\s*(?:of|/)\s*\d+)?\W*$")
_OUTER = 3  # lines at the top and at the bottom of a page that may be a running head or foot
_NOTE = re.compile(r"[\d*†‡§¶∗]")


def without_running_heads(pages: Sequence[Sequence[TextLine]]) -> list[list[TextLine]]:
    """The pages without the lines at their edges that other pages have too, and without page numbers."""
    outer = [_outer(lines) for lines in pages]
    seen = Counter(key for lines in outer for key in {_key(line) for line in lines})
    kept = []
    for lines, edge in zip(pages, outer, strict=True):
        gone = [line for line in edge if seen[_key(line)] > 1 or _is_page_number(line, lines)]
        kept.append([line for line in lines if not any(line is other for other in gone)])
    return kept


def _is_page_number(line: TextLine, lines: Sequence[TextLine]) -> bool:
    """Whether a line is a number that stands alone: at the end of a paragraph it is a year."""
    near = (abs(line.y - other.y) < 1.5 * line.size for other in lines if other is not line and other.x0 < line.x1)
    return bool(_PAGE_NUMBER.match(line.text)) and not any(near)


def _outer(lines: Sequence[TextLine]) -> list[TextLine]:
    by_height = sorted(lines, key=lambda line: -line.y)
    return by_height[:_OUTER] + by_height[max(_OUTER, len(by_height) - _OUTER) :]


def _key(line: TextLine) -> str:
    return _NUMBER.sub("#", line.text.lower())


def without_footnotes(lines: Sequence[TextLine], size: float) -> list[TextLine]:
    """Lines of text in `size` without the smaller ones at the foot of each column that begin with a mark."""
    gone: set[int] = set()
    columns: dict[tuple[int, int], list[int]] = {}
    for i, line in enumerate(lines):
        columns.setdefault((line.page, line.column), []).append(i)
    for column in columns.values():
        small: list[int] = []
        for i in sorted(column, key=lambda i: lines[i].y):
            if lines[i].size > 0.93 * size:
                break
            small.append(i)
        while small and not _NOTE.match(lines[small[-1]].text):
            small.pop()  # a caption or a part of a table above the notes
        gone.update(small)
    return [line for i, line in enumerate(lines) if i not in gone]


def common_size(lines: Sequence[TextLine]) -> float:
    """The size of most letters."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0
