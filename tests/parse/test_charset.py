import pytest

from analecta.parse.charset import decode, header_charset

from .pages import html

CHINESE = "<title>中文网页</title><p>这是一个用来测试编码的网页，内容是中文。" * 4
GERMAN = "<p>Größe, Übung und Straße; "


@pytest.mark.parametrize(
    ("body", "label", "used"),
    [
        (b"\xef\xbb\xbf" + GERMAN.encode(), "latin1", "utf-8"),  # a BOM before everything
        (b"\xff\xfe" + GERMAN.encode("utf-16-le"), "utf-8", "utf-16le"),
        (GERMAN.encode("latin-1"), "ISO-8859-1", "windows-1252"),
        (b'<meta charset="utf-8">' + GERMAN.encode("latin-1"), "iso-8859-1", "windows-1252"),  # header before meta
        (b'<meta http-equiv=x content="text/html; charset=latin1">' + GERMAN.encode("latin-1"), "", "windows-1252"),
        (b'<?xml version="1.0" encoding="iso-8859-15"?>' + GERMAN.encode("latin-1"), "", "iso-8859-15"),
        (GERMAN.encode(), "", "utf-8"),
        (GERMAN.encode(), "no-such-thing", "utf-8"),
        (GERMAN.encode(), "euc-jp", "utf-8"),  # the label does not fit, UTF-8 does
        (GERMAN.encode("utf-16-le"), "", "utf-16le"),
        (GERMAN.encode("utf-16-be"), "utf-8", "utf-16be"),
        (b'<meta charset="utf-16">' + GERMAN.encode(), "", "utf-8"),
    ],
)
def test_f29_the_right_label_wins(body, label, used):
    text, charset = decode(body, label)
    assert charset == used
    assert text.endswith(GERMAN)


@pytest.mark.parametrize("label", ["", "gbk", "GB2312"])
def test_f29_gbk_is_read_with_and_without_a_label(label):
    assert CHINESE in decode(CHINESE.encode("gbk"), label)[0]


def test_f29_japanese_without_a_label_is_not_taken_for_ascii():
    assert "日本語" in decode("<p>日本語のページです".encode("iso-2022-jp"))[0]


def test_f29_an_escape_character_does_not_spoil_utf8():
    assert decode("<p>\x1b$ Größe".encode()) == ("<p>\x1b$ Größe", "utf-8")


def test_f29_a_cut_character_is_replaced():
    assert decode("<p>Gr\u00f6".encode()[:-1]) == ("<p>Gr\ufffd", "utf-8")
    assert decode("中".encode("gbk")[:1], "gbk")[0] == "\ufffd"
    assert decode(b"ab\xff\xffcd", "utf-8")[0] == "ab\ufffd\ufffdcd"


@pytest.mark.parametrize("label", ["utf-7", "rot13", "base64", "unicode_escape", "idna", "x" * 5000, "\udcff", "a\0b"])
def test_f29_labels_that_are_no_web_encoding_are_not_obeyed(label):
    assert decode(b"+ADw-a \\ud800", label) == ("+ADw-a \\ud800", "utf-8")


def test_header_charset():
    assert header_charset('text/html; Charset="GBK"; x=y') == "GBK"
    assert header_charset("text/html") == ""


def test_f29_nuls_and_surrogates_do_not_reach_the_page():
    page = html(b"<title>a\0b&#0;&#xD800;c</title><p>d\0e&#55296;f<a href='x\0y'>g\0h</a>")
    assert "\0" not in page.title + page.text + page.links[0].anchor + page.links[0].target.url
    assert page.title.encode()
    assert page.text.encode()
