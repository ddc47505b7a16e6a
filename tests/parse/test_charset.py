import pytest

from analecta.parse.charset import decode, header_charset, query_in

from .pages import html, urls

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


@pytest.mark.parametrize(
    "before",
    [
        "<!-- <meta charset=iso-8859-1> -->",
        "<script>s = '<meta charset=koi8-r>'</script>",
        "<style>/* <meta charset=koi8-r> */</style>",
        "<meta name=description content='set charset=iso-8859-1 now'>",
        "<meta name=x data-charset=iso-8859-1>",
        "<meta charset=no-such-thing>",
    ],
)
def test_f29_only_a_meta_that_says_it_of_the_page_is_a_label(before):
    assert decode((before + "<meta charset=utf-8>" + GERMAN).encode())[1] == "utf-8"
    assert decode((before + "<META CHARSET='latin1'>" + GERMAN).encode("latin-1"))[1] == "windows-1252"


def test_f29_a_content_type_of_the_page_is_a_label():
    metas = (
        'http-equiv=Content-Type content="text/html; charset=koi8-r"',
        'content="x; charset=koi8-r" http-equiv=content-type',
    )
    for meta in metas:
        assert decode(f"<!--><meta {meta}><p>мир".encode("koi8-r")) == (f"<!--><meta {meta}><p>мир", "koi8-r")


def test_f29_a_label_without_quotes_may_be_followed_by_the_slash_of_its_tag():
    assert decode("<meta charset=koi8-r/>мир".encode("koi8-r"))[0].endswith("мир")


def test_f29_user_defined_in_a_page_is_windows_1252():
    assert decode(b"<meta charset=x-user-defined>caf\xe9")[0].endswith("café")


def test_f27_a_query_is_in_the_encoding_of_the_page():
    anchors = "<meta charset=windows-1251><a href='/s?q=мир'>x</a><a href='/мир'>y</a>"
    assert urls(html(anchors.encode("cp1251"))) == [
        "http://example.com/s?q=%EC%E8%F0",
        "http://example.com/%D0%BC%D0%B8%D1%80",
    ]
    assert urls(html("<a href='/s?q=мир'>x</a>")) == ["http://example.com/s?q=%D0%BC%D0%B8%D1%80"]
    assert query_in("windows-1251", "/s?q=日") == "/s?q=%26%2326085%3B"
    assert query_in("x-user-defined", "/s?q=日") == "/s?q=日"
