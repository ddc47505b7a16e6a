import pytest

from analecta.search.index import apart, day_of, domains, language, stems, type_of, written


def test_b17_stems_leave_out_stop_words_and_words_as_written_do_not():
    assert stems("The running of the bees") == ["run", "bee"]
    assert written("The Running of the Bees") == ["the", "running", "of", "the", "bees"]


def test_characters_of_scripts_without_spaces_stand_alone():
    assert written("在北京 Café") == ["在", "北", "京", "cafe"]
    assert apart("plain text") == "plain text"


@pytest.mark.parametrize(
    ("date", "day"),
    [("2020", 20200101), ("2020-05", 20200501), ("2020-05-31", 20200531), ("", 0), ("May", 0), ("1-2-3-4", 0)],
)
def test_dates_are_numbers_of_their_first_day(date, day):
    assert day_of(date) == day


def test_hosts_languages_and_types_have_short_names():
    assert domains("a.b.org") == ("a.b.org", "b.org", "org")
    assert domains("a.org:8080") == ("a.org:8080", "a.org", "org")
    assert (language("en-GB"), language("pt_BR"), language("")) == ("en", "pt", "")
    assert [type_of(mime) for mime in ("text/html", "application/pdf", "image/x-odd", "")] == [
        "html",
        "pdf",
        "x-odd",
        "",
    ]
