"""Files that show what is meant, read as pages: their text is learnt from, their links are where to begin.

A page that was saved from the web mostly says where it was: browsers write a comment, and authors a canonical link.
"""

import codecs
import errno
import html
import mimetypes
import re
import stat
from pathlib import Path

from analecta.model import Page, Response, UrlRef
from analecta.parse import Parser
from analecta.urls import canonical, url_id

_HEAD = 300_000  # bytes in which a page says where it was: styles that were saved with it may come before
_SAVED = re.compile(rb"<!-- saved from url=\(\d+\)(https?://[^\s>]+)|<!--\s*Page saved with SingleFile\s+url: (\S+)")
_TAG = re.compile(rb"<(?:link|meta)\b[^>]{0,3000}>", re.IGNORECASE)
_CANONICAL = re.compile(rb"""\brel\s*=\s*["']?canonical\b|\bproperty\s*=\s*["']?og:url\b""", re.IGNORECASE)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NO_TEXT = bytes([*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_PEEK = 4096
_VALUE = re.compile(rb"""\b(?:href|content)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
MAX_FILE = 20_000_000  # bytes, as of a page that is fetched


def read_page(path: Path, name: str, parser: Parser) -> Page:
    """What a file holds. Its URL is where it was saved from, or the file itself; without text, `limits` says why."""
    try:
        body = read_example(path)
    except OSError as error:
        return Page(f"file:{name}", 0, "", "", limits=error.strerror or str(error))
    target = own_address(body) or UrlRef(f"file:{name}", url_id(f"file:{name}"), "")
    answer = Response(target.url, 200, b"", {"content-type": _mime(path, body)}, b"", body)
    page = parser.page(answer, target)
    if not page.text.strip():
        page.text, page.limits = "", page.limits or f"there is no text in it that can be read ({page.mime})"
    return page


def own_address(body: bytes) -> UrlRef | None:
    """Where a saved page was on the web, if it says so."""
    head = body[:_HEAD]
    tags = [tag for tag in _TAG.findall(head) if _CANONICAL.search(tag)]
    said = [_SAVED.search(head), *map(_VALUE.search, tags)]
    values = (next(filter(None, one.groups()), b"") for one in said if one)
    urls = (html.unescape(value.decode("utf-8", "replace")).strip() for value in values)
    return next(filter(None, map(canonical, urls)), None)


def _mime(path: Path, body: bytes) -> str:
    """What the name says that it is, unless the bytes are no text at all; all kinds of text are read as text."""
    mime = mimetypes.guess_type(path.name)[0] or ""
    head = b"" if body.startswith(_UTF16) else body[:_PEEK]
    if mime.startswith("text/") and len(head) - len(head.translate(None, _NO_TEXT)) > len(head) // 100:
        return ""
    return "text/plain" if mime.startswith("text/") and mime not in ("text/html", "text/xml") else mime


def read_example(path: Path) -> bytes:
    """What is in a file that is an example; OSError where it is no ordinary file, or too large."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "it is no ordinary file")
    if about.st_size > MAX_FILE:
        raise OSError(errno.EFBIG, f"it is larger than {MAX_FILE // 1_000_000} MB")
    return path.read_bytes()
