"""PostScript to Document, where Ghostscript is installed: it runs as a child of the child, with limits of its own."""

import re
import resource
import shutil
import subprocess

from analecta.parse.dates import date_of
from analecta.parse.documents.document import Document, Stopped, tidy, title_of
from analecta.parse.documents.pdf import mended

MAX_SECONDS = 8
_COMMENT = re.compile(rb"^%%(Title|For|CreationDate):[ \t]*\(?([^\r\n)]{1,500})", re.MULTILINE)
_HEAD = 4096
_ISO = re.compile(r"\s*\d{4}-?\d\d")


def read_postscript(body: bytes, document: Document) -> None:
    """Read a PostScript file; without Ghostscript it stays what it is."""
    _read_comments(body[:_HEAD], document)
    program = shutil.which("gs")
    if program is None:
        raise Stopped("PostScript: Ghostscript (gs) is not installed")
    command = [program, "-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-sDEVICE=txtwrite", "-sstdout=%stderr"]
    try:
        done = subprocess.run(
            [*command, "-sOutputFile=%stdout", "-"],
            input=body,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=MAX_SECONDS,
            preexec_fn=_confine,  # the child has one thread only, so this is safe
        )
    except subprocess.TimeoutExpired:
        raise Stopped(f"parse-limited: Ghostscript stopped after {MAX_SECONDS} s") from None
    text = done.stdout.decode("utf-8", "replace")
    for line in mended(text).splitlines():
        document.add(" ".join(line.split()))
        document.end_line()
    if done.returncode:
        raise Stopped(f"broken PostScript: Ghostscript ended with {done.returncode}")
    if not text.strip():
        raise Stopped("scanned: no text")


def _confine() -> None:
    """It inherits the bounds on memory and files; time counts for each process anew."""
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))


def _read_comments(head: bytes, document: Document) -> None:
    found = {name: value.decode("latin-1") for name, value in _COMMENT.findall(head)}
    document.title = title_of(found.get(b"Title", ""))
    document.author = tidy(found.get(b"For", ""))
    date = found.get(b"CreationDate", "")
    year = re.search(r"\b(19|20)\d\d\b", date)
    document.date = date_of(date) if _ISO.match(date.removeprefix("D:")) else year[0] if year else ""
