"""PostScript to Document, where Ghostscript is installed: it runs apart from everything else (parse/programs.py)."""

import re
import shutil

from analecta.parse.dates import date_of
from analecta.parse.documents.document import MAX_TEXT, Document, Stopped, tidy, title_of
from analecta.parse.documents.pdf import mended
from analecta.parse.programs import Limits, run

MAX_SECONDS = 8
MAX_MEMORY = 512 * 1024 * 1024
MAX_OUTPUT = 4 * MAX_TEXT  # bytes
# SAFER without any permission to open files; what a document prints goes to stderr, which nobody reads. No file of
# the working folder counts as one of Ghostscript's own (-P-).
OPTIONS = (
    *("-q", "-P-", "-dSAFER", "-dBATCH", "-dNOPAUSE"),
    *("-sDEVICE=txtwrite", "-sstdout=%stderr", "-sOutputFile=%stdout", "-"),
)
_COMMENT = re.compile(rb"^%%(Title|For|CreationDate):[ \t]*\(?([^\r\n)]{1,500})", re.MULTILINE)
_HEAD = 4096
_ISO = re.compile(r"\s*\d{4}-?\d\d")


def read_postscript(body: bytes, document: Document) -> None:
    """Read a PostScript file; without Ghostscript it stays what it is."""
    _read_comments(body[:_HEAD], document)
    program = shutil.which("gs")
    if program is None:
        raise Stopped("PostScript: Ghostscript (gs) is not installed")
    done = run([program, *OPTIONS], body, Limits(MAX_SECONDS, MAX_MEMORY, MAX_OUTPUT))
    text = done.output.decode("utf-8", "replace")
    for line in mended(text).splitlines():
        document.add(" ".join(line.split()))
        document.end_line()
    if done.stopped == "time":
        raise Stopped(f"parse-limited: Ghostscript stopped after {MAX_SECONDS} s")
    if done.stopped == "output":
        raise Stopped("text-cut")
    if done.status:
        raise Stopped(f"broken PostScript: Ghostscript ended with {done.status}")
    if not text.strip():
        raise Stopped("scanned: no text")


def _read_comments(head: bytes, document: Document) -> None:
    found = {name: value.decode("latin-1") for name, value in _COMMENT.findall(head)}
    document.title = title_of(found.get(b"Title", ""))
    document.author = tidy(found.get(b"For", ""))
    date = found.get(b"CreationDate", "")
    year = re.search(r"\b(19|20)\d\d\b", date)
    document.date = date_of(date) if _ISO.match(date.removeprefix("D:")) else year[0] if year else ""
