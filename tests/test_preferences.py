import pytest

from analecta.preferences import of_headers, of_lines
from tests.effort import little_work


@pytest.mark.parametrize(
    ("headers", "reserved"),
    [
        ({}, ""),
        ({"content-type": "text/html"}, ""),
        ({"content-signal": "search=yes, ai-train=no"}, "ai-train=no"),
        ({"content-signal": "search=no,ai-input=no,ai-train=yes"}, ""),
        ({"content-usage": "train-ai=n"}, "train-ai=n"),
        ({"content-usage": "Train-AI=N;x=1, search=y, train-ai=n"}, "train-ai=n"),
        ({"content-usage": "train-ai=y"}, ""),
        ({"tdm-reservation": "1"}, "tdm-reservation=1"),
        ({"tdm-reservation": "0"}, ""),
        ({"tdm-reservation": "0, 1"}, "tdm-reservation=1"),
        ({"tdm-reservation": "10"}, ""),
        ({"tdm-reservation": "1, 1", "content-signal": "ai-train=no"}, "ai-train=no; tdm-reservation=1"),
        ({"content-usage": "====,;\x00=n"}, ""),
    ],
)
def test_f36_reservations_are_read_from_headers(headers: dict[str, str], reserved: str) -> None:
    assert of_headers(headers) == reserved


@pytest.mark.parametrize(
    ("line", "reserved"),
    [
        ("Content-Signal: search=yes,ai-train=no", "ai-train=no"),
        ("content-usage: train-ai=n", "train-ai=n"),
        ("Content-Usage: /pictures/ train-genai=n", "train-genai=n"),
        ("Content-Usage: /a?train-ai=y search=n", ""),
        ("Disallow: /ai-train=no", ""),
        ("", ""),
    ],
)
def test_f36_reservations_are_read_from_robots_lines(line: str, reserved: str) -> None:
    assert of_lines([line, "Allow: /"]) == reserved


@pytest.mark.parametrize(
    "value", ["a" * 500_000, "a-" * 250_000, "a" + " " * 500_000, "a=" + " " * 500_000, "a " * 250_000]
)
def test_f36_long_rubbish_is_read_in_no_time(value: str) -> None:
    with little_work():
        assert of_headers({"content-usage": value + ", train-ai=n"}) == "train-ai=n"
