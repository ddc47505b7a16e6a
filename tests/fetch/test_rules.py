import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.fetch.robots import MAX_SIZE, Rules, decoded, ours, read_rules

SITE = "http://a.test"


def rules(text: str, token: str = "Analecta") -> Rules:
    return read_rules(text, token)


def verdicts(text: str, *paths: str) -> list[bool]:
    return [rules(text).allowed(SITE + path) for path in paths]


def test_an_empty_file_allows_everything() -> None:
    assert verdicts("", "/", "/x", "/robots.txt") == [True, True, True]


def test_groups_that_name_us_are_merged_and_beat_those_for_everyone() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: ANALECTA/2.0\nDisallow: /a\n\nUser-agent: analecta\nDisallow: /b"
    assert verdicts(text, "/a", "/b", "/c") == [False, False, True]


def test_only_the_whole_product_token_is_our_name() -> None:
    text = "User-agent: ana\nDisallow: /\n\nUser-agent: analecta-news\nDisallow: /\n\nUser-agent: *\nDisallow: /x"
    assert verdicts(text, "/", "/x") == [True, False]


def test_a_group_for_us_without_a_rule_allows_what_others_may_not() -> None:
    assert verdicts("User-agent: *\nDisallow: /\n\nUser-agent: Analecta\nDisallow:\n", "/x") == [True]


def test_the_longest_match_wins_and_a_tie_allows() -> None:
    text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /tie\nAllow: /tie\nDisallow: /*.pdf$"
    assert verdicts(text, "/a/x", "/a/b/c", "/tie", "/f.pdf", "/f.pdf?x") == [False, True, True, False, True]


def test_escaped_and_plain_paths_are_the_same() -> None:
    text = "User-agent: *\nDisallow: /caf%C3%A9\nDisallow: /tilde/%7Eme"
    assert verdicts(text, "/caf%c3%a9/x", "/tilde/~me") == [False, False]


def test_robots_txt_itself_is_always_allowed() -> None:
    assert verdicts("User-agent: *\nDisallow: /", "/robots.txt", "/robots.txt2") == [True, False]
    assert Rules(cause="dns").allowed("http://a.test/robots.txt")
    assert not Rules(cause="dns").allowed("http://a.test/dir/robots.txt")


def test_rules_before_the_first_group_are_nobodys() -> None:
    assert verdicts("Disallow: /\nCrawl-delay: 9\nUser-agent: *\nDisallow: /x", "/", "/x") == [True, False]
    assert rules("Crawl-delay: 9\nUser-agent: *\nDisallow: /x").delay is None


@pytest.mark.parametrize("between", ["Crawl-delay: 5", "Sitemap: http://a.test/s.xml", "Foo: bar", "# words", ""])
def test_f19_other_lines_do_not_end_the_names_of_a_group(between: str) -> None:
    text = f"User-agent: Analecta\n{between}\nUser-agent: other\nDisallow: /x"
    assert verdicts(text, "/x", "/y") == [False, True]


@pytest.mark.parametrize(
    ("value", "delay", "aside"),
    [
        ("0.1", 0.1, False),
        ("30", 30.0, False),
        ("31", 30.0, True),
        ("1e9", 30.0, True),
        ("nan", None, False),
        ("inf", None, False),
        ("-5", None, False),
        ("soon", None, False),
        ("10s", 10.0, False),
        ("1,5", 1.5, False),
        (".5 # seconds", 0.5, False),
        ("60 s", 30.0, True),
    ],
)
def test_f21_crawl_delays_are_kept_within_bounds(value: str, delay: float | None, aside: bool) -> None:
    found = rules(f"User-agent: *\nCrawl-delay: {value}\nDisallow: /x")
    assert (found.delay, found.set_aside) == (delay, aside)


def test_sitemaps_are_found_in_any_group() -> None:
    text = "Sitemap: http://a.test/1\nUser-agent: other\nDisallow: /\nsitemap: http://a.test/2"
    assert rules(text).sitemaps == ("http://a.test/1", "http://a.test/2")


def test_f36_what_is_reserved_is_read_from_our_group() -> None:
    text = (
        "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n\nUser-agent: x\nContent-Usage: train-ai=n"
    )
    assert rules(text).reserved == "ai-train=no"
    assert rules("Content-Usage: train-ai=n\nUser-agent: *\nAllow: /").reserved == "train-ai=n"


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /x",
        b"User-agent: *\rDisallow: /x\r",
        b"User-agent: *\r\nDisallow: /x # caf\xe9",
        "User-agent: *\nDisallow: /x".encode("utf-16"),
        "\ufeffUser-agent: *\nDisallow: /x".encode("utf-16-be"),
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /x\n# caf\xe9",
        b"useragent: *\ndissallow: /x",
    ],
)
def test_f19_any_encoding_and_line_end_is_read(body: bytes) -> None:
    assert verdicts(decoded(body), "/x", "/y") == [False, True]


@pytest.mark.parametrize("body", [b"<!DOCTYPE html><html><body>Disallow: /</body>", bytes(range(256)) * 20, b"\0" * 99])
def test_f19_html_and_garbage_forbid_nothing(body: bytes) -> None:
    assert verdicts(decoded(body), "/", "/x") == [True, True]


def test_f19_the_first_500_kib_count_and_the_last_line_is_whole() -> None:
    early = b"User-agent: *\nDisallow: /early\n"
    body = early + b"#" * (MAX_SIZE - len(early) - 20) + b"\nDisallow: /cut/here/no\nDisallow: /late\n" + b"#" * 100_000
    assert verdicts(decoded(body), "/early", "/cut/here/yes", "/late") == [False, True, True]
    body = early + b"#" * (MAX_SIZE - len(early) - 40) + b"\nDisallow: /in\n" + b"#" * 100
    assert verdicts(decoded(body), "/in") == [False]


LINES = st.sampled_from(
    [
        "User-agent: *",
        "User-agent: Analecta",
        "User-agent: b",
        "Disallow: /",
        "Allow: /x",
        "Crawl-delay: 1",
        "Foo: 1",
        "",
    ]
)


@given(st.lists(LINES, max_size=12))
def test_lines_for_everyone_are_ours_only_when_no_group_names_us(lines: list[str]) -> None:
    text = "\n".join(lines)
    if "User-agent: Analecta" not in lines:
        assert ours(text, "analecta") == ours(text.replace("User-agent: b", "User-agent: c"), "analecta")
    elif "User-agent: *" not in lines:
        assert ours(text, "analecta") == ours(text.replace("Analecta", "*"), "analecta")


@given(st.binary(max_size=400))
def test_f19_any_bytes_make_rules(body: bytes) -> None:
    found = rules(decoded(body))
    assert found.allowed("http://a.test/robots.txt")
    assert found.delay is None or 0 <= found.delay <= 30
