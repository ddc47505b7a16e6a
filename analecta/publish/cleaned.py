"""Text from the web as other programs may have it: on one line, with nothing in it that hides or turns the line."""

import re

# Control characters, line and paragraph separators, what sets the direction of writing, the byte order mark, lone
# surrogates, what is no character, and the invisible tags: XML, JSON or a reader's eye trips over each of them.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)


def cleaned(text: str) -> str:
    """The text with one blank for each run of blanks and of what must not be shown."""
    return " ".join(_HIDDEN.sub(" ", text).split())
