"""What a body really is: servers call programs HTML and HTML a PDF (F33)."""

import re
from functools import lru_cache

EMPTY = "application/x-empty"
HTML = "text/html"
XHTML = "application/xhtml+xml"
XML = "application/xml"
TEXT = "text/plain"
BINARY = "application/octet-stream"

_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"GIF8", "image/gif"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ", "application/x-msdownload"),
)
_FIRST = frozenset(magic[0] for magic, _ in _MAGIC)
_ZIPPED = ("application/vnd.", "application/epub", "application/java-archive", "application/x-")

_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<!--.{0,1000}?-->)*"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|style|table|div|h1|p|a|br|font|iframe|center)\b",
    re.IGNORECASE | re.DOTALL,
)
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml\b|(?:\xef\xbb\xbf)?\s*<(?:rss|feed|urlset|sitemapindex|svg|rdf:RDF)\b")
# Bytes that no text has (WHATWG MIME sniffing, "binary data byte"); ESC stays for ISO-2022-JP.
_NO_TEXT = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_PEEK = 1024


@lru_cache(256)
def mime_of(content_type: str) -> str:
    """The MIME type a Content-Type header names, in lower case and without parameters."""
    return content_type.partition(";")[0].partition(",")[0].strip().lower()


def sniff(content_type: str, body: bytes) -> str:
    """The MIME type of `body`; the server's word counts where the bytes do not speak against it."""
    said = mime_of(content_type)
    if not body:
        return EMPTY
    if body[0] in _FIRST:
        magic = _by_magic(said, body)
        if magic:
            return magic
    head = body[:_PEEK]
    # A stray control character does not unmake a page that is declared to be one; a NUL does.
    binary = b"\0" in head if said in (HTML, XHTML) else _is_binary(head)
    if binary and not _is_utf16(head):
        return said if said and not said.startswith("text/") and said not in (XHTML, XML) else BINARY
    if said == HTML and body[:1] == b"<" and body[1:2] != b"?":
        return HTML
    return _of_text(said, head)


def _of_text(said: str, head: bytes) -> str:
    """The type of something that reads as text."""
    if _XML.match(head):
        if b"<html" in head or b"<!DOCTYPE html" in head:
            return HTML if said == HTML else XHTML
        return said if said.endswith("xml") else XML
    if said in (HTML, XHTML, TEXT):
        return said
    if _HTML.match(head):
        return HTML
    if said.startswith("text/") or said.endswith(("json", "xml", "javascript", "+xml", "yaml")):
        return said
    return TEXT


def _by_magic(said: str, body: bytes) -> str:
    for magic, mime in _MAGIC:
        if body.startswith(magic):
            if magic == b"PK\x03\x04" and said.startswith(_ZIPPED):
                return said  # office documents and books are zip files with a better name
            if magic == b"MZ" and not _is_binary(body[:64]):
                return ""  # a text that begins with these letters
            return mime
    return ""


def _is_utf16(head: bytes) -> bool:
    """Whether the NULs in `head` are those of UTF-16: a BOM, or all on one side."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    even, odd = head[::2].count(0), head[1::2].count(0)
    return max(even, odd) > max(3, len(head) // 5) and max(even, odd) > 4 * min(even, odd)


def _is_binary(head: bytes) -> bool:
    return len(head.translate(None, _NO_TEXT)) != len(head)  # 6 times faster than a pattern
