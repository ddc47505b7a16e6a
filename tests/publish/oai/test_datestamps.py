from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.publish.oai.tokens import Clock, first_moment, last_moment, same_form
from analecta.text.display import rfc3339
from tests.publish.oai.growing import Now


@given(st.integers(0, 250_000_000_000))
def test_what_is_written_is_read_back(stamp):
    assert first_moment(rfc3339(stamp)) == last_moment(rfc3339(stamp)) == stamp


@given(st.dates(datetime(1, 1, 1).date()))
def test_a_day_goes_from_its_first_second_to_its_last(day):
    first, last = first_moment(day.isoformat()), last_moment(day.isoformat())
    assert last - first == 86_399
    assert datetime.fromtimestamp(first, UTC).date() == day


@pytest.mark.parametrize(
    "text", ["", "junk", "2024", "2024-13-01", "2023-02-29", "2024-01-01T00:00Z", "2024-01-01T00:00:00", "٢٠٢٤-01-01",
             "2024-01-01T24:00:00Z", "2024-01-01T00:00:00.5Z", "2024-01-01T00:00:00+00:00", " 2024-01-01", "0000-01-01"]
)  # fmt: skip
def test_what_is_no_date_of_the_protocol_is_none(text):
    assert first_moment(text) is None


def test_days_and_seconds_are_two_forms():
    assert same_form("2024-01-01", "2024-01-02")
    assert not same_form("2024-01-01", "2024-01-02T00:00:00Z")


def test_f07_the_clock_never_goes_back():
    now = Now(1000.9)
    clock = Clock(now, last=900)
    assert clock.date() == 1000
    now.at = 10.0
    assert clock.date() == 1000


def test_f46_an_answer_during_a_write_bears_the_stamp_of_the_write():
    now = Now(1000.0)
    clock = Clock(now)
    with clock.stamping() as stamp:
        now.at = 1005.0
        assert clock.date() == stamp == 1000
    assert clock.date() == 1005
