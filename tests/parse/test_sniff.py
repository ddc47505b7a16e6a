import gzip

import pytest

from analecta.parse import Parser
from analecta.parse.sniff import sniff_type

from .pages import any_page

EXE = b"MZ\x90\x00\x03\x00\x00\x00" + b"\0" * 60
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.mark.parametrize(
    ("said", "body", "is_really"),
    [
        ("text/html", EXE, "application/x-msdownload"),
        ("text/html", b"%PDF-1.7 ...", "application/pdf"),
        ("application/pdf", b"<!DOCTYPE html><p>x", "text/html"),
        ("application/pdf", b"\n <!-- c --> <HTML><p>x", "text/html"),
        ("text/html", PNG, "image/png"),
        ("image/jpeg", b"GIF89a" + b"\0" * 9, "image/gif"),
        ("text/plain", b"\xff\xd8\xff\xe0" + b"\0" * 9, "image/jpeg"),
        ("text/html", gzip.compress(b"x", mtime=0), "application/gzip"),
        ("text/html", b"PK\x03\x04" + b"\0" * 9, "application/zip"),
        ("application/epub+zip", b"PK\x03\x04" + b"\0" * 9, "application/epub+zip"),
        ("text/html", b"", "application/x-empty"),
        ("text/html; charset=x", b"MZ is how this sentence begins", "text/html"),
        ("", b"just words", "text/plain"),
        ("", b"<html>", "text/html"),
        ("", b"\x01\x02\x03", "application/octet-stream"),
        ("text/html", b"words \x00\x01\x02 and bytes", "application/octet-stream"),
        ("TEXT/HTML", "<p>x".encode("utf-16-le"), "text/html"),
        ("text/html", b"<?xml version='1.0'?><urlset>", "application/xml"),
        ("application/xml", b"<?xml version='1.0'?><html xmlns='x'>", "application/xhtml+xml"),
        ("text/html", b"<?xml version='1.0'?><!DOCTYPE html><html>", "text/html"),
        ("text/html", b"<?xml version='1.0'?>\n<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'><HTML>", "text/html"),
        ("text/html", b"<?xml version='1.0'?><!--" + b"x" * 1100 + b"--><html>", "text/html"),
        ("text/html", b"<?xml version='1.0'?><BODY>", "text/html"),
        ("text/html", b"<?xml version='1.0'?><rss>", "application/xml"),
        ("application/rss+xml", b"<rss>", "application/rss+xml"),
        ("application/json", b'{"a": 1}', "application/json"),
        ("text/plain", b"<p>an example", "text/plain"),
    ],
)
def test_f33_the_bytes_tell_what_they_are(said, body, is_really):
    assert sniff_type(said, body) == is_really


def test_f33_what_is_no_page_is_kept_without_text():
    page = any_page(Parser(), EXE)
    assert (page.mime, page.text, page.links) == ("application/x-msdownload", "", [])
    assert any_page(Parser(), b"").mime == "application/x-empty"


def test_f33_html_called_pdf_is_parsed():
    page = any_page(Parser(), "<html><title>T</title><a href=x>x</a>", content_type="application/pdf")
    assert (page.mime, page.title, len(page.links)) == ("text/html", "T", 1)
