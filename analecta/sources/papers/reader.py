"""A PDF of a research paper -> title, authors, abstract, sections, references; in a process of its own."""

import contextlib
import re
from collections.abc import Container, Sequence
from pathlib import Path

import msgspec
import pypdfium2  # type: ignore[import-untyped]

from analecta.errors import UsageError
from analecta.parse.sandbox import ChildFailed, ChildLate, ChildLimits, Sandbox
from analecta.sources.files import read_bytes, text_of
from analecta.sources.papers.citation import read_citation
from analecta.sources.papers.glyphs import GlyphWord, join_lines, words_of
from analecta.sources.papers.grobid import ask_grobid, from_grobid
from analecta.sources.papers.head import read_head
from analecta.sources.papers.lines import TextLine, common_size, read_lines, without_footnotes, without_running_heads
from analecta.sources.papers.paper import Paper, Section, from_toml
from analecta.sources.papers.references import find_list, split_list

# --- The headings of a paper, by their font and their numbers, and the text below each -------------------------------


_NUMBER = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-Z]\.(?:\d\.?)?|Appendix\b.{0,3})\s+(?=[A-ZÀ-Þ“\"])"
)
_NAMED = re.compile(
    r"(?i)(?:introduction|related work|background|methods?|materials and methods|results(?: and discussion)?|"
    r"discussion|conclusions?(?: and .*)?|acknowledge?ments?|summary|experiments?|evaluation|future work)\s*[.:]?$"
)
_PAGE = re.compile(r"(?<![\s.])[\s.]++\d{1,4}$")
_LETTERS = re.compile(r"[A-Za-zÀ-ÿ]{4}")
_CAPTION = re.compile(r"(?i)(?:fig(?:ure|\.)|table|algorithm|listing|theorem|lemma|proof|definition|example)\b")


def read_sections(lines: Sequence[TextLine], size: float, known: Container[str] = ()) -> list[Section]:
    """The sections of a text whose letters are of `size`."""
    bold_text = 2 * sum(line.bold for line in lines) > len(lines)
    found: list[tuple[list[TextLine], list[TextLine]]] = []
    for line in lines:
        if found and not found[-1][1] and _continues(found[-1][0][-1], line):
            found[-1][0].append(line)
        elif _is_heading(line, size, bold_text):
            found.append(([line], []))
        elif found:
            found[-1][1].append(line)
    sections = [
        Section(join_lines([line.text for line in heading], known), join_lines([line.text for line in text], known))
        for heading, text in found
    ]
    titles = {section.title for section in sections} | {"References", "Bibliography"}
    return [section for section in sections if not _of_contents(section.title, titles)]


def _of_contents(title: str, titles: Container[str]) -> bool:
    """Whether a heading is a line of the table of contents."""
    return title.lower() == "contents" or (bool(_PAGE.search(title)) and _PAGE.sub("", title) in titles)


def _is_heading(line: TextLine, size: float, bold_text: bool) -> bool:
    text = line.text
    letters = [char for char in text if char.isalpha()]
    if (
        len(letters) < 4
        or len(letters) < 0.6 * len(text.replace(" ", ""))
        or len(text) > 120
        or _CAPTION.match(text)
        or not _LETTERS.search(text)
    ):
        return False
    if text.rstrip().endswith((",", ";", "-")) or not (text[0].isupper() or text[0].isdigit()):
        return False
    numbered, named = bool(_NUMBER.match(text)), bool(_NAMED.match(text))
    large = line.size > 1.08 * size
    bold = (
        not bold_text
        and line.bold
        and all(word.bold or len(word.text) < 3 for word in line.words)
        and line.size > 0.88 * size
    )
    capitals = sum(map(str.isupper, letters)) > 0.8 * len(letters) and line.size > 0.75 * size
    whole = not text.rstrip().endswith(".")
    if named and whole and len(text) < 30:
        return True
    return (numbered or named or whole) and (large or bold or (capitals and (numbered or named)))


def _continues(heading: TextLine, line: TextLine) -> bool:
    """Whether a line is a heading's second line."""
    same = (
        abs(heading.size - line.size) < 0.3
        and heading.bold == line.bold
        and heading.text.isupper() == line.text.isupper()
    )
    near = heading.page == line.page and 0 < heading.y - line.y < 1.6 * line.size
    marked = line.bold or line.text.isupper()
    return same and near and marked and not _NUMBER.match(line.text) and not _NAMED.match(line.text)


# --- A PDF of a research paper -> what it says: title, authors, abstract, sections, references -----------------------


MAX_PAGES = 300
_FEW_LETTERS = 100  # on a page: pictures of text have none, or a stamp's
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_COVER = re.compile(  # pages that archives put before a paper
    r"(?i)to cite this (?:version|article)|jstor is a|your use of the jstor|this article was downloaded by|"
    r"see discussions, stats, and author profiles|hal is a multi-?disciplinary"
)


def read_paper(data: bytes) -> Paper:
    """Read a paper; raises UsageError with one sentence where there is none to read."""
    pages, stated = _words(data)
    letters = sum(len(word.text) for words in pages for word in words)
    if letters < _FEW_LETTERS * min(len(pages), 5):
        raise UsageError("the PDF holds no text, only pictures of it (a scan): run it through OCR first")
    paged = without_running_heads(read_lines(pages))
    if len(paged) > 2 and _COVER.search(" ".join(line.text for line in paged[0])):
        paged = paged[1:]
    lines = [line for page in paged for line in page]
    known = frozenset(word.lower() for line in lines for word in _WORD.findall(line.text))
    start, listed = find_list(lines)
    size = common_size(lines[:start])
    text = without_footnotes(lines[:start], size)
    head, body = read_head(text, size, stated, known)
    sections = tuple(read_sections(body, size, known))
    references = tuple(read_citation(*entry) for entry in split_list(listed, known))
    why = _missing(head.title, len(references))
    return msgspec.structs.replace(head, sections=sections, references=references, why=why)


def _missing(title: str, references: int) -> str:
    missing = [name for name, there in (("title", title), ("list of references", references)) if not there]
    return f"no {' and no '.join(missing)} was found" if missing else ""


def _words(data: bytes) -> tuple[list[list[GlyphWord]], str]:
    """The words of each page, and the title that the file's own notes state."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as wrong:
        if "assword" in str(wrong):
            raise UsageError("the PDF is encrypted: save it without a password first") from None
        raise UsageError("this is no PDF that can be read, or it is broken") from None
    with contextlib.closing(document):
        count = min(len(document), MAX_PAGES)
        return [_page(document, i) for i in range(count)], document.get_metadata_value("Title")


def _page(document: pypdfium2.PdfDocument, i: int) -> list[GlyphWord]:
    try:
        page = document[i]
    except pypdfium2.PdfiumError:
        return []  # one broken page: the others may do
    with contextlib.closing(page):
        return words_of(page)


# --- child -----------------------------------------------------------------------------------------------------------
# Reading a PDF in a child process with limits on memory and time: a hostile file kills the child, not us (F32).


MAX_FILE = 256 * 1024 * 1024
LIMITS = ChildLimits(seconds=60.0, memory=1024 * 1024 * 1024)


class PaperReply(msgspec.Struct):
    """What the child says: a paper, or why there is none."""

    paper: Paper | None = None
    error: str = ""


def read_brought(path: Path, grobid: str = "") -> Paper:
    """A paper that a person brought: our own TOML of one, perhaps corrected, or a PDF."""
    if path.suffix.lower() == ".toml":
        return from_toml(text_of(read_bytes(path), path), str(path))
    if grobid:
        return from_grobid(ask_grobid(grobid, read_bytes(path)))
    return read_paper_apart(path)


def read_paper_apart(path: Path, limits: ChildLimits = LIMITS) -> Paper:
    """Read the paper in a file; raises UsageError with one sentence where that cannot be done within the limits."""
    data = _contents(path)
    try:
        with contextlib.closing(Sandbox("analecta.sources.papers.reader:read_in_child", PaperReply, limits)) as child:
            reply = child.call(data)
    except ChildLate:
        raise UsageError(f"{path}: reading it took more than {limits.seconds:g} s and was stopped") from None
    except ChildFailed:
        raise UsageError(f"{path}: the PDF is broken, reading it ended the reader") from None
    if reply.paper is None:
        raise UsageError(f"{path}: {reply.error}")
    return reply.paper


def read_in_child(data: bytes) -> PaperReply:
    """The child's side."""
    try:
        return PaperReply(read_paper(data))
    except UsageError as wrong:
        return PaperReply(error=str(wrong))
    except MemoryError:
        return PaperReply(error="reading it takes more memory than is allowed")
    except Exception as wrong:
        return PaperReply(error=f"the PDF could not be read ({type(wrong).__name__})")


def _contents(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise UsageError(f"{path}: there is no such file")
        if (size := path.stat().st_size) > MAX_FILE:
            raise UsageError(f"{path}: {size >> 20} MB are too much for a paper (the limit is {MAX_FILE >> 20} MB)")
        return path.read_bytes()
    except OSError as wrong:
        raise UsageError(f"{path}: it cannot be read ({wrong.strerror})") from None
