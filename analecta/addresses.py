"""Which words are an address that can be crawled, and why others are none."""

import re

from analecta.urls import MAX_URL

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")  # "example.org:8080" has a port, no scheme
_BARE = re.compile(r"[\w-]+(?:\.[\w-]+)+\.?(?::\d+)?(?:[/?].*)?|localhost(?::\d+)?(?:[/?].*)?")
_EVIDENT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|www\.|(?:javascript|mailto|data|about|place):", re.IGNORECASE)


def address(words: str) -> tuple[str, str]:
    """The URL that is meant, or why none is."""
    if len(words) > MAX_URL:
        return "", f"it is longer than {MAX_URL} characters"
    if scheme := _SCHEME.match(words):
        if scheme[0].lower() in ("http:", "https:"):
            return words, ""
        return "", f"only http and https can be crawled, not {scheme[0]}"
    if _BARE.fullmatch(words):
        return f"https://{words}", ""
    return "", "it looks neither like a URL nor like a host"


def address_line(line: str) -> tuple[str, str]:
    """The same for a line of a list, which holds nothing else."""
    if len(line.split()) > 1:
        return "", "there is more than one word on the line"
    return address(line)


def evident(words: str) -> bool:
    """Whether words are meant as a link where names may stand too: `Node.js` is no host there."""
    return _EVIDENT.match(words) is not None
