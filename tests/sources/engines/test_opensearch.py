import pytest

from analecta.sources.engines.engine import BadAnswer, EngineHit
from analecta.sources.engines.opensearch import describe, read, request
from tests.sources.engines import samples

DOCUMENT = "https://x.test/opensearch.xml"


def url(template: str, page: int = 2, kind: str = "application/atom+xml", more: str = "") -> str:
    return describe(samples.description(template, kind, more), DOCUMENT)("b&amp;es", 20, page, "", DOCUMENT).url


@pytest.mark.parametrize("feed", [samples.ATOM, samples.RSS, samples.RDF])
def test_hits_are_read_from_all_three_kinds_of_feeds(feed: bytes) -> None:
    assert read(feed) == [EngineHit(*page) for page in samples.PAGES]


def test_elements_of_other_namespaces_only_look_the_same() -> None:
    item = b"<m:title>No</m:title><m:link>https://no.test/</m:link><title>Yes</title><link>https://yes.test/</link>"
    assert read(b'<rss xmlns:m="m:"><channel><item>' + item + b"</item></channel></rss>") == [
        EngineHit("https://yes.test/", "Yes")
    ]


def test_a_template_s_parameters_are_replaced() -> None:
    full = "https://x.test/{searchTerms}?n={count}&amp;i={startIndex?}&amp;p={startPage?}&amp;l={language}&amp;g={geo:box?}"
    assert url(full) == "https://x.test/b%26amp%3Bes?n=20&i=21&p=2&l=*&g="


def test_a_site_may_count_from_nought() -> None:
    numbers = "https://x.test/?q={searchTerms}&amp;i={startIndex}&amp;p={startPage}"
    assert url(numbers, 1, more='indexOffset="0" pageOffset="0"').endswith("&i=0&p=0")
    assert url(numbers, 2, more='indexOffset="0" pageOffset="0"').endswith("&i=20&p=1")


def test_a_template_that_is_only_a_path_is_on_the_same_host() -> None:
    assert (
        url("/find?q={searchTerms}", kind="application/rss+xml; charset=utf-8") == "https://x.test/find?q=b%26amp%3Bes"
    )


def test_a_url_may_be_a_template_itself() -> None:
    assert request("two words", 7, 1, "", "https://x.test/?q={searchTerms}").url == "https://x.test/?q=two%20words"


@pytest.mark.parametrize(
    ("template", "kind", "more", "said"),
    [
        ("https://x.test/?q={searchTerms}", "text/html", "", "neither as Atom nor as RSS but as text/html"),
        ("https://x.test/?q={searchTerms}", "application/atom+xml", 'rel="suggestions"', "neither as Atom nor as RSS"),
        ("https://x.test/?q={searchTerms}&amp;k={x:key}", "application/atom+xml", "", "wants '{x:key}'"),
        ("https://x.test/", "application/atom+xml", "", "no place for the words"),
        ("https://x.test/?q={searchTerms}", "application/atom+xml", 'indexOffset="x"', "no number"),
    ],
)
def test_what_cannot_be_asked_is_said(template: str, kind: str, more: str, said: str) -> None:
    with pytest.raises(BadAnswer, match=said):
        url(template, kind=kind, more=more)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"<html/>", b"<rss><item>", b'<?xml version="1.0" encoding="x-no"?><rss/>']
)
def test_anything_but_a_feed_is_an_error(body: bytes) -> None:
    with pytest.raises(BadAnswer, match="opensearch: "):
        read(body)
    with pytest.raises(BadAnswer, match="opensearch: "):
        describe(body, DOCUMENT)


def test_f31_a_doctype_is_refused_and_nothing_is_expanded() -> None:
    lol = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    with pytest.raises(BadAnswer, match="DOCTYPE"):
        read(f'<!DOCTYPE rss [<!ENTITY l0 "lol">{lol}]><rss><item><title>&l9;</title></item></rss>'.encode())


def test_f31_deep_xml_is_read_without_recursion() -> None:
    assert read(b"<rss>" + b"<a>" * 200_000 + b"</a>" * 200_000 + b"</rss>") == []
