import pytest

from analecta.parse.dates import date_of


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2020-02-29", "2020-02-29"),
        ("2020-02-31", "2020-02"),
        ("2021/02/29", "2021-02"),
        ("D:20210431120000", "2021-04"),
        ("2020-13", "2020"),
        ("1970-01-01", ""),
    ],
)
def test_a_day_that_no_month_has_is_left_out(text, date):
    assert date_of(text) == date
