"""A line of an outline: a name, links, or a name with links behind it."""

import re

from analecta.addresses import evident

MAX_LINE = 10_000  # characters; the patterns below are quick on any line as long as this
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
# [words](target "title"), where the target may hold a pair of brackets, as Wikipedia's do; <target>; the bare target.
_LINK = re.compile(
    r"\[(?P<words>[^\[\]]*)\]\(\s*<?(?P<target>[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s[^)]*)?\)"
    r"|<(?P<pointed>[a-zA-Z][a-zA-Z0-9+.-]{0,30}:[^\s<>]*)>"
    r"|(?P<bare>\b(?:[a-zA-Z][a-zA-Z0-9+.-]{0,30}://|www\.)[^\s<>]+)"
)
_AFTER = ".,;:!?'\")*_"  # belongs to the sentence, not to a bare URL
_EMPHASIS = re.compile(r"(?<!\w)(\*\*|__|\*|_|`|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")


def split_line(line: str) -> tuple[str, list[str]]:
    """The name on a line ("" where it begins with a link: then the words are about the link) and its links."""
    links: list[str] = []
    name: str | None = None
    text, at = _IMAGE.sub("", line).strip(), 0
    before: list[str] = []
    for link in _LINK.finditer(text):
        bare = link["bare"] or ""
        target = link["target"] or link["pointed"] or (bare if bare == text else _trimmed(bare))
        before.append(text[at : link.start()])
        at = link.end()
        if evident(target):
            name = "".join(before).strip() if name is None else name
            links.append(target)
        else:  # a link within the document or to a file beside it: its words are text
            before.append(link["words"] or link[0])
    whole = "".join([*before, text[at:]])
    return _plain(whole.rstrip(" :") if name is None else name.rstrip(" :-–—|(")), links


def _trimmed(url: str) -> str:
    """A bare URL without the sentence's punctuation; a bracket stays if it was opened inside."""
    while url and url[-1] in _AFTER and not (url[-1] == ")" and url.count("(") >= url.count(")")):
        url = url[:-1]
    return url


def _plain(name: str) -> str:
    """Words without Markdown's marks for emphasis."""
    return _EMPHASIS.sub(r"\2", name).strip()
