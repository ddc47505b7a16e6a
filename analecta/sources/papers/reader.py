"""A PDF of a research paper -> what it says: title, authors, abstract, sections, references."""

import re

import pypdfium2  # type: ignore[import-untyped]

from analecta.errors import BadUse
from analecta.sources.papers.citation import read_citation
from analecta.sources.papers.furniture import common_size, without_footnotes, without_running_heads
from analecta.sources.papers.glyphs import Word, words_of
from analecta.sources.papers.head import read_head
from analecta.sources.papers.lines import read_lines
from analecta.sources.papers.paper import Paper
from analecta.sources.papers.references import find_list, split_list
from analecta.sources.papers.sections import read_sections

MAX_PAGES = 300
_FEW_LETTERS = 100  # on a page: pictures of text have none, or a stamp's
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_COVER = re.compile(  # pages that archives put before a paper
    r"(?i)to cite this (?:version|article)|jstor is a|your use of the jstor|this article was downloaded by|"
    r"see discussions, stats, and author profiles|hal is a multi-?disciplinary"
)


def read_paper(data: bytes, max_pages: int = MAX_PAGES) -> Paper:
    """Read a paper; raises BadUse with one sentence where there is none to read. Hostile files: `read_paper_apart`."""
    pages, stated = _words(data, max_pages)
    letters = sum(len(word.text) for words in pages for word in words)
    if letters < _FEW_LETTERS * min(len(pages), 5):
        raise BadUse("the PDF holds no text, only pictures of it (a scan): run it through OCR first")
    paged = without_running_heads(read_lines(pages))
    if len(paged) > 2 and _COVER.search(" ".join(line.text for line in paged[0])):
        paged = paged[1:]
    lines = [line for page in paged for line in page]
    known = frozenset(word.lower() for line in lines for word in _WORD.findall(line.text))
    start, listed = find_list(lines)
    size = common_size(lines[:start])
    text = without_footnotes(lines[:start], size)
    head = read_head(text, size, stated, known)
    references = tuple(read_citation(entry) for entry in split_list(listed, known))
    return Paper(
        title=head.title,
        authors=head.authors,
        affiliations=head.affiliations,
        abstract=head.abstract,
        keywords=head.keywords,
        sections=tuple(
            read_sections([line for line in text[head.end :] if line.page or line.y < head.low], size, known)
        ),
        references=references,
        why=_missing(head.title, len(references)),
    )


def _missing(title: str, references: int) -> str:
    missing = [name for name, there in (("title", title), ("list of references", references)) if not there]
    return f"no {' and no '.join(missing)} was found" if missing else ""


def _words(data: bytes, max_pages: int) -> tuple[list[list[Word]], str]:
    """The words of each page, and the title that the file's own notes state."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as wrong:
        if "assword" in str(wrong):
            raise BadUse("the PDF is encrypted: save it without a password first") from None
        raise BadUse("this is no PDF that can be read, or it is broken") from None
    try:
        count = min(len(document), max_pages)
        return [_page(document, i) for i in range(count)], document.get_metadata_value("Title")
    finally:
        document.close()


def _page(document: pypdfium2.PdfDocument, i: int) -> list[Word]:
    try:
        page = document[i]
    except pypdfium2.PdfiumError:
        return []  # one broken page: the others may do
    try:
        return words_of(page)
    finally:
        page.close()
