"""A file of addresses, one a line: the simplest thing that a person can bring.

Empty lines and comments (# at the start of a line or after a blank) are passed over. A bare host such as
`example.org` or `example.org/roses` is taken as https. Lines that are no address are reported and skipped.
"""

import codecs
import re
from pathlib import Path

from analecta.errors import BadUse
from analecta.seed.reading import Reading, Skipped
from analecta.settings import Topic
from analecta.urls import MAX_URL, canonical

_COMMENT = re.compile(r"(?:^|\s)#.*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")  # "example.org:8080" has a port, no scheme
_BARE = re.compile(r"[\w-]+(?:\.[\w-]+)+\.?(?::\d+)?(?:[/?].*)?|localhost(?::\d+)?(?:[/?].*)?")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_urls(path: Path, topic: str) -> Reading:
    """The topic whose seeds are the addresses in a file."""
    found: dict[int, str] = {}
    skipped: list[Skipped] = []
    repeated = 0
    for number, line in enumerate(re.split(r"\r\n|\r|\n", _text(path)), 1):
        words = _COMMENT.sub("", line).strip()
        if not words:
            continue
        url, why = address(words)
        target = None if why else canonical(url)
        if target is None:
            skipped.append(Skipped(number, words, why or "it is no valid URL"))
        elif target.id in found:
            repeated += 1
        else:
            found[target.id] = target.url
    if not found:
        raise BadUse(_nothing(path, skipped))
    return Reading((Topic(topic, tuple(found.values())),), tuple(skipped), repeated)


def address(words: str) -> tuple[str, str]:
    """The URL that a line means, or why it means none."""
    if len(words.split()) > 1:
        return "", "there is more than one word on the line"
    if len(words) > MAX_URL:
        return "", f"it is longer than {MAX_URL} characters"
    if scheme := _SCHEME.match(words):
        if scheme[0].lower() in ("http:", "https:"):
            return words, ""
        return "", f"only http and https can be crawled, not {scheme[0]}"
    if _BARE.fullmatch(words):
        return f"https://{words}", ""
    return "", "it looks neither like a URL nor like a host"


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig")
    except OSError as error:
        raise BadUse(f"cannot read the seeds file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadUse(f"{path} is not a text file in UTF-8 (byte {error.start}); save it as UTF-8") from error


def _nothing(path: Path, skipped: list[Skipped]) -> str:
    if not skipped:
        return f"{path} holds no address; write one URL a line"
    first = skipped[0]
    return f"{path} holds no usable address; line {first.line}, {first.text[:80]!r}: {first.why}"
