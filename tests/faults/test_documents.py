"""F32, B2, S10: documents among the pages of a crawl, good ones and hostile ones."""

import json
import subprocess
import sys
from contextlib import closing

from analecta.parse import UNREAD as TO_READ
from analecta.store.partition import UNREAD
from analecta.store.sqlite import connect
from tests.crawls import soundness
from tests.crawls.driver import crawl, make_library, pages, states
from tests.crawls.site import html, prose, site
from tests.hostile import answer
from tests.parse.documents.making import URL, WORDS, docx, pdf, zipped

PDF, WORD = "application/pdf", "application/octet-stream"
BOMB = docx("<w:document xmlns:w='w'>" + " " * 50_000_000 + "</w:document>")


def documents(**bodies: bytes):
    """A site whose front page links to documents, as a server that knows no types but PDF gives them."""
    served = {
        f"/{name}": answer(body, content_type=PDF if name.startswith("pdf") else WORD) for name, body in bodies.items()
    }
    return site(served | {"/": html("/", *served)})


def test_b2_documents_are_kept_judged_and_followed_like_pages(tmp_path):
    with documents(word=docx(), pdf=pdf()) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    found = {page["url"][13:]: page for page in pages(library)}
    assert (found["/word"]["title"], found["/word"]["author"], found["/word"]["date"]) == (
        "On Bees",
        "A. Keeper",
        "2021-03-04",
    )
    assert found["/pdf"]["words"] >= len(WORDS.split()) - 2
    assert found["/pdf"]["confidence"] is not None
    assert URL in states(library)
    soundness.check(library)


def test_f32_a_zip_bomb_and_a_broken_pdf_are_kept_as_they_are_and_status_says_why(tmp_path):
    with documents(bomb=BOMB, pdf_broken=b"%PDF-1.7 and nothing more", word=docx()) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    found = {page["url"][13:]: page for page in pages(library)}
    assert found["/bomb"]["limits"].startswith("zip bomb")
    assert found["/bomb"]["size"] == len(BOMB)
    told = subprocess.run(
        [sys.executable, "-m", "analecta", "status", str(library.folder), "--json"], capture_output=True
    )
    assert any(why.startswith("zip bomb") for why in json.loads(told.stdout)["limits"])
    soundness.check(library)


def test_s10_a_document_that_cannot_be_read_is_judged_as_the_page_that_links_to_it(tmp_path):
    with documents(pdf_scan=pdf("() Tj"), archive=zipped({"a.bin": bytes(100)})) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    found = {page["url"][13:]: page for page in pages(library)}
    assert found["/pdf_scan"]["words"] == 0
    assert found["/pdf_scan"]["topic"] == found["/"]["topic"]
    assert found["/archive"]["confidence"] == found["/"]["confidence"]


def test_b2_a_type_has_its_own_limit_of_size_and_may_be_unwanted(tmp_path):
    fetch = {"types": {"application/pdf": 100, "application/octet-stream": 0}}
    with documents(pdf=pdf(), word=docx()) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address, fetch=fetch)
        crawl(library)
    refused = {url[13:]: reason for url, (_, reason) in states(library).items()}
    assert (refused["/pdf"], refused["/word"]) == ("size", "type")


def test_b2_documents_that_come_in_a_crowd_wait_and_are_all_read_in_the_end(tmp_path):
    crowd = {f"pdf{i}": pdf(f"(Number {i} {WORDS} {prose(f'x{i}')}) Tj") for i in range(60)}
    with documents(**crowd) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
    found = [page for page in pages(library) if page["mime"] == PDF]
    assert len(found) == 60
    assert all(page["text"] and not page["limits"] for page in found)
    soundness.check(library)


def test_b2_documents_that_wait_when_a_crawl_is_stopped_are_read_by_the_next(tmp_path):
    with documents(pdf=pdf(), word=docx()) as server:
        library = make_library(tmp_path / "lib", ["http://a.test/"], server.address)
        crawl(library)
        with closing(connect(library.shard_path(0))) as db:
            db.execute(
                "UPDATE pages SET text = NULL, links = NULL, flags = flags | 16, limits = ? WHERE mime = ?",
                (TO_READ, PDF),
            )
            db.execute("DELETE FROM urls WHERE url = ?", (URL,))
        crawl(library)
    (read,) = [page for page in pages(library) if page["mime"] == PDF]
    assert (read["flags"] & UNREAD, read["limits"]) == (0, None)
    assert read["text"]
    assert URL in states(library)
