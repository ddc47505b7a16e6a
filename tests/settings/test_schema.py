"""Settings: every fault names the line, the key and the remedy; layers win in order."""

import re

import pytest

from analecta.errors import SettingsError, UsageError
from analecta.settings.load import load, merge, parse, recipe_names, recipe_text
from analecta.settings.schema import Settings


def fault(text):
    with pytest.raises(SettingsError) as raised:
        parse(text, "lib.toml")
    return str(raised.value)


@pytest.fixture
def written(tmp_path):
    def write(text):
        (tmp_path / "analecta.toml").write_text(text, encoding="utf-8")
        return tmp_path / "analecta.toml"

    return write


def test_a_mark_of_utf8_before_the_settings_is_no_fault(written):
    assert load(written('\ufeffcontact = "me@example.org"\n')).contact == "me@example.org"


# --- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n\ncontakt = 'x'", "lib.toml, line 3: unknown key 'contakt'; did you mean 'contact'?"),
        ("[fetch]\ndelay = 1\ndeadlin = 3", "lib.toml, line 3: unknown key 'fetch.deadlin'; did you mean 'deadline'?"),
        ("# a\n[fetsh]\ndelay = 1", "lib.toml, line 2: unknown key 'fetsh'; did you mean 'fetch'?"),
        ("x = 1\nfetch.dela = 3", "lib.toml, line 1: unknown key 'x'; valid are: "),
        ("contact = 'a'\nfetch.dela = 3", "lib.toml, line 2: unknown key 'fetch.dela'; did you mean 'delay'?"),
        ("[[topics]]\nname = 'a'\nseed = []", "lib.toml, line 3: unknown key 'topics.seed'; did you mean 'seeds'?"),
        ("[stop]\npages = 5\n[crawl]\npages = 5", "lib.toml, line 4: unknown key 'crawl.pages'"),
    ],
)
def test_an_unknown_key_is_named_with_its_line_and_the_nearest(text, said):
    assert said in fault(text)


def test_an_unknown_key_of_an_inline_table_is_found_on_its_line():
    assert "line 3: unknown key 'fetch.dela'" in fault("# a\n# b\nfetch = { dela = 3 }")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n[fetch]\ndelay = 'long'", "lib.toml, line 3: bad value for 'fetch.delay': a number is wanted, not text"),
        ("[fetch]\nparallel = 0", "line 2: bad value for 'fetch.parallel': a whole number, 1 or more, is wanted"),
        ("[fetch]\nparallel = 5000", "line 2: bad value for 'fetch.parallel': a whole number, 4096 or less, is wanted"),
        ("[fetch]\ndelay = -1", "line 2: bad value for 'fetch.delay': a number, 0 or more, is wanted"),
        ("[sites]\nby = 'hots'", "line 2: bad value for 'sites.by': one of host, domain, prefix is wanted"),
        ("[fetch.types]\nPDF = 1", "line 1: bad value for 'fetch.types': media types such as"),
        ("[fetch]\nparallel = 1.5", "a whole number is wanted, not a fraction"),
        ("[judge]\nthreshold = 1.5", "line 2: bad value for 'judge.threshold'"),
        ("[policy]\ncutoff = -2", "line 2: bad value for 'policy.cutoff'"),
        ("[policy]\nnever = 'next'", "line 2: bad value for 'policy.never'"),
        ("recipe = 3", "line 1: bad value for 'recipe'"),
        ("contact = 'a'\nfetch = 3", "line 2: bad value for 'fetch'"),
        ("[[topics]]\nname = 'a'\nseeds = ['x', 3]", "line 3: bad value for 'topics.seeds'"),
        (
            "contact = 'a'\n[[topics]]\nseeds = []",
            "line 2: bad value for 'topics': it has no name",
        ),
        ("[crawl]\nwarc_size = 10", "line 2: bad value for 'crawl.warc_size'"),
        ("[crawl]\nordered = 1", "line 2: bad value for 'crawl.ordered'"),
    ],
)
def test_a_bad_value_is_named_with_its_line(text, said):
    assert said in fault(text)


@pytest.mark.parametrize("text", ["[fetch]\ndelay = nan", "[judge]\nthreshold = nan"])
def test_f21_numbers_that_are_none_are_refused(text):
    assert "line 2" in fault(text)


@pytest.mark.parametrize("text", ["[fetch]\ndelay = inf", "[fetch]\ndeadline = inf"])
def test_f21_numbers_without_end_are_refused(text):
    assert "line 2" in fault(text)


@pytest.mark.parametrize("text", ["[scope]\nexclude = ['(']", "[policy]\nnever = ['[']"])
def test_a_pattern_that_is_no_regular_expression_is_refused(text):
    assert "line 2" in fault(text)


@pytest.mark.parametrize("contact", ["a\\nb", "a\\u0000", "蜂"])
def test_a_contact_that_cannot_be_sent_is_refused(contact):
    said = "lib.toml, line 2: bad value for 'contact': one line of Latin letters and signs is wanted"
    assert fault(f'recipe = "adaptive"\ncontact = "{contact}"') == said
    parse('contact = "Zoë <z@example.org>"', "lib.toml")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('[[topics]]\nname = "a"\n\n[[topics]]\nname = "b"\n[[topics]]\nname = \'a\'', (6, 1)),
        ('# x\ntopics = [{name = "a"}, {name = "a"}]', (2, 2)),
    ],
)
def test_two_topics_of_one_name_are_refused_with_their_lines(text, lines):
    assert "lib.toml, line {}: there is a topic 'a' already, on line {}: make them one".format(*lines) in fault(text)


@pytest.mark.parametrize("text", ["a = ", "[fetch", "a = 1\na = 2", "\x00", "= 3"])
def test_what_is_no_toml_is_refused_with_its_line(text):
    assert "lib.toml: not valid TOML" in fault(text)
    assert re.search("at line [12]|at end of document", fault(text))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        load(tmp_path / "nothing.toml")
    (tmp_path / "latin.toml").write_bytes(b"contact = '\xe9'")
    with pytest.raises(UsageError, match="cannot read"):
        load(tmp_path / "latin.toml")


# --- layers ----------------------------------------------------------------------------------------------------------


def test_an_empty_file_gives_the_default_recipe(written):
    assert load(written("")).policy.kind == "learned"
    assert load(written("")).recipe == "adaptive"


def test_later_layers_win(written):
    path = written('recipe = "synthesis"\n[judge]\nterms = 50\n[fetch]\ndelay = 2')
    chosen = load(path, {"fetch": {"delay": 5.0}, "stop": {"pages": 7}})
    assert (chosen.judge.terms, chosen.judge.min_shared, chosen.policy.cutoff) == (50, 4, 0)
    assert (chosen.fetch.delay, chosen.stop.pages) == (5.0, 7)


def test_what_comes_from_the_command_line_may_be_text(written):
    assert load(written(""), {"stop": {"pages": "7"}}).stop.pages == 7


def test_a_recipe_from_the_command_line_wins(written):
    chosen = load(written('recipe = "adaptive"'), {"recipe": "breadth-first"})
    assert (chosen.recipe, chosen.policy.kind) == ("breadth-first", "breadth-first")


@pytest.mark.parametrize("override", [{"stop": {"pages": "many"}}, {"stop": {"page": 3}}, {"nothing": 1}])
def test_a_bad_value_from_the_command_line_is_named(written, override):
    with pytest.raises(UsageError):
        load(written(""), override)


def test_layers_are_merged_table_by_table_and_left_as_they_were():
    low, high = {"a": {"x": 1, "y": 2}, "b": 1, "c": {"z": 1}}, {"a": {"y": 3}, "b": {"q": 1}, "c": 4}
    assert merge(low, high) == {"a": {"x": 1, "y": 3}, "b": {"q": 1}, "c": 4}
    assert low == {"a": {"x": 1, "y": 2}, "b": 1, "c": {"z": 1}}


# --- recipes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_loads(written, name):
    chosen = load(written(f'recipe = "{name}"'))
    assert chosen.recipe == name
    assert chosen != Settings(recipe=name) or name == "adaptive"


def test_the_recipes_are_there():
    assert {"adaptive", "breadth-first", "synthesis"} <= set(recipe_names())


def test_an_unknown_recipe_is_refused_with_the_nearest(written):
    with pytest.raises(SettingsError, match=r"analecta\.toml, line 2: there is no recipe 'adaptiv'; .* 'adaptive'\?"):
        load(written('contact = ""\nrecipe = "adaptiv"'))
    with pytest.raises(UsageError, match="no recipe"):
        recipe_text("../settings")


@pytest.mark.parametrize("host", ["192.168.1.300", "", "a b.test", "http://a.test/", ".example.org", "*.example.org"])
def test_a_scope_that_names_no_host_is_refused_rather_than_meaning_no_scope(host):
    with pytest.raises(SettingsError, match=r"line 3: bad value for 'scope.hosts': .* is no host"):
        parse(f'contact = "a"\n[scope]\nhosts = ["a.test", "{host}"]\n', "x")


def test_hosts_in_other_scripts_and_with_ports_are_hosts():
    assert parse('[scope]\nhosts = ["bücher.example", "127.0.0.1:8080", "Example.ORG"]\n', "x")


def test_a_network_that_is_none_is_told_with_its_line():
    with pytest.raises(SettingsError, match=r"line 2: bad value for 'fetch.allow': 'x' is no network"):
        parse('[fetch]\nallow = ["x"]\n', "x")
