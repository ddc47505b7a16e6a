"""What the archive holds of a page, and its main text: paragraphs whole, without menus and footers.

Pages are hostile and a table can be made to fill any memory, so they are read in the child that the crawl uses too.
"""

import re
from pathlib import Path

from analecta.fetch.message import decode, parse_head
from analecta.model import Response, UrlRef
from analecta.parse import PageSandbox, ParserDied
from analecta.parse.charset import decode as decode_text
from analecta.parse.charset import header_charset
from analecta.store.archive import RecordPlace, read_answer
from analecta.store.rows import PageRow

HTML = frozenset(("text/html", "application/xhtml+xml"))
MAX_BODY = 16 * 1024 * 1024  # bytes, decoded
MAX_TEXT = 20_000_000  # characters, with the blanks that lay out tables; real pages stay far below
_GAP = re.compile(r"\n{3,}")


def answer_of(archive: Path, item: PageRow) -> Response | None:
    """What the server said, from the archive; None where it cannot be read (or refers to an earlier record)."""
    found = read_answer(archive / item.warc, RecordPlace(0, item.offset, item.length)) if item.warc else None
    head = parse_head(found[0].splitlines(keepends=True)) if found else None
    if found is None or head is None:
        return None
    status, raw, headers = head
    body, _ = decode(found[1], headers.get("content-encoding", ""), MAX_BODY)
    return Response(item.url, status, raw, headers, b"", body)


def html_of(answer: Response) -> str:
    """The page's HTML, read as its server and itself say."""
    return decode_text(answer.body, header_charset(answer.headers.get("content-type", "")))[0]


def main_text(child: PageSandbox, item: PageRow, answer: Response) -> str:
    """The main text of an HTML page; "" where there is none, or the page cannot be read."""
    try:
        page = child.parse(answer, UrlRef(item.url, item.id, item.host), item.mime)
    except ParserDied:
        return ""
    text = page.main_text()
    return tidy(text) if len(text) <= MAX_TEXT else ""


def tidy(text: str) -> str:
    """The text without the blanks that lay out its tables, and with one empty line between paragraphs."""
    lines = "\n".join([" ".join(line.split()) for line in text.split("\n")])
    return _GAP.sub("\n\n", lines).strip()
