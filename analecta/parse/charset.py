"""Bytes to text: BOM, then the server's label, then the page's own, then a guess; what cannot be read is replaced.

The order is WHATWG's. Two departures, both for pages that a reader would otherwise see as noise: UTF-16 without
a BOM is known by its NULs, and a label that does not fit the bytes gives way to UTF-8 where that does fit.
"""

import codecs
import contextlib
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from html import unescape
from urllib.parse import quote

from turbohtml.detect import detect  # also registers the whatwg-* codecs, which never raise on bad bytes

# --- tags ------------------------------------------------------------------------------------------------------------
# Tags by plain patterns: for what is read of a page before the parser has it, or instead of the parser.
#
# Every pattern takes what it has looked at, or looks at a bounded number of characters, so that no input makes these
# quadratic.


# A comment or script without an end goes on to the end of the page, as in HTML; `<!-->` is a whole comment.
_HIDDEN = re.compile(r"<!-(?=-).*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1[^>]{0,20}>?|\Z)", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(
    r"(?<![\w-])([\w-]{1,20})\s{0,9}=\s{0,9}(?:\"([^\"]{0,1000})\"|'([^']{0,1000})'|([^\s\"'>]{1,1000}))"
)
_ENTITY = re.compile(r"&#?\w{1,30};")  # in a URL, `&copy=1` is none


def without_hidden(html: str) -> str:
    """The markup without comments, scripts and styles."""
    return _HIDDEN.sub(" ", html)


def tags(html: str, *names: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The start tags of these names that are not hidden; of an attribute given twice the first counts."""
    for tag in _tag_or_hidden(names).finditer(html):
        if tag["name"]:
            found = reversed(_ATTRIBUTE.findall(tag["rest"]))
            yield tag["name"].lower(), {name.lower(): spelt_out("".join(value)) for name, *value in found}


@cache
def _tag_or_hidden(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"{_HIDDEN.pattern}|<(?P<name>{'|'.join(names)})[\s/](?P<rest>[^<>]{{0,2000}})", _HIDDEN.flags)


def spelt_out(text: str) -> str:
    """Text with its entities as the characters they stand for."""
    return _ENTITY.sub(lambda m: unescape(m[0]), text) if "&" in text else text


# --- charset ---------------------------------------------------------------------------------------------------------


_PEEK = 2048  # bytes searched for a label; WHATWG says 1,024, real pages put scripts before it
_GUESS = 8192  # bytes given to the detector: 9 us, and no better with more

_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)")

_BEYOND_ASCII = re.compile(r"[^\0-\x7f]+")

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_BOM_STARTS = b"\xef\xff\xfe"
_ALIASES = dict.fromkeys(("utf8", "unicode-1-1-utf-8"), "utf-8")
_ALIASES |= dict.fromkeys(("latin1", "iso-8859-1", "iso8859-1", "us-ascii", "ascii", "cp1252"), "windows-1252")
# Labels that the codec registry cannot find because it turns "-" into "_" first.
_ALIASES |= {"ks_c_5601-1987": "euc-kr", "ks_c_5601-1989": "euc-kr", "iso_8859-1:1987": "windows-1252"}


@lru_cache(256)
def header_charset(content_type: str) -> str:
    """The charset a Content-Type header names, or ""."""
    found = _HEADER.search(content_type)
    return found[1] if found else ""


def decode(body: bytes, header: str = "") -> tuple[str, str]:
    """The text of `body` and the name of the encoding it was read by; never raises, never gives surrogates."""
    if body[:1] and body[0] in _BOM_STARTS:
        for bom, name in _BOMS:
            if body.startswith(bom):
                return _by(name, body[len(bom) :]), name
    if b"\0" in body[:64]:
        wide = wide_encoding(body[:256])
        if wide:
            return _by(wide, body), wide
    label = _known(header) if header else ""
    if not label:
        label = _declared(body[:_PEEK])
    if not label:
        return _guessed(body)
    if label == "utf-8":
        return body.decode("utf-8", "replace"), label
    text = _by(label, body)
    if "\ufffd" in text:
        with contextlib.suppress(UnicodeDecodeError):
            return body.decode(), "utf-8"
    return text, label


def query_in(charset: str, href: str) -> str:
    """A link of a page with its query escaped in the page's encoding, as WHATWG has it; the path is always UTF-8."""
    path, mark, query = href.partition("?")
    if query.isascii():
        return href
    with contextlib.suppress(LookupError):  # Python has no encoder for a few
        query = _BEYOND_ASCII.sub(lambda m: quote(m[0].encode(charset, "xmlcharrefreplace"), safe=""), query)
    return path + mark + query


def _guessed(body: bytes) -> tuple[str, str]:
    """Text of bytes that nobody has labelled: UTF-8 if it can be, else what it looks like."""
    japanese = b"\x1b$" in body and body.isascii()  # ISO-2022-JP would pass for UTF-8
    if not japanese and _is_utf8(body):
        return body.decode("utf-8", "replace"), "utf-8"
    name = (detect(body[:_GUESS]).encoding or "windows-1252").lower()
    return _by(name, body), name


def _is_utf8(body: bytes) -> bool:
    """Whether the bytes are UTF-8, but for a last character that may be cut off."""
    try:
        body.decode()
    except UnicodeDecodeError as wrong:
        return wrong.reason == "unexpected end of data"
    return True


def wide_encoding(head: bytes) -> str:
    """UTF-16 by the NULs that its ASCII characters leave on even or odd places, or "" for any other NULs."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    enough = max(3, len(head) // 5)  # markup is mostly ASCII: of 128 characters far more than 51 have a NUL
    if odd > enough and odd > 4 * even:
        return "utf-16le"
    if even > enough and even > 4 * odd:
        return "utf-16be"
    return ""


def _declared(head: bytes) -> str:
    """The label in a <meta> or XML declaration; one that says UTF-16 cannot be right where it could be read."""
    label = ""
    if b"charset" in head.lower():
        label = next(filter(None, map(_known, _in_metas(head.decode("latin-1")))), "")
    if not label:
        found = _XML.match(head)
        label = _known(found[1].decode("ascii", "replace")) if found else ""
    if label == "x-user-defined":
        return "windows-1252"
    return "utf-8" if label.startswith("utf-16") else label


def _in_metas(head: str) -> Iterator[str]:
    """The labels that <meta charset> and <meta http-equiv=content-type> name."""
    for _, values in tags(head, "meta"):
        content = values.get("content", "").strip().lower()
        if "charset" in values:
            yield values["charset"].strip().rstrip("/;")
        elif content.startswith("text/html") or values.get("http-equiv", "").strip().lower() == "content-type":
            yield header_charset(content)


@lru_cache(256)
def _known(label: str) -> str:
    """The label in lower case if WHATWG knows it, else ""."""
    name = _ALIASES.get(label.lower(), label.lower())
    try:
        codecs.lookup("whatwg-" + name)
    except (LookupError, ValueError, UnicodeError):
        return ""
    return name


def _by(name: str, body: bytes) -> str:
    return codecs.decode(body, "whatwg-" + name)
