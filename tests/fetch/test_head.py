import pytest

from analecta.fetch.message import final_block, parse_head
from analecta.urls import canonical

FORMS = ["HTTP/1.1 {} Some Reason\r\n", "HTTP/1.1 {}\r\n", "HTTP/1.1 {} \r\n", "HTTP/2 {} \r\n", "HTTP/3 {}\r\n"]


def lines(form: str, *statuses: int) -> list[bytes]:
    """Header lines as libcurl hands them over, one block for each status."""
    return [line for status in statuses for line in (form.format(status).encode(), b"x: y\r\n", b"\r\n")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", [200, 201, 301, 401, 404, 503])
def test_a_head_is_read_in_any_version_of_http(form: str, status: int) -> None:
    block = final_block(lines(form, status))
    assert block == lines(form, status)
    parsed = parse_head(block)
    assert parsed is not None
    assert (parsed[0], parsed[1][:12], parsed[2]) == (status, f"HTTP/1.1 {status}".encode(), {"x": "y"})


@pytest.mark.parametrize("form", FORMS)
def test_what_comes_before_the_answer_is_passed_over_in_any_version_of_http(form: str) -> None:
    assert final_block(lines(form, 100, 103, 201)) == lines(form, 201)
    assert final_block(lines(form, 103)) is None


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/pé".encode(), "http://h.test/p%C3%A9"),
        ("http://bücher.test/é?q=ü".encode(), "http://xn--bcher-kva.test/%C3%A9?q=%C3%BC"),
        ("/pé".encode("latin-1"), "http://h.test/p%E9"),
        (b"/p%C3%A9", "http://h.test/p%C3%A9"),
    ],
)
def test_a_redirect_leads_where_its_bytes_say(location: bytes, url: str) -> None:
    parsed = parse_head([b"HTTP/1.1 301 Moved\r\n", b"Location: " + location + b"\r\n", b"\r\n"])
    assert parsed is not None
    found = canonical(parsed[2]["location"], "http://h.test/")
    assert found is not None
    assert found.url == url
