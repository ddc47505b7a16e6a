from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from analecta.publish.oai.protocol import VERBS
from analecta.store import oai_records
from tests.publish.oai.growing import DC, NS, change, code, date, deleted, given, token
from tests.publish.oai.schema import broken

ONE = "oai:r.test:0000000000000001"
NAMES = ["verb", "identifier", "metadataPrefix", "from", "until", "set", "resumptionToken", "odd"]
VALUES = [
    "oai_dc",
    "marc",
    ONE,
    "oai:r.test:x",
    "2023-11-14",
    "2023-11-14T22:13:20Z",
    "2030-01-01",
    "a",
    "a:b",
    "c",
    "",
    '"<é\0',
]


def ask(few, query: str) -> ElementTree.Element:
    pairs = [tuple(part.split("=", 1)) for part in query.split("&") if part]
    return ElementTree.fromstring(few.repository.answer(few.reader, pairs))


@pytest.fixture
def three(few):
    few.put(change(1), change(2, sets=("a",)), change(3))
    return few


BAD = {
    "": "badVerb",
    "verb=": "badVerb",
    "verb=identify": "badVerb",
    "verb=Identify&verb=Identify": "badVerb",
    "verb=Identify&metadataPrefix=oai_dc": "badArgument",
    "verb=ListSets&set=a": "badArgument",
    "verb=ListSets&resumptionToken=junk": "badResumptionToken",
    "verb=GetRecord": "badArgument",
    "verb=GetRecord&metadataPrefix=oai_dc": "badArgument",
    f"verb=GetRecord&identifier={ONE}": "badArgument",
    f"verb=GetRecord&identifier={ONE}&identifier={ONE}&metadataPrefix=oai_dc": "badArgument",
    f"verb=GetRecord&identifier={ONE}&metadataPrefix=marc": "cannotDisseminateFormat",
    f"verb=GetRecord&identifier={ONE}&metadataPrefix=": "cannotDisseminateFormat",
    "verb=GetRecord&identifier=oai:r.test:0000000000000009&metadataPrefix=oai_dc": "idDoesNotExist",
    "verb=GetRecord&identifier=oai:other:0000000000000001&metadataPrefix=oai_dc": "idDoesNotExist",
    'verb=GetRecord&identifier=invalid"id&metadataPrefix=oai_dc': "idDoesNotExist",
    "verb=ListMetadataFormats&identifier=nobody": "idDoesNotExist",
    "verb=ListRecords": "badArgument",
    "verb=ListRecords&metadataPrefix=marc": "cannotDisseminateFormat",
    "verb=ListRecords&metadataPrefix=oai_dc&from=junk": "badArgument",
    "verb=ListRecords&metadataPrefix=oai_dc&until=2023-02-30": "badArgument",
    "verb=ListRecords&metadataPrefix=oai_dc&from=2023-01-01&until=2024-01-01T00:00:00Z": "badArgument",
    "verb=ListRecords&metadataPrefix=oai_dc&from=2024-01-01&until=2023-01-01": "badArgument",
    "verb=ListRecords&metadataPrefix=oai_dc&until=2001-01-01": "noRecordsMatch",
    "verb=ListRecords&metadataPrefix=oai_dc&from=2100-01-01": "noRecordsMatch",
    "verb=ListRecords&metadataPrefix=oai_dc&set=nobody": "noRecordsMatch",
    "verb=ListRecords&metadataPrefix=oai_dc&set=a::b": "badArgument",
    "verb=ListRecords&metadataPrefix=oai_dc&set=": "badArgument",
    "verb=ListIdentifiers&resumptionToken=junk": "badResumptionToken",
    "verb=ListIdentifiers&resumptionToken=": "badResumptionToken",
    "verb=ListIdentifiers&resumptionToken=junk&metadataPrefix=oai_dc": "badArgument",
}


@pytest.mark.parametrize(("query", "wanted"), BAD.items())
def test_what_is_wrong_with_a_request_is_told(three, query, wanted):
    answer = ask(three, query)
    assert code(answer) == wanted
    assert broken(answer) == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_an_answer_after_the_schema(three, verb):
    needed = {"GetRecord": {"identifier": ONE, **DC}, "ListIdentifiers": DC, "ListRecords": DC}.get(verb, {})
    answer = three.ask(verb, **needed)
    assert answer.find(f"{NS}{verb}") is not None
    assert answer.find(f"{NS}request").attrib == {"verb": verb, **needed}
    assert broken(answer) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@drawn(st.lists(st.tuples(st.sampled_from(NAMES) | st.text(), st.sampled_from([*VERBS, *VALUES]) | st.text())))
def test_f37_whatever_is_asked_the_answer_keeps_to_the_schema(three, pairs):
    assert broken(ElementTree.fromstring(three.repository.answer(three.reader, pairs))) == []


def test_a_deleted_record_has_a_header_and_no_formats(three):
    three.put(deleted(1))
    answer = three.ask("GetRecord", identifier=ONE, **DC)
    assert given(answer)[ONE][:2] == ("", True)
    assert answer.findtext(f".//{NS}header/{NS}setSpec") == "a:b"
    assert code(three.ask("ListMetadataFormats", identifier=ONE)) == "noMetadataFormats"


def test_without_topics_there_are_no_sets(few):
    few.db.execute("DELETE FROM sets")
    assert code(few.ask("ListSets")) == "noSetHierarchy"
    assert code(few.ask("ListRecords", set="a", **DC)) == "noSetHierarchy"


def test_a_set_has_all_that_lies_in_it(three):
    assert set(given(three.ask("ListRecords", set="a:b", **DC))) == {ONE, "oai:r.test:0000000000000003"}
    first = three.ask("ListRecords", set="a", **DC)
    assert len(given(first) | given(three.ask("ListRecords", resumptionToken=token(first)))) == 3


def test_from_and_until_take_in_both_ends(few):
    for id in (1, 2, 3):
        few.put(change(id))
        few.now.at += 10
    second = "2023-11-14T22:13:30Z"
    assert set(given(few.ask("ListRecords", from_=second, until=second, **DC))) == {"oai:r.test:0000000000000002"}
    assert len(given(few.ask("ListRecords", from_=second, **DC))) == 2
    assert len(given(few.ask("ListRecords", until="2023-11-14", **DC))) == 2  # and a token: the day has all three


def test_a_list_in_one_answer_has_no_token_and_the_last_page_of_a_longer_one_an_empty_one(three):
    assert three.ask("ListRecords", set="a:b", **DC).find(f".//{NS}resumptionToken") is None
    first = three.ask("ListRecords", **DC).find(f".//{NS}resumptionToken")
    last = three.ask("ListRecords", resumptionToken=first.text).find(f".//{NS}resumptionToken")
    assert (first.get("cursor"), first.get("completeListSize")) == ("0", "3")
    assert (last.text, last.get("cursor"), last.get("completeListSize")) == (None, "2", "3")


def test_f46_a_token_works_again_and_for_a_day_and_for_its_own_verb_only(three):
    text = token(three.ask("ListRecords", **DC))
    assert given(three.ask("ListRecords", resumptionToken=text)) == given(
        three.ask("ListRecords", resumptionToken=text)
    )
    assert code(three.ask("ListIdentifiers", resumptionToken=text)) == "badResumptionToken"
    three.now.at += 24 * 60 * 60 + 1
    assert code(three.ask("ListRecords", resumptionToken=text)) == "badResumptionToken"


def test_f46_a_list_of_which_the_rest_left_the_set_ends_with_its_last_record_again(three):
    first = three.ask("ListRecords", set="a", **DC)
    three.put(change(3, sets=()))
    last = three.ask("ListRecords", resumptionToken=token(first))
    assert set(given(last)) == {"oai:r.test:0000000000000002"}
    assert broken(last) == []


def test_no_record_is_earlier_than_the_earliest_datestamp(three):
    earliest = three.ask("Identify").findtext(f".//{NS}earliestDatestamp")
    assert earliest <= min(one.text for one in three.ask("ListIdentifiers", **DC).iter(f"{NS}datestamp"))
    assert date(three.ask("Identify")) >= earliest


def test_one_answer_sees_one_moment(three):
    assert not three.reader.in_transaction
    three.ask("ListRecords", **DC)
    assert not three.reader.in_transaction
    assert oai_records.last_number(three.reader) == 3
