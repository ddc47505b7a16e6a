"""What is wrong with a text of settings, in plain words and with the line: TOML readers tell neither."""

import re
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from typing import Any

from analecta.errors import SettingsError
from analecta.text.patterns import Patterns, pattern_fault
from analecta.urls import canonical


def check_topics(names: list[str], text: str, name: str) -> None:
    """Each topic is there once: what is meant by two of one name nobody knows, and a line copied by mistake does it."""
    heads = [n for n, line in enumerate(text.splitlines(), 1) if re.match(r"\s*\[\[\s*topics\s*\]\]", line)]
    lines = heads if len(heads) == len(names) else [line_of(text, ("topics",))] * len(names)
    first: dict[str, int] = {}
    for topic, line in zip(names, lines, strict=True):
        if topic in first:
            where = f"{name}, line {line}: there is a topic {topic!r} already, on line {first[topic]}"
            raise SettingsError(f"{where}: make them one, or give one of them another name")
        first[topic] = line


def _no_pattern(value: str) -> str:
    why = pattern_fault(value)
    return why and f"no regular expression that can be used: {why}"


def _no_host(value: str) -> str:
    named = re.fullmatch(r"[^\s/*.@?#][^\s/*@?#]*", value) and canonical(f"http://{value}/")
    return "" if named else "no host: example.org is one, and means all below it too"


def _no_host_name(value: str) -> str:
    named = canonical(f"https://{value}/")
    return "" if named and named.host == value else "no host: write example.org, in lower case and without a port"


def _no_network(value: str) -> str:
    try:
        ip_network(value)
    except ValueError as error:
        return f"no network, such as 192.168.0.0/16: {error}"
    return ""


# Lists of texts that are more than texts: what is wrong with one of them.
_LISTS: dict[tuple[str, str], Callable[[str], str]] = {
    ("scope", "exclude"): _no_pattern,
    ("policy", "never"): _no_pattern,
    ("scope", "hosts"): _no_host,
    ("communities", "everywhere"): _no_host,
    ("fetch", "allow"): _no_network,
    ("fetch", "allow_bad_tls"): _no_host_name,
}


def check_lists(data: Mapping[str, Any], text: str, name: str) -> None:
    """Name the first value of a list that cannot be used, with its key and what to do."""
    for path, wrong in _LISTS.items():
        values = data.get(path[0], {}).get(path[1], ())
        why = next((f"{value!r} is {why}" for value in values if (why := wrong(value))), "")
        if wrong is _no_pattern and not why:
            try:
                Patterns(values)
            except SettingsError as error:  # each is fine, and all are too many
                why = str(error)
        if why:
            raise bad_value(why, text, name, ".".join(path))


def problem(said: str, text: str, name: str, path: tuple[str, ...]) -> SettingsError:
    """What is wrong with a key, after the name of the file and the line."""
    return SettingsError(f"{name}, line {line_of(text, path)}: {said}")


def bad_value(said: str, text: str, name: str, key: str) -> SettingsError:
    """What is wrong with the value of a key."""
    return problem(f"bad value for {key!r}: {said}", text, name, tuple(key.split(".")))


def located(message: str) -> tuple[str, str]:
    """msgspec says "... - at `$.fetch.delay`": what in plain words, and the key."""
    said, _, where = message.partition(" - at ")
    key = where.rpartition("$")[2].strip("`.")
    return _in_words(said), re.sub(r"\[\.*\d*\]", "", key)


_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
_GOT = _KINDS | {"float": "a fraction"}


def _in_words(said: str) -> str:
    """A complaint of msgspec for people who know nothing of types; as it is where it says something else."""
    if missing := re.fullmatch(r"Object missing required field `(\w+)`", said):
        return f"it has no {missing[1]}"
    if choice := re.search(r"regex '\^\(([\w|-]+)\)\$'", said):
        return f"one of {choice[1].replace('|', ', ')} is wanted"
    if "matching regex" in said:  # there is but one that is no choice
        return "media types such as text/html and audio/* are wanted"
    found = re.match(r"Expected `([\w |]+)`(?: ([<>]=) ([\d.]+))?(?:, got `(\w+)`)?$", said)
    if found is None:
        return said
    wanted, sign, limit, got = found.groups()
    kinds = " or ".join(_KINDS.get(kind, kind) for kind in wanted.split(" | ") if kind != "null")
    bound = f", {limit.removesuffix('.0')} or {'more' if sign == '>=' else 'less'}," if sign else ""
    return f"{kinds}{bound} is wanted" + (f", not {_GOT.get(got, got)}" if got else "")


def line_of(text: str, path: tuple[str, ...]) -> int:
    """The line on which a key is set: TOML readers do not tell, so the text is searched."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?", line):
            table = tuple(part.strip(" \"'") for part in header[1].split("."))
            if table == path:
                return number
        elif key := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            parts = tuple(part.strip("\"'") for part in key[1].split("."))
            here = (*table, *parts)
            if here[: len(path)] == path or (here == path[: len(here)] and re.search(rf"\b{path[-1]}\b", line)):
                return number
    return 1
