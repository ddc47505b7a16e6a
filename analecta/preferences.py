"""What owners reserve: statements against use for training, from response headers, pages and robots.txt.

Three ways to say it are read: Content-Usage (the IETF's AI preferences), Content-Signal (Content Signals) and
TDM-Reservation (the W3C group's TDM Reservation Protocol). All that is kept is what is reserved, as one short string.
"""

import re
from collections.abc import Iterable, Mapping

# The names under which the drafts have spoken of training, or of uses that include it.
TRAINING = frozenset(("train-ai", "train-genai", "ai-train", "genai", "ai", "tdm", "all", "bots"))
NO = frozenset(("n", "no", "0", "false", "?0", "disallow"))

# A name begins only where none goes on and is short, so that long rubbish is read in linear time.
_PAIR = re.compile(r"(?<![A-Za-z0-9_-])([A-Za-z][A-Za-z0-9_-]{0,63})\s*=\s*\"?([^\s,;\"]+)")
_FIELDS = ("content-usage", "content-signal")
_TDM = "tdm-reservation"


def of_headers(headers: Mapping[str, str], metas: Iterable[str] = ()) -> str:
    """What a response reserves, such as "ai-train=no"; empty if nothing. Names must be in lower case.

    `metas` are what its page says of tdm-reservation, which may stand there as well as in a header.
    """
    found = [pair for field in _FIELDS if field in headers for pair in _reserved(headers[field])]
    if any(_is_one(value) for value in (headers.get(_TDM, ""), *metas)):
        found.append(f"{_TDM}=1")
    return "; ".join(dict.fromkeys(found))


def of_lines(lines: Iterable[str]) -> str:
    """What lines of a robots.txt reserve. A path before the pairs is not looked at: what is reserved for a part
    of a site is taken as reserved for all of it, which errs on the owner's side."""
    found: list[str] = []
    for line in lines:
        field, _, value = line.partition(":")
        if field.strip().lower() in _FIELDS:
            found.extend(_reserved(value))
    return "; ".join(dict.fromkeys(found))


def _reserved(value: str) -> list[str]:
    pairs = ((name.lower(), word.lower()) for name, word in _PAIR.findall(value))
    return [f"{name}={word}" for name, word in pairs if name in TRAINING and word in NO]


def _is_one(value: str) -> bool:
    """Whether a 1 is said; headers that came twice are joined by commas, and the stricter holds."""
    return "1" in map(str.strip, value.split(","))
