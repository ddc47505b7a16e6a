"""What may go wrong and is not expected: one tree, each with the exit code the command line gives for it.

What may well happen to a URL (a refusal, a time-out, a 404) is returned as a value, never raised.

    AnalectaError
    ├── UsageError         2  the command or a file it was given makes no sense
    │   └── SettingsError  2  a key or value in a settings file
    └── ResourceError      4  disk, network, permissions
        └── LibraryBusy    4  another process holds the library
"""

from difflib import get_close_matches


class AnalectaError(Exception):
    """Anything Analecta raises on purpose; its text is one sentence for a person."""

    exit_code = 1


class UsageError(AnalectaError):
    """The person asked for something that makes no sense; the text says what to do instead."""

    exit_code = 2


class SettingsError(UsageError):
    """A settings file has an unknown key or a bad value; the text names line, key and remedy."""


class ResourceError(AnalectaError):
    """The disk, the network or the permissions do not allow it."""

    exit_code = 4


class LibraryBusy(ResourceError):
    """Another process holds the library."""


def suggest(word: str, valid: list[str]) -> str:
    """The end of a sentence about a word that is not known: the nearest one that is, or all."""
    near = get_close_matches(word, valid, 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; valid are: {', '.join(sorted(valid))}"
