"""Text from the web as other programs may have it: nothing in it that breaks a file, hides, or turns the line."""

import re

# Dropped: control characters but tab and line ends, which neither HTML nor XML may hold; what turns the direction of
# writing, for an override makes "gpj.exe" read "exe.jpg"; the byte order mark, marks of annotations, and invisible
# tags, which hide words from the reader. What right-to-left and joined scripts need (LRM, RLM, ALM, ZWJ, ZWNJ) stays.
_DROPPED = ((0, 8), (0xB, 0xC), (0xE, 0x1F), (0x7F, 0x9F), (0x202A, 0x202E), (0x2066, 0x2069), (0xFEFF, 0xFEFF),
            (0xFFF9, 0xFFFB), (0xE0000, 0xE007F))  # fmt: skip
# Replaced: what is no character (lone surrogates, noncharacters), so that it is seen that something was there.
_REPLACED = ((0xD800, 0xDFFF), (0xFDD0, 0xFDEF), *((n << 16 | 0xFFFE, n << 16 | 0xFFFF) for n in range(17)))
_DROP, _REPLACE = (
    re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges) + "]")
    for ranges in (_DROPPED, _REPLACED)
)
_BAD = frozenset(chr(n) for first, last in (*_DROPPED, *_REPLACED) for n in range(first, last + 1))


def clean(text: str) -> str:
    """The text as it may stand in HTML, XML and JSON, in the direction in which it seems to be written."""
    if _BAD.isdisjoint(set(text)):  # as nearly always; ten times as fast as to replace nothing
        return text
    return _REPLACE.sub("\ufffd", _DROP.sub("", text))


def one_line(text: str) -> str:
    """The same on one line, with one blank for each run of blanks."""
    return " ".join(clean(" ".join(text.split())).split())
