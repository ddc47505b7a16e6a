"""Regular expressions that people and settings files give: RE2, whose time grows with the length of the text alone.

Python's own engine backtracks: `(a+)+$` takes longer than the age of the universe for a URL of a hundred letters.
"""

import re
from collections.abc import Sequence
from typing import Any

import re2

from analecta.errors import SettingsError

_HINTS = (  # what RE2 says -> what to do; the first that fits
    (r"\(\?<?[=!]", "look-around is not supported: write what is wanted, or two expressions"),
    (r"escape sequence: \\[1-9]|\(\?P=", "references to a group are not supported: write the text out"),
    (r"escape sequence: \\Z", "write $ for the end"),
    (r"escape sequence: \\[uUN]", "write the character itself, or \\x{e4} for its number"),
    (r"bad repetition operator|\(\?>", "possessive and atomic forms are not needed: leave out the second +, or ?>"),
    (r"operator: \(\?[a-zA-Z]*x", "the flag x is not supported: write the expression on one line without blanks"),
    (r"operator: \(\?[auL]", "leave out the flags a, u and L"),
    (r"operator: \(\?#", "comments are not supported: leave it out"),
    (r"repetition size", "a repetition may count to 1000 at most: write + or *"),
    (r"too large", "write a shorter one, with smaller repetitions"),
)
_OTHERWISE = "see the syntax of RE2, https://github.com/google/re2/wiki/Syntax"
_TOGETHER = "these regular expressions are too large together: write fewer or shorter ones, with smaller repetitions"
_OPEN_COUNT = re.compile(r"(?<!\\)\{,(\d+)\}")
_FOREIGN_EDGE = re.compile(r"[^\W\d_a-zA-Z]\\[bB]|\\[bB][^\W\d_a-zA-Z]")


def pattern_fault(pattern: str) -> str:
    """What is wrong with a regular expression and what to do; "" where nothing is."""
    try:
        re2.compile(pattern, _options())
    except re2.error as error:
        said = _said(error)
        hint = next((hint for sign, hint in _HINTS if re.search(sign, said)), _OTHERWISE)
        return f"{said}; {hint}"
    except UnicodeEncodeError:
        return "it has half a character (a lone surrogate)"
    if count := _OPEN_COUNT.search(pattern):
        return f"{count[0]} would stand for itself; write {{0,{count[1]}}}"
    if edge := _FOREIGN_EDGE.search(pattern):
        return f"{edge[0]}: the edge of a word is known for ASCII letters alone; write (?:^|\\PL) or (?:\\PL|$)"
    return ""


class Patterns:
    """Several regular expressions as one, which says whether any of them is found in a text."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Refuses what cannot be used; settings are looked at pattern by pattern before."""
        self._set = _compiled(patterns) if patterns else None

    def __bool__(self) -> bool:
        return self._set is not None

    def found_in(self, text: str) -> bool:
        """Whether one of them is."""
        return self._set is not None and bool(self._set.Match(text.encode("utf-8", "replace")))


def _compiled(patterns: Sequence[str]) -> Any:
    found = re2.Set.SearchSet(_options())
    try:
        for pattern in patterns:
            found.Add(pattern)
        found.Compile()
    except re2.error as error:
        raise SettingsError(_TOGETHER) from error
    return found


def _options() -> re2.Options:
    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    return options


def _said(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
