import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.store.warc import surt_key
from analecta.urls import canonical

URLS = st.text(st.sampled_from("abZ/.%20?&=+;:ä~#()[]'\"<>"), max_size=30).map(
    lambda end: canonical(f"http://h.test/{end}")
)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/", "org,example)/"),
        ("https://www.Example.org/A/B/?Q=1", "org,example)/a/b?q=1"),
        ("http://www2.example.org:8080/a", "org,example:8080)/a"),
        ("https://example.org:443/a//b/", "org,example)/a/b"),
        ("http://192.0.2.7/x", "7,2,0,192)/x"),
        ("http://[2001:db8::1]:81/x", "2001:db8::1:81)/x"),
        ("http://h.test/%7Ea%2520b?z&a=2&a=1", "test,h)/~a%20b?a=1&a=2&z"),
        ("http://h.test/?x=1&PHPSESSID=0123456789abcdef0123456789abcdef&y", "test,h)/?x=1&y"),
        ("http://h.test/(s(abcdefghijklmnopqrstuvwx))/a.aspx", "test,h)/a.aspx"),
        ("http://h.test/?", "test,h)/"),
    ],
)
def test_keys_are_those_of_other_tools(url, key):
    assert surt_key(url) == key


@given(URLS)
def test_a_key_is_one_word_of_ascii(target):
    key = surt_key(target.url)
    assert key.isascii(), key
    assert key.isprintable()
    assert " " not in key


@given(URLS)
def test_scheme_www_and_letter_case_do_not_count(target):
    end = target.url.removeprefix("http://h.test")
    assert surt_key(f"https://www.h.test{end}") == surt_key(target.url)
    assert surt_key(target.url.upper().replace("HTTP://H.TEST", "http://h.test")) == surt_key(target.url)
