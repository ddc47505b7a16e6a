"""A GROBID server, played by a local one that speaks its documented format."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from analecta.errors import ResourceError, UsageError
from analecta.sources.papers.grobid import ask_grobid, from_grobid
from analecta.sources.papers.paper import Reference, Section

PERSON = "<author><persName><forename type='first'>{}</forename><surname>{}</surname></persName>{}</author>"
PLACE = (
    "<affiliation><orgName type='department'>Bees</orgName><orgName>Hill College</orgName>"
    "<address><country>USA</country></address></affiliation>"
)
TEI = f"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc>
<titleStmt><title level="a" type="main">Where Honey
 Comes From</title></titleStmt>
<sourceDesc><biblStruct><analytic>{PERSON.format("Anna", "Bee", PLACE)}</analytic></biblStruct></sourceDesc></fileDesc>
<profileDesc><textClass><keywords><term>honey</term><term>bees</term></keywords></textClass>
<abstract><div><p>Bees <ref>[1]</ref> know.</p></div></abstract></profileDesc></teiHeader>
<text><body><div><head n="1">Introduction</head><p>Long ago.</p></div><figure><head>Figure 1</head></figure></body>
<back><div type="references"><listBibl>
<biblStruct><analytic><title level="a">Honey in the wild</title>{PERSON.format("C", "Dee", "")}</analytic>
<monogr><title level="j">Hives</title><imprint><date type="published" when="1999-03"/></imprint></monogr>
<note type="raw_reference">C. Dee, Honey in the wild, Hives, 1999.</note></biblStruct>
<biblStruct><monogr><title level="m">Waxes</title><imprint><date when="2005">2005</date></imprint></monogr></biblStruct>
</listBibl></div></back></text></TEI>"""


@contextmanager
def grobid(status: int = 200) -> Iterator[tuple[str, list[bytes]]]:
    asked: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path.encode() + b" " + self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(TEI.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_head_and_sections_of_tei() -> None:
    paper = from_grobid(TEI)
    assert (paper.title, paper.authors, paper.abstract) == ("Where Honey Comes From", ("Anna Bee",), "Bees [1] know.")
    assert (paper.affiliations, paper.keywords) == (("Bees, Hill College, USA",), ("honey", "bees"))
    assert paper.sections == (Section("1 Introduction", "Long ago."),)


def test_references_of_tei() -> None:
    first, second = from_grobid(TEI).references
    assert first == Reference("Honey in the wild", ("C Dee",), "1999", "C. Dee, Honey in the wild, Hives, 1999.")
    assert (second.title, second.year) == ("Waxes", "2005")


def test_a_server_is_asked_with_the_pdf_in_a_form() -> None:
    with grobid() as (url, asked):
        assert from_grobid(ask_grobid(url + "/", b"%PDF-1.4 \x00\xff")).title == "Where Honey Comes From"
    assert asked[0].startswith(b"/api/processFulltextDocument --")
    assert b'name="input"' in asked[0]
    assert b"\r\n\r\n%PDF-1.4 \x00\xff\r\n--" in asked[0]


def test_a_server_that_fails_or_is_not_there_says_so() -> None:
    with grobid(503) as (url, _), pytest.raises(ResourceError, match="answers 503"):
        ask_grobid(url, b"%PDF")
    with pytest.raises(ResourceError, match="does not answer"):
        ask_grobid(url, b"%PDF", seconds=5)


@pytest.mark.parametrize("url", ["localhost:8070", "http://localhost:abc", "http://[::1", "http://h:99999"])
def test_what_is_no_address_of_a_server_is_said(url: str) -> None:
    with pytest.raises(UsageError, match="no address"):
        ask_grobid(url, b"%PDF")


def test_f31_entities_in_tei_are_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><TEI>&b;</TEI>'
    with pytest.raises(UsageError, match="DOCTYPE"):
        from_grobid(bomb)
    with pytest.raises(UsageError, match="no TEI"):
        from_grobid("<html><br></html>")
