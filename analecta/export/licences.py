"""The licence that a page says it is under: by a link of that kind, in its head, or in words about itself.

To be right counts for more than to find many. A licence that is merely mentioned, as of a picture or in an article
about licences, is not the page's own, so words count only where they speak of the page, near its beginning or end.
Names are SPDX's where it has one; a page that names several gets all, for only a reader can tell which holds for what.
"""

import re
from collections.abc import Iterable

import msgspec

OTHER = "other"  # a licence is named by a link, but we do not know it
_HEAD, _TAIL = 5_000, 3_000  # characters in which pages and papers speak of themselves
_TAG = 1_000  # characters of a tag that are looked at, on each side

_RELATED = re.compile(r"\brel\s{0,3}=\s{0,3}[\"']?[^\"'<>]{0,80}?\blicense\b", re.IGNORECASE)
_LINK = re.compile(r"<(?:a|link|area)\s", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s{0,3}=\s{0,3}(?:\"([^\"]{1,500})\"|'([^']{1,500})'|([^\s\"'<>]{1,500}))", re.IGNORECASE)
_META = re.compile(r"<meta\s[^<>]{0,300}?\b(?:dc|dcterms)\.(?:rights|license)\b[^<>]{0,1000}>", re.IGNORECASE)
_CC = re.compile(
    r"creativecommons\.org/(?:licenses/(by(?:-nc)?(?:-nd|-sa)?)/(\d\.\d)(?:/(?!deed|legal)([a-z]{2,8})\b)?"
    r"|publicdomain/(zero|mark)/1\.0)",
    re.IGNORECASE,
)
_ADDRESSES = (
    (re.compile(r"gnu\.org/(?:licenses|copyleft)/(?:old-licenses/)?fdl", re.IGNORECASE), "GFDL"),
    (re.compile(r"nationalarchives\.gov\.uk/doc/open-government-licence/version/3", re.IGNORECASE), "OGL-UK-3.0"),
    (re.compile(r"opendatacommons\.org/licenses/odbl", re.IGNORECASE), "ODbL-1.0"),
)

_SELF = (
    r"\b(?:this|these|all|our|its|text|texts|content|contents|material|except\s+(?:where|as)|unless)\b"
    r"(?:(?![.!?]\s).){0,240}?"
    r"\b(?:available|licen[sc]ed|released|published|distributed|shared|provided|reused?|used)\b"
    r"(?:\s+\w+){0,3}?\s+under\s+(?:the\s+)?(?:terms\s+(?:and\s+conditions\s+)?of\s+)?(?:(?:an?|the)\s+)?"
)
_CREATIVE = (
    r"(?:(?P<cc>CC(?P<short>[\s-]BY(?:[\s-](?:NC|ND|SA)){0,2}|[\s-]?0|[\s-]?Zero)"
    r"|Creative\s+Commons(?P<long>(?:[\s,/-]+(?:Attribution|Non-?Commercial|No\s?-?Deriv(?:ative|s|atives)?(?:\s+Works)?"
    r"|Share\s?-?\s?Alike|Zero|CC0)){0,4})))"
    r"(?:[\s,-]+(?P<version>[1-4]\.\d)\b)?"
)
_NAMES = (
    rf"(?:{_CREATIVE}|(?P<gfdl>GNU\s+Free\s+Documentation\s+Licen[sc]e|GFDL)"
    r"|(?P<ogl>Open\s+Government\s+Licen[sc]e(?:\s+v?3\.0)?))"
)
_NAMED = re.compile(r"Creative\s+Commons|CC[\s-]?(?:BY|0|Zero)|GNU\s+Free|GFDL|Open\s+Government", re.IGNORECASE)
_WORDS = re.compile(_SELF + _NAMES, re.IGNORECASE)
_PARTS = (("BY", "attribution|by"), ("NC", "non-?commercial|nc"), ("ND", "no\\s?-?deriv|nd"), ("SA", "share|sa"))


class Licence(msgspec.Struct, frozen=True):
    """A licence, "" where nothing is said, and how it was recognised: by "link", "meta" or "words"."""

    name: str = ""
    by: str = ""


def licence_of(html: str, text: str) -> Licence:
    """The licence of a page: its HTML ("" for what is none), and its text."""
    if name := _together(map(_by_address, _linked(html))):
        return Licence(name, "link")
    if name := _together(filter(lambda found: found != OTHER, map(_by_address, _META.findall(html)))):
        return Licence(name, "meta")
    if name := _together(_by_words(match, html) for match in _spoken(text)):
        return Licence(name, "words")
    return Licence()


def _together(names: Iterable[str]) -> str:
    known = sorted(set(filter(None, names)))
    return ", ".join(known[:5])


def _linked(html: str) -> list[str]:
    """Where links go that say of themselves that they lead to the licence."""
    found: list[str] = []
    folded = html.lower()
    at = folded.find("license")
    while at >= 0:
        start, end = html.rfind("<", max(0, at - _TAG), at), html.find(">", at, at + _TAG)
        tag = html[start:end] if start >= 0 and end >= 0 else ""
        if _LINK.match(tag) and _RELATED.search(tag) and (href := _HREF.search(tag)):
            found.append(next(filter(None, href.groups())))
        at = folded.find("license", max(end, at + 1))
    return found


def _by_address(address: str) -> str:
    if found := _CC.search(address):
        return _creative_commons(found)
    return next((name for pattern, name in _ADDRESSES if pattern.search(address)), OTHER)


def _creative_commons(found: "re.Match[str]") -> str:
    kind, version, country, public = found.groups()
    if public:
        return "CC0-1.0" if public.lower() == "zero" else "PDM-1.0"
    return "-".join(filter(None, ("CC", kind.upper(), version, country and country.upper())))


def _spoken(text: str) -> list["re.Match[str]"]:
    """What a text says of its own licence, where texts do: at its beginning and at its end."""
    ends = text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}. {text[-_TAIL:]}"
    if not _NAMED.search(ends):
        return []
    return list(_WORDS.finditer(" ".join(ends.split())))


def _by_words(said: "re.Match[str]", html: str) -> str:
    if said["gfdl"]:
        return "GFDL"
    if said["ogl"]:
        return "OGL-UK-3.0" if "3" in said["ogl"] else ""
    words = (said["short"] or said["long"] or "").lower()
    if "0" in words or "zero" in words:
        return "CC0-1.0"
    kinds = [part for part, forms in _PARTS if re.search(rf"(?<![a-z])(?:{forms})", words)]
    if "BY" in kinds:
        return "-".join(filter(None, ("CC", *kinds, said["version"])))
    # "a Creative Commons licence": the page tells which, if it links to just one.
    linked = {_creative_commons(found) for found in _CC.finditer(html)}
    return linked.pop() if len(linked) == 1 else ""
