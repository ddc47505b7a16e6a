import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.errors import UsageError
from analecta.urls import canonical
from analecta.views.collections import Collection, CollectionItem, collections
from analecta.views.precision import Precision, check_topics, precision_curve, precisions, read_judged, settled
from tests.views.test_ranking import PLAIN, PageRow


def collection(count, topic="Bees"):
    items = [PageRow(**PLAIN | {"id": n, "url": f"http://h.test/{n}", "host": "h.test"}) for n in range(1, count + 1)]
    return Collection(0, topic, count, [CollectionItem(item, 0.5, rank=item.id) for item in items])


def read(tmp_path, text):
    (tmp_path / "judged.txt").write_text(text, encoding="utf-8")
    return read_judged(tmp_path / "judged.txt")


def id_of(url):
    return canonical(url).id


def test_s17_yes_and_no_in_tabs_or_commas_with_or_without_names(tmp_path):
    one, two = id_of("http://h.test/1"), id_of("http://h.test/2,3")
    assert read(tmp_path, "http://h.test/1\tyes\nhttp://h.test/2,3\tNo\n") == {one: True, two: False}
    assert read(tmp_path, "\ufeffurl,judgement\nhttp://h.test/1,1\nhttp://h.test/2,3,0\n") == {one: True, two: False}
    assert read(tmp_path, '# mine\n\n"http://h.test/2,3",n\n') == {two: False}


def test_s17_topics_add_up_and_none_is_none(tmp_path):
    judged = read(tmp_path, "http://h.test/1\tBees|Baking\nhttp://H.test:80/1\t moon \nhttp://h.test/2\t\n")
    assert judged == {id_of("http://h.test/1"): {"bees", "baking", "moon"}, id_of("http://h.test/2"): frozenset()}


@pytest.mark.parametrize("text", ["", "url\tyes\n", "http://h.test/1\tyes\nnonsense\tno\n", "u\nhttp://h.test/1\n"])
def test_s17_a_file_without_judgements_is_told(tmp_path, text):
    with pytest.raises(UsageError, match="URL TAB yes"):
        read(tmp_path, text)


def test_s17_a_file_that_is_not_there_or_no_text_is_told(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("bytes", "none"):
        with pytest.raises(UsageError, match="cannot be read"):
            read_judged(tmp_path / name)


def test_s17_precision_is_of_those_that_were_judged():
    judged = {1: True, 2: False, 4: True, 6: True, 99: True}
    assert precisions(collection(10), judged) == [Precision(5, 3, 2), Precision(10, 4, 3)]
    assert [p.share for p in precisions(collection(10), judged)] == [2 / 3, 0.75]
    assert precisions(collection(3), judged) == [Precision(3, 2, 1)]
    assert precisions(collection(0), judged) == []


def test_s17_a_page_is_good_where_its_topics_have_the_one_of_the_collection():
    judged = {1: frozenset({"big bees"}), 2: frozenset({"moon"}), 3: frozenset()}
    assert precision_curve(collection(3, "Big  Bees"), judged)[-1] == Precision(3, 3, 1)


@given(st.dictionaries(st.integers(1, 30), st.booleans()))
def test_s17_the_curve_counts_what_is_good_so_far(judged):
    for found in precision_curve(collection(25), judged):
        said = [judged[n] for n in range(1, found.at + 1) if n in judged]
        assert (found.judged, found.good) == (len(said), sum(said))
        assert found.share is None or 0 <= found.share <= 1


def test_s17_an_address_that_led_elsewhere_judges_the_page_it_led_to(grown):
    with grown.shards() as shards:
        moves = [row for shard in shards for row in shard.execute("SELECT id, elsewhere FROM urls WHERE elsewhere")]
    ends = {ranked.item.id for one in collections(grown, most=1000, examples=True) for ranked in one.items}
    moved, end = next(move for move in moves if move[1] in ends)
    assert settled(grown, {moved: True}) == {end: True}


def test_s17_judgements_about_other_topics_are_told():
    with pytest.raises(UsageError, match="about 'moon', the library about 'bees'"):
        check_topics({1: frozenset({"moon"})}, ["Bees"])
    check_topics({1: frozenset({"moon"}), 2: frozenset({"bees"})}, ["Bees"])
    check_topics({1: True}, ["Bees"])


def test_s17_an_address_may_stand_without_its_scheme(tmp_path):
    assert read(tmp_path, "honey.test/n1\tyes\nhoney.test\tno\n") == {
        id_of("https://honey.test/n1"): True,
        id_of("https://honey.test/"): False,
    }
