"""Sitemaps 0.9, XML or text, plain or gzipped, read within bounds (F31).

A DOCTYPE is refused outright, so there are no entities to expand and nothing to fetch; bytes, URLs and children
are counted while reading, so that no file costs more than the largest honest one.
"""

import codecs
import re
import zlib
from collections.abc import Iterator
from itertools import chain
from xml.parsers import expat

import msgspec

from analecta.model import UrlRef
from analecta.parse.charset import decode
from analecta.parse.xml import XmlError, XmlTooDeep, read_events
from analecta.urls import MAX_URL, canonical

MAX_BYTES = 50_000_000  # decoded; 50 MB and 50,000 URLs are the protocol's own bounds
MAX_URLS = 50_000
MAX_SITEMAPS = 500
MAX_MEMBERS = 1000  # of a gzip file; each costs a new decoder
MAX_TOKEN = 1_000_000  # bytes of one tag or comment; expat begins it anew with each chunk
MAX_DEPTH = 100  # elements within one another; an honest file has five
_CHUNK = 64 * 1024
_BLANK = b" \t\r\n"
_NEWLINES = re.compile(rb"[\r\n]+")


class Sitemap(msgspec.Struct):
    """The pages and further sitemaps that a sitemap names, all on its own host; `limited` says what cut it short."""

    urls: list[UrlRef]
    sitemaps: list[UrlRef]
    limited: str = ""


class _Stop(Exception):
    """Enough has been read."""


def read_sitemap(body: bytes, base: str) -> Sitemap:
    """What the sitemap at the URL `base` names; a broken one gives what could be read before the break."""
    reader = _SitemapReader(base)
    try:
        chunks = _plain(body)
        head = next(chunks, b"")
        is_wide = b"\0" in head[:4]
        if not is_wide:
            head = head.lstrip(_BLANK)
        if is_wide or head.removeprefix(codecs.BOM_UTF8).lstrip(_BLANK).startswith(b"<"):
            reader.xml(head, chunks)
        else:
            reader.lines(head, chunks)
    except XmlTooDeep:
        reader.found.limited = f"more than {MAX_DEPTH} elements within one another"
    except (_Stop, XmlError) as stop:
        reader.found.limited = str(stop)
    except (zlib.error, EOFError) as wrong:
        reader.found.limited = f"broken gzip: {wrong}"
    return reader.found


def _plain(body: bytes) -> Iterator[bytes]:
    """The decoded bytes in chunks; gzip is unpacked once, within bounds."""
    chunks: Iterator[bytes] = (body[start : start + _CHUNK] for start in range(0, len(body), _CHUNK))
    if body[:2] == b"\x1f\x8b":
        chunks = _unpacked(chunks)
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > MAX_BYTES:
            raise _Stop(f"more than {MAX_BYTES} bytes")
        yield chunk


def _unpacked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Gzip undone, member after member; what follows them and is none is not looked at."""
    unpack, members = zlib.decompressobj(31), 1
    for piece in pieces:
        data = piece
        while data:
            if unpack.eof:
                if not data.startswith(b"\x1f"):
                    return
                if members == MAX_MEMBERS:
                    raise _Stop(f"more than {MAX_MEMBERS} gzip members")
                unpack, members = zlib.decompressobj(31), members + 1
            if chunk := unpack.decompress(data, _CHUNK):
                yield chunk
            data = unpack.unused_data if unpack.eof else unpack.unconsumed_tail


def _decoder(head: bytes) -> codecs.IncrementalDecoder:
    """What turns an XML file that begins so into text; UTF-8 where Python does not know the encoding.

    expat knows few encodings itself, and only those with one byte a character may be added to them.
    """
    try:
        return codecs.getincrementaldecoder(decode(head)[1])("replace")
    except LookupError:
        return codecs.getincrementaldecoder("utf-8")("replace")


class _SitemapReader:
    """Takes <loc> by <loc>, and counts."""

    def __init__(self, base: str) -> None:
        self.found = Sitemap([], [])
        here = canonical(base)
        self.base = here.url if here else base
        self.host = here.host if here else ""
        self.seen = {here.id if here else 0}  # an index that names itself is read once
        self.parent = self.prefix = ""
        self.loc: list[str] | None = None

    def add(self, href: str, is_sitemap: bool = False) -> None:
        """Count one location, unless it is known, no URL, or on another host."""
        target = canonical(href.strip(), self.base)
        if target is None or target.host != self.host or target.id in self.seen:
            return
        into, most = (self.found.sitemaps, MAX_SITEMAPS) if is_sitemap else (self.found.urls, MAX_URLS)
        if len(into) >= most:
            raise _Stop(f"more than {most} {'sitemaps' if is_sitemap else 'URLs'}")
        self.seen.add(target.id)
        into.append(target)

    def lines(self, head: bytes, chunks: Iterator[bytes]) -> None:
        """A text sitemap: one full URL in a line."""
        rest = head.removeprefix(codecs.BOM_UTF8)
        for chunk in chunks:
            *lines, rest = _NEWLINES.split(rest)
            self._some(lines)
            rest = rest[-4 * MAX_URL :] + chunk
        self._some(_NEWLINES.split(rest))

    def _some(self, lines: list[bytes]) -> None:
        for line in lines:
            if line.lstrip()[:4].lower() == b"http" and len(line) <= 4 * MAX_URL:
                self.add(line.decode("utf-8", "replace"))

    def xml(self, head: bytes, chunks: Iterator[bytes]) -> None:
        """An XML sitemap or index, whatever its namespace prefix."""
        decoder = _decoder(head)
        text = decoder.decode(head).lstrip("\ufeff \t\r\n")  # white space before <?xml is an error to expat
        parts = (part.encode() for part in chain((text,), map(decoder.decode, chunks)))
        parser = expat.ParserCreate("utf-8")  # whatever the declaration says
        read_events(parts, self._start, self._end, self._data, parser, MAX_DEPTH, MAX_TOKEN)

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        prefix, _, tag = name.rpartition(":")
        if tag in ("url", "sitemap"):
            self.parent, self.prefix = tag, prefix
        elif tag == "loc" and prefix == self.prefix:  # <image:loc> names no page
            self.loc = []

    def _end(self, name: str) -> None:
        if self.loc is not None and name.rpartition(":")[2] == "loc":
            href, self.loc = "".join(self.loc), None
            self.add(href, self.parent == "sitemap")

    def _data(self, text: str) -> None:
        if self.loc is not None and len(self.loc) < 64:
            self.loc.append(text[: 4 * MAX_URL])
