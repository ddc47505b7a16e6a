"""What does a document cost? PDFs against `pdftotext` in the same run, and each other format by itself.

CPU is that of whole process trees: for us the parser with its child, for pdftotext one process a file. Both are told
without what it takes to start. The other documents are made here, of 5,000 words each.
"""

import argparse
import io
import random
import shutil
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import keep, machine, run, show

from analecta.model import Response
from analecta.parse import Parser
from analecta.parse.documents import READERS, parse_document
from analecta.parse.sniff import DOCX, EPUB, ODT, PDF, PPTX, RTF
from analecta.urls import Joiner, canonical

PAPERS = Path(__file__).parents[2] / "shared" / "data" / "papers"
OUT = Path(__file__).parent / "out" / "documents.json"
TURNS = 5
WORDS = 5000
PER_PART = 100  # words a paragraph; ten paragraphs are a chapter, two a slide


def read_all(folder: Path, rounds: int) -> int:
    """What the process that is measured does; the pages read, of one round."""
    target = canonical("http://papers.example/paper.pdf")
    assert target is not None
    bodies = [path.read_bytes() for path in sorted(folder.glob("*.pdf"))]
    with Parser() as parser:
        for body in [bodies[0][:20], *bodies * rounds]:  # the first starts the child
            parser(Response(target.url, 200, b"", {"content-type": PDF}, b"", body), target)
    return len(bodies)


def count_pages(folder: Path) -> int:
    import pypdfium2

    return sum(len(pypdfium2.PdfDocument(path)) for path in folder.glob("*.pdf"))


def against_pdftotext(folder: Path, rounds: int) -> list[dict[str, Any]]:
    """CPU a page of ours and of pdftotext, taking turns, the best of five; starting is told apart for both."""
    papers, program = sorted(folder.glob("*.pdf")), shutil.which("pdftotext")
    pages = count_pages(folder)
    ours = [sys.executable, __file__, "--read", str(folder), "--rounds"]
    spent: dict[str, list[tuple[float, float]]] = {"analecta": [], "pdftotext": []}
    for _ in range(TURNS):
        spent["analecta"].append((run([*ours, "0"]).cpu, run([*ours, str(rounds)]).cpu))
        if program:
            start = sum(run([program, "-v"]).cpu for _ in papers)
            all_ = sum(run([program, str(path), "/dev/null"]).cpu for _ in range(rounds) for path in papers)
            spent["pdftotext"].append((rounds * start, all_))
    rows = []
    for name, turns in spent.items():
        if turns:
            startup, whole = (min(turn[i] for turn in turns) for i in (0, 1))
            rows.append({"what": name, "ms_per_page": 1000 * (whole - startup) / pages / rounds, "startup_s": startup})
    for row in rows:
        row["against"] = row["ms_per_page"] / rows[-1]["ms_per_page"]
    return rows


def zipped(members: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return file.getvalue()


def paragraphs() -> list[str]:
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(WORDS)]
    return [" ".join(words[i : i + PER_PART]) for i in range(0, WORDS, PER_PART)]


def docx() -> bytes:
    runs = "".join(
        "<w:p>" + "".join(f"<w:r><w:rPr/><w:t>{word} </w:t></w:r>" for word in text.split()) + "</w:p>"
        for text in paragraphs()
    )
    return zipped({"word/document.xml": f"<w:document xmlns:w='w'><w:body>{runs}</w:body></w:document>"})


def pptx() -> bytes:
    texts = paragraphs()
    pairs = [
        "".join(f"<a:p><a:r><a:t>{t}</a:t></a:r></a:p>" for t in texts[i : i + 2]) for i in range(0, len(texts), 2)
    ]
    slides = {f"ppt/slides/s{i}.xml": f"<p:sld xmlns:p='p' xmlns:a='a'>{pair}</p:sld>" for i, pair in enumerate(pairs)}
    order = "".join(f"<p:sldId id='{i}' r:id='r{i}'/>" for i in range(len(slides)))
    names = "".join(f"<Relationship Id='r{i}' Type='x/slide' Target='/{name}'/>" for i, name in enumerate(slides))
    return zipped(
        {
            "ppt/presentation.xml": f"<p:presentation xmlns:p='p' xmlns:r='r'>{order}</p:presentation>",
            "ppt/_rels/presentation.xml.rels": f"<Relationships>{names}</Relationships>",
            **slides,
        }
    )


def odt() -> bytes:
    text = "".join(f"<text:p>{text}</text:p>" for text in paragraphs())
    return zipped({"mimetype": ODT, "content.xml": f"<o:d xmlns:o='o' xmlns:text='t'>{text}</o:d>"})


def epub() -> bytes:
    texts = paragraphs()
    chapters = {f"c{i}.xhtml": "".join(f"<p>{t}</p>" for t in texts[i : i + 10]) for i in range(0, len(texts), 10)}
    items = "".join(f"<item id='{n}' href='{n}' media-type='application/xhtml+xml'/>" for n in chapters)
    order = "".join(f"<itemref idref='{n}'/>" for n in chapters)
    return zipped(
        {
            "META-INF/container.xml": "<container><rootfile full-path='b.opf'/></container>",
            "b.opf": f"<package><manifest>{items}</manifest><spine>{order}</spine></package>",
            **{name: f"<html><body>{text}</body></html>" for name, text in chapters.items()},
        }
    )


def rtf() -> bytes:
    return b"{\\rtf1 " + b"\\par ".join(text.encode() for text in paragraphs()) + b"}"


MADE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "docx, a run a word": (DOCX, docx),
    "pptx, 25 slides": (PPTX, pptx),
    "odt": (ODT, odt),
    "epub, 5 chapters": (EPUB, epub),
    "rtf": (RTF, rtf),
}


def cost_of(name: str, mime: str, body: bytes, rounds: int) -> dict[str, Any]:
    """CPU of one document, from bytes to page, in this process."""
    target = canonical("http://papers.example/document")
    assert target is not None
    answer, joiner = Response(target.url, 200, b"", {}, b"", body), Joiner()
    words, best = 0, 1e9
    for _ in range(rounds):
        began = time.process_time()
        page = parse_document(answer, target, joiner, mime, READERS[mime])
        best = min(best, time.process_time() - began)
        words = len(page.text.split())
    return {"what": name, "kb": len(body) / 1024, "words": words, "ms": 1000 * best}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, default=PAPERS, help="a folder of PDFs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    if given.read:
        read_all(given.read, given.rounds)
        return
    figures: dict[str, Any] = {"machine": machine()}
    if any(given.papers.glob("*.pdf")):
        figures["pdf"] = against_pdftotext(given.papers, given.rounds)
        columns = {"PDF": "what", "CPU ms a page": "ms_per_page:.2f", "start s": "startup_s:.2f", "x": "against:.2f"}
        show(
            "PDF to text",
            figures["pdf"],
            columns,
            "start: ours once a partition, its once a file",
        )
    figures["others"] = [cost_of(name, mime, make(), 20) for name, (mime, make) in MADE.items()]
    show("other documents", figures["others"], {"": "what", "KB": "kb:.0f", "words": "words", "CPU ms": "ms:.2f"})
    keep(given.o, figures)


if __name__ == "__main__":
    main()
