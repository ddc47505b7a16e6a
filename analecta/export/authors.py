"""The names in what a page says of its author: people with family and given names, and bodies that have but one."""

import re

import msgspec

from analecta.text.display import one_line

_MOST = 50  # names
_ADDRESS = re.compile(r"<?\b[\w.+-]{1,100}@[\w.-]{1,100}>?|\bhttps?://\S+|\bwww\.\S+", re.IGNORECASE)
_BY = re.compile(r"^(?:by|von|par|por|di|written by|posted by)\s*:?\s+(?=\S+\s+\S)", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|und|et|y|&)\s+|\s*&\s*", re.IGNORECASE)
_PARTICLES = frozenset("van von der den de del della di da dos du la le ter ten zu zur el al bin ibn af av".split())
_SUFFIX = re.compile(r"^(?:jr|sr|ii|iii|iv|phd|ph\.d|md|m\.d|dr|prof|msc|bsc|esq)\.?$", re.IGNORECASE)
# A name with one of these is of a body, not of a person.
_BODIES = re.compile(
    r"\b(?:academy|agency|archives?|association|authors?|board|bureau|cent(?:er|re)|college|commission|committee|company|"
    r"contributors|corp|corporation|council|department|dept|editor(?:ial|s)?|encyclop\w+|foundation|gmbh|government|group|"
    r"inc|institut\w*|laborator\w+|library|limited|llc|ltd|magazine|ministry|museum|network|news|office|organi[sz]ation|"
    r"press|project|publish\w+|school|service|society|staff|team|trust|union|universi\w+|web|wiki\w*|admin\w*)\b|\d",
    re.IGNORECASE,
)


class Name(msgspec.Struct, frozen=True):
    """A person, or a body where there is no given name."""

    family: str
    given: str = ""


def names_of(author: str) -> list[Name]:
    """The names in the order in which they stand there; each once."""
    text = one_line(_BY.sub("", _ADDRESS.sub(" ", one_line(author)))).strip(" ,;|()[]")
    found = (_name(part) for part in _parts(text))
    return [name for name in dict.fromkeys(found) if name.family][:_MOST]


def _parts(text: str) -> list[str]:
    """The text cut into names: at semicolons, else at "and", else at commas that do not part family and given name."""
    if ";" in text or "|" in text:
        return re.split(r"[;|]", text)
    if _BODIES.search(text):
        return [text]
    parts = [part for piece in _AND.split(text) for part in _at_commas(piece)]
    return [part for part in parts if not _SUFFIX.match(part.strip())]


def _at_commas(text: str) -> list[str]:
    """ "Doe, Jane" is one person, "Jane Doe, John Roe" are two, "Doe, Jane, Roe, John" are two as well."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    parts = [part for part in parts if not _SUFFIX.match(part)]
    if all(len(part.split()) > 1 for part in parts):
        return parts
    if len(parts) % 2 == 0 and all(len(part.split()) == 1 or _is_particled(part) for part in parts[::2]):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return parts


def _is_particled(text: str) -> bool:
    return text.split()[0].lower() in _PARTICLES


def _name(text: str) -> Name:
    text = text.strip(" ,.") if text.count(".") == 1 else text.strip(" ,")
    family, comma, given = (piece.strip() for piece in text.partition(","))
    if _BODIES.search(text) or " " not in text:
        return Name(text)
    if comma:
        return Name(family, given)
    words = text.split()
    start = next((n for n, word in enumerate(words[1:-1], 1) if word in _PARTICLES), len(words) - 1)
    return Name(" ".join(words[start:]), " ".join(words[:start]))
