import pytest

from analecta.parse.directives import date_of


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2020-02-29", "2020-02-29"),
        ("2020-02-31", "2020-02"),
        ("2021/02/29", "2021-02"),
        ("D:20210431120000", "2021-04"),
        ("2020-13", "2020"),
        ("1970-01-01", ""),
        ("2010/5/12", "2010-05-12"),
        ("2004-10-5T10:00", "2004-10-05"),
        ("2012-12-2013", "2012-12"),
        ("2012-2013", "2012"),
        ("20121231T10", "2012-12-31"),
    ],
)
def test_a_date_has_only_parts_that_are_one(text, date):
    assert date_of(text) == date
