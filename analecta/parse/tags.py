"""Tags by plain patterns: for what is read of a page before the parser has it, or instead of the parser.

Every pattern takes what it has looked at, or looks at a bounded number of characters, so that no input makes these
quadratic.
"""

import re
from collections.abc import Iterator
from functools import cache
from html import unescape

# A comment or script without an end goes on to the end of the page, as in HTML; `<!-->` is a whole comment.
_HIDDEN = re.compile(r"<!-(?=-).*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1[^>]{0,20}>?|\Z)", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(
    r"(?<![\w-])([\w-]{1,20})\s{0,9}=\s{0,9}(?:\"([^\"]{0,1000})\"|'([^']{0,1000})'|([^\s\"'>]{1,1000}))"
)
_ENTITY = re.compile(r"&#?\w{1,30};")  # in a URL, `&copy=1` is none


def without_hidden(html: str) -> str:
    """The markup without comments, scripts and styles."""
    return _HIDDEN.sub(" ", html)


def tags(html: str, *names: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The start tags of these names that are not hidden; of an attribute given twice the first counts."""
    for tag in _tag_or_hidden(names).finditer(html):
        if tag["name"]:
            found = reversed(_ATTRIBUTE.findall(tag["rest"]))
            yield tag["name"].lower(), {name.lower(): spelt_out("".join(value)) for name, *value in found}


@cache
def _tag_or_hidden(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"{_HIDDEN.pattern}|<(?P<name>{'|'.join(names)})[\s/](?P<rest>[^<>]{{0,2000}})", _HIDDEN.flags)


def spelt_out(text: str) -> str:
    """Text with its entities as the characters they stand for."""
    return _ENTITY.sub(lambda m: unescape(m[0]), text) if "&" in text else text
