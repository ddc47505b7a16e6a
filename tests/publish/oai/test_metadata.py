from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.publish.oai.answers import ABOUT, in_xml, oai_dc
from analecta.store.rows import PageRow
from analecta.text.display import one_line

ITEM = PageRow(
    1, "http://h.test/a", "h.test", "A title", 0, 0.9, ((0, 0.9),), "text/html", "en", "Ann", "2024-05", 9, 99, 1.0,
    "sha1:ABC", False, "", "f", 0, 0, 0, "", "", False, 0, 1,
)  # fmt: skip
anything = st.text(st.characters(exclude_categories=()))  # lone surrogates and controls too
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img onerror=x>',
    "</title>",
    "{{7*7}}",
    "]]>",
    "<!--",
    "&#0;&amp;",
    "\x00\x1b[2J",
]


def values(xml: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for element in ElementTree.fromstring(xml):
        found.setdefault(element.tag.rpartition("}")[2], []).append(element.text)
    return found


def test_a_record_tells_what_is_known_of_a_page():
    found = values(oai_dc(ITEM, ["Science / Biology", "Roses"], "First. Second."))
    assert found["subject"] == ["Science / Biology", "Roses"]
    assert found["identifier"] + found["source"] == ["http://h.test/a", "urn:sha1:ABC"]
    assert found["creator"] + found["date"] + found["language"] == ["Ann", "2024-05", "en"]
    assert "rights" not in found


def test_f36_what_an_owner_reserves_is_told_as_rights():
    item = msgspec.structs.replace(ITEM, reserved="ai-train=no")
    assert values(oai_dc(item, [], ""))["rights"] == ["Reserved by its owner: ai-train=no"]


@pytest.mark.parametrize("title", ["", "\u200b"])
def test_a_page_without_title_is_called_by_its_address(title):
    assert values(oai_dc(msgspec.structs.replace(ITEM, title=title), [], ""))["title"] == ["http://h.test/a"]


@pytest.mark.parametrize("title", HOSTILE)
def test_f37_hostile_titles_are_text(title):
    found = values(oai_dc(msgspec.structs.replace(ITEM, title=title, author=title), [title], title))
    assert found["title"] == found["creator"] == found["subject"] == [title.replace("\x00\x1b", "")]


def test_f37_only_web_addresses_identify():
    assert "identifier" not in values(oai_dc(msgspec.structs.replace(ITEM, url="javascript:alert(1)"), [], ""))


@given(anything, anything)
def test_f29_every_text_gives_well_formed_xml(title, text):
    xml = oai_dc(msgspec.structs.replace(ITEM, title=title, lang=text), [title], text)
    assert values(xml.encode().decode())["format"] == ["text/html"]
    assert ElementTree.fromstring(f'<a b="{in_xml(text)}"/>').get("b") == one_line(text)


def test_a_description_ends_with_a_sentence():
    text = (
        "A title\nThe first\nsentence\n, which is long enough to say something, has a link. "
        + "More is said here. " * 30
    )
    found = values(oai_dc(ITEM, [], text))["description"][0]
    assert found.startswith("The first sentence, which is long enough to say something, has a link. More")
    assert found.endswith("here.")


@given(anything)
def test_a_description_is_short(text):
    assert len(values(oai_dc(ITEM, [], text)).get("description", [""])[0]) <= ABOUT
