"""What a body really is: servers call programs HTML and HTML a PDF (F33)."""

import re
import struct
from functools import lru_cache

from analecta.parse.charset import wide_encoding

EMPTY = "application/x-empty"
HTML = "text/html"
XHTML = "application/xhtml+xml"
XML = "application/xml"
TEXT = "text/plain"
BINARY = "application/octet-stream"
PDF = "application/pdf"
POSTSCRIPT = "application/postscript"
RTF = "application/rtf"
ZIP = "application/zip"
GZIP = "application/gzip"
TAR = "application/x-tar"
EPUB = "application/epub+zip"
_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = _OFFICE + "wordprocessingml.document"
PPTX = _OFFICE + "presentationml.presentation"
XLSX = _OFFICE + "spreadsheetml.sheet"
ODT = "application/vnd.oasis.opendocument.text"
ODP = "application/vnd.oasis.opendocument.presentation"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
DOC = "application/msword"
PPT = "application/vnd.ms-powerpoint"
XLS = "application/vnd.ms-excel"
OLE = "application/x-ole-storage"
# The types that have a reader in `parse/documents`; their pages come from a child only.
DOCUMENTS = frozenset((PDF, DOCX, DOC, PPTX, PPT, XLSX, ODT, ODP, ODS, EPUB, RTF, POSTSCRIPT, ZIP, TAR, GZIP))

_MAGIC = (
    (b"%PDF-", PDF),
    (b"%!PS", POSTSCRIPT),
    (b"{\\rtf", RTF),
    (b"PK\x03\x04", ZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OLE),
    (b"GIF8", "image/gif"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x1f\x8b", GZIP),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ", "application/x-msdownload"),
)
_FIRST = frozenset(magic[0] for magic, _ in _MAGIC)
_ZIPPED = ("application/vnd.", "application/epub", "application/java-archive", "application/x-")
_JUST_ZIP = ("application/x-zip", "application/x-zip-compressed", "application/x-compressed")
# A zip file lists its members at its end, by names that are not packed.
_BY_MEMBER = (
    (b"word/document", DOCX),
    (b"ppt/presentation", PPTX),
    (b"xl/workbook", XLSX),
    (b"META-INF/container.xml", EPUB),
)
_NAMED = {mime.encode(): mime for mime in (EPUB, ODT, ODP, ODS)}  # those that say it in their first member
_LIST = 128 * 1024  # bytes of a zip file's end that are searched
_BY_STREAM = ((b"WordDocument", DOC), (b"PowerPoint Document", PPT), (b"Workbook", XLS), (b"EncryptedPackage", DOC))

_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?(?>\s|<!--.{0,1000}?-->)*+"  # atomic: a hundred comments would else be tried in 2^100 ways
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|style|table|div|h1|p|a|br|font|iframe|center)\b",
    re.IGNORECASE | re.DOTALL,
)
_ROOT = re.compile(rb"<(?:rss|feed|urlset|sitemapindex|svg|rdf:RDF)\b")
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml\b|" + _ROOT.pattern + rb")")
# Bytes that no text has (WHATWG MIME sniffing, "binary data byte"); ESC stays for ISO-2022-JP.
_NO_TEXT = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_PEEK = 1024


@lru_cache(256)
def mime_of(content_type: str) -> str:
    """The MIME type a Content-Type header names, in lower case and without parameters."""
    return content_type.partition(";")[0].partition(",")[0].strip().lower()


def sniff_type(content_type: str, body: bytes) -> str:
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
        if body[257:262] == b"ustar":
            return TAR
        if b"%PDF-" in head:
            return PDF  # with something in front of it, which readers forgive
        return said if said and not said.startswith("text/") and said not in (XHTML, XML) else BINARY
    if said == HTML and body[:1] == b"<" and body[1:2] != b"?":
        return HTML
    return _of_text(said, head)


def _of_text(said: str, head: bytes) -> str:
    """The type of something that reads as text."""
    if _XML.match(head):
        small = head.lower()
        if b"<html" in small or b"<!doctype html" in small:
            return HTML if said == HTML else XHTML
        if said == HTML and not _ROOT.search(head):
            return HTML  # with an XML declaration, as some editors write
        return said if said.endswith("xml") else XML
    if said in (HTML, XHTML, TEXT):
        return said
    if _HTML.match(head):
        return HTML
    if b"%PDF-" in head and said != TEXT:
        return PDF
    if said.startswith("text/") or said.endswith(("json", "xml", "javascript", "+xml", "yaml")):
        return said
    return TEXT


def _by_magic(said: str, body: bytes) -> str:
    for magic, mime in _MAGIC:
        if body.startswith(magic):
            if mime == ZIP:
                return _zipped(said, body)
            if mime == OLE:
                return _in_ole(said, body)
            if magic == b"MZ" and not _is_binary(body[:64]):
                return ""  # a text that begins with these letters
            return mime
    return ""


def _zipped(said: str, body: bytes) -> str:
    """What a zip file is: an office document, a book, or just a zip file."""
    if body[30:38] == b"mimetype":
        (size,) = struct.unpack_from("<I", body, 22)
        mime = _NAMED.get(body[38 : 38 + min(size, 100)].strip())
        if mime:
            return mime
    names = body[:4096] + body[-_LIST:]
    for name, mime in _BY_MEMBER:
        if name in names:
            return mime
    return said if said.startswith(_ZIPPED) and said not in _JUST_ZIP else ZIP


def _in_ole(said: str, body: bytes) -> str:
    """What a file of Microsoft's old formats is, by the names of its streams."""
    for name, mime in _BY_STREAM:
        if name.decode().encode("utf-16-le") in body:
            return mime
    return said if said.startswith("application/vnd.") else OLE


def _is_utf16(head: bytes) -> bool:
    """Whether the NULs in `head` are those of UTF-16: a BOM, or all on one side."""
    return head.startswith((b"\xff\xfe", b"\xfe\xff")) or bool(wide_encoding(head))


def _is_binary(head: bytes) -> bool:
    return len(head.translate(None, _NO_TEXT)) != len(head)  # 6 times faster than a pattern
