"""What is on pages and is not text: running heads, page numbers, footnotes."""

import re
from collections import Counter
from collections.abc import Sequence

from analecta.sources.papers.lines import Line

_NUMBER = re.compile(r"^\d+\b|\b\d+$")  # a page number beside a running head
_PAGE_NUMBER = re.compile(r"(?i)\W*(?:page\s*)?(?:\d{1,5}|[ivxl]{1,6}|[a-z]?\d{1,4}-\d{1,4})(?:\s*(?:of|/)\s*\d+)?\W*$")
_OUTER = 3  # lines at the top and at the bottom of a page that may be a running head or foot
_NOTE = re.compile(r"[\d*†‡§¶∗]")


def without_running_heads(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without the lines at their edges that other pages have too, and without page numbers."""
    outer = [_outer(lines) for lines in pages]
    seen = Counter(key for lines in outer for key in {_key(line) for line in lines})
    kept = []
    for lines, edge in zip(pages, outer, strict=True):
        gone = [line for line in edge if seen[_key(line)] > 1 or _is_page_number(line, lines)]
        kept.append([line for line in lines if not any(line is other for other in gone)])
    return kept


def _is_page_number(line: Line, lines: Sequence[Line]) -> bool:
    """Whether a line is a number that stands alone: at the end of a paragraph it is a year."""
    near = (abs(line.y - other.y) < 1.5 * line.size for other in lines if other is not line and other.x0 < line.x1)
    return bool(_PAGE_NUMBER.match(line.text)) and not any(near)


def _outer(lines: Sequence[Line]) -> list[Line]:
    by_height = sorted(lines, key=lambda line: -line.y)
    return by_height[:_OUTER] + by_height[max(_OUTER, len(by_height) - _OUTER) :]


def _key(line: Line) -> str:
    return _NUMBER.sub("#", line.text.lower())


def without_footnotes(lines: Sequence[Line], size: float) -> list[Line]:
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


def common_size(lines: Sequence[Line]) -> float:
    """The size of most letters."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0
