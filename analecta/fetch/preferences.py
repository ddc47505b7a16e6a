"""What sites reserve: statements against use for training, from response headers and robots.txt.

Three ways to say it are read: Content-Usage (the IETF's AI preferences), Content-Signal (Content Signals) and
TDM-Reservation (the W3C group's TDM Reservation Protocol). All that is kept is what is reserved, as one short string.
"""

import re
from collections.abc import Iterable, Mapping

# The names under which the drafts have spoken of training, or of uses that include it.
TRAINING = frozenset(("train-ai", "train-genai", "ai-train", "genai", "ai", "tdm", "all", "bots"))
NO = frozenset(("n", "no", "0", "false", "?0", "disallow"))

_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)\s*=\s*\"?([^\s,;\"]+)")
_FIELDS = ("content-usage", "content-signal")


def of_headers(headers: Mapping[str, str]) -> str:
    """What a response reserves, such as "ai-train=no"; empty if nothing. Names must be in lower case."""
    found = [pair for field in _FIELDS if field in headers for pair in _reserved(headers[field])]
    if headers.get("tdm-reservation", "").split(",")[0].strip() == "1":
        found.append("tdm-reservation=1")
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
