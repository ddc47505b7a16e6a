"""What is known of a paper: plain values."""

import msgspec


class Reference(msgspec.Struct, frozen=True):
    """A work that a paper refers to; `raw` is what the paper says of it. Some papers name no titles."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: str = ""
    raw: str = ""


class Section(msgspec.Struct, frozen=True):
    """A section of a paper: its heading and its text."""

    title: str
    text: str = ""


class Paper(msgspec.Struct, frozen=True):
    """A research paper; `why` says in a sentence what could not be read, if something could not."""

    title: str = ""
    authors: tuple[str, ...] = ()
    affiliations: tuple[str, ...] = ()
    abstract: str = ""
    keywords: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    references: tuple[Reference, ...] = ()
    why: str = ""
