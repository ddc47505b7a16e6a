"""F60: regular expressions that would run for ever, in settings, robots.txt and pages."""

import pytest

from analecta.errors import SettingsError
from analecta.fetch.robots import read_rules
from analecta.frontier.policy import Policy, Scope, best_first
from analecta.parse.documents.document import field_link
from analecta.parse.sniff import sniff_type
from analecta.settings.load import parse
from analecta.settings.schema import SiteSettings
from analecta.sources.engines.engine import plain
from analecta.sources.papers.citation import _JOURNAL, take_names
from analecta.store.site_rules import Sites
from analecta.text.patterns import Patterns, pattern_fault
from analecta.urls import canonical

ENDLESS = [
    r"(a+)+$",
    r"a(a|a)*$",
    r"(a|aa)+$",
    r"(.*a){25}$",
    r"aa*a*a*a*a*a*a*a*a*a*$",
]  # for "aaa...ab", with backtracking


@pytest.mark.parametrize("pattern", ENDLESS)
def test_f60_an_expression_of_the_settings_takes_linear_time(pattern):
    url = f"http://h.test/{'a' * 900}b"
    assert Scope(exclude=[pattern]).refusal(canonical(url), 0) == ""
    assert not Policy(best_first, never=[pattern]).never.found_in("a" * 100_000 + "b")
    assert Policy(best_first, never=[pattern]).never.found_in("b" + "a" * 30)


REFUSED = {
    r"/(?!news)": "look-around",
    r"(?<=x)y": "look-around",
    r"/(\w+)/\1/": "references to a group",
    r"end\Z": "write $",
    r"a++": "leave out the second +",
    r"(?x) a b": "the flag x",
    r"\u00e4": "write the character itself",
    r"a{5000}": "1000 at most",
    r"a{,3}": "write {0,3}",
    r"\bübersicht": "ASCII letters alone",
    r"[": "syntax of RE2",
}


@pytest.mark.parametrize(("pattern", "hint"), REFUSED.items())
@pytest.mark.parametrize("key", ["scope.exclude", "policy.never"])
def test_f60_what_cannot_be_used_is_named_with_its_key_and_what_to_do(key, pattern, hint):
    table, name = key.split(".")
    with pytest.raises(SettingsError) as error:
        parse(f"[{table}]\n{name} = ['x', '{pattern}']", "lib.toml")
    assert f"lib.toml, line 2: bad value for '{key}': {pattern!r} is" in str(error.value)
    assert hint in str(error.value)


def test_f60_too_many_large_expressions_are_named():
    many = ", ".join(f"'x{{0,900}}y{{0,900}}{n}'" for n in range(300))
    with pytest.raises(SettingsError, match=r"'scope\.exclude': these regular expressions are too large together"):
        parse(f"[scope]\nexclude = [{many}]", "lib.toml")


def test_expressions_mean_what_they_meant():
    several = Patterns([r"^next$", r"(?i)log ?in", r"\d{3}", "größe", r"(?P<name>q+)z"])
    texts = ["next", "next page", "Log In", "a 123", "Die größe", "Größe", "qqz", "\ud800", ""]
    assert [text for text in texts if several.found_in(text)] == ["next", "Log In", "a 123", "Die größe", "qqz"]
    assert Patterns(["(?i)größe"]).found_in("GRÖSSE") is False
    assert Patterns(["(?i)größe"]).found_in("GRÖßE")
    assert not Patterns([]) and not Patterns([]).found_in("x")  # noqa: PT018
    assert pattern_fault(r"\.pdf$") == ""


def test_f60_a_prefix_with_many_stars_takes_linear_time():
    sites = Sites(SiteSettings(by="prefix", prefixes=("/" + "*a" * 20 + "*/", "/~*/")))
    assert sites.unit(f"http://h.test/{'a' * 900}?", "h.test") == f"h.test/{'a' * 900}/"
    assert sites.unit(f"http://h.test/{'b' * 900}/", "h.test") == "h.test"
    assert sites.unit("http://h.test/~bob/x", "h.test") == "h.test/~bob/"


def test_f60_rules_of_a_robots_txt_take_linear_time():
    rules = read_rules(f"User-agent: *\nDisallow: /{'*a' * 300}*b$\n", "analecta")
    assert rules.allowed(f"http://h.test/{'a' * 900}c")
    assert not rules.allowed(f"http://h.test/{'a' * 900}b")


def test_f60_pages_that_are_all_comments_are_looked_at_in_linear_time():
    assert sniff_type("", b"<!---->" * 145) == "text/plain"
    assert sniff_type("", b"<!---->" * 100 + b"<html>") == "text/html"


def test_f60_texts_of_others_are_read_in_linear_time():
    assert field_link("HYPERLINK" + " " * 100_000 + "x") == ""
    assert plain("<a" * 50_000) == "<a" * 50_000
    assert _JOURNAL.match("A" * 1500) is None
    assert take_names("A." * 700 + "!") == ([], 0)
    assert take_names("J. R.-M. L.T Smith, Deep rivers")[0] == ["J. R.-M. L.T Smith"]
