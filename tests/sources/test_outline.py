import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analecta.errors import UsageError
from analecta.settings.schema import NegativeSettings
from analecta.sources.collector import clean
from analecta.sources.outline import RESERVED, read_outline
from analecta.sources.outline_text import split_line

INDENTED = """# my topics
Science
    https://s.test/
    Biology  https://b.test/ (the best)
        https://c.test/
    Physics
Cooking
    https://k.test/
"""
MARKDOWN_LIST = """
- Science
  - <https://s.test/>
  - **Biology**: https://b.test/
    * [Cells](https://c.test/ "title"), a good page
  - Physics
- [ ] Cooking [recipes](https://k.test/)
"""
MARKDOWN_HEADINGS = """# Science
Some words, and a link: https://s.test/.

## Biology

See [this](https://b.test/) and [that](https://c.test/).
## Physics ##
***
# Cooking

1. https://k.test/
"""
MARKDOWN_UNDERLINED = """Science
=======
https://s.test/

Biology
--
See [this](https://b.test/) and [that](https://c.test/).

Physics
-------

Cooking
===
- https://k.test/
"""
FEW_MARKS = """
Science
    - https://s.test/
    Biology  https://b.test/ (the best)
        * https://c.test/
    Physics
Cooking
=======
    https://k.test/
"""
NOTES = """
Science:
- https://s.test/
- Biology:
  - https://b.test/
  - https://c.test/
- Physics
Cooking:
- https://k.test/
"""
TOML = """
[Science]
seeds = ["https://s.test/"]
Biology = ["https://b.test/", "https://c.test/"]
Physics = {}
[Cooking]
seeds = "https://k.test/"
"""
OBJECTS = """{"Science": {"seeds": ["s.test"], "Biology": ["https://b.test/", "https://c.test/"], "Physics": null},
"Cooking": "https://k.test/"}"""
NODES = """[{"name": "Science", "seeds": ["https://s.test/"], "children": [
 {"title": "Biology", "id": 7, "tags": ["x"], "urls": ["https://b.test/"],
  "children": [{"title": "Cells", "url": "https://c.test/"}]}, "Physics"]},
{"name": "Cooking", "links": ["https://k.test/"]}]"""
OPML = """<?xml version="1.0" encoding="UTF-8"?><opml version="2.0"><head><title>mine</title></head><body>
<outline text="Science"><outline text="S" type="rss" xmlUrl="https://s.test/feed" htmlUrl="https://s.test/"/>
<outline text="Biology"><outline text="B" xmlUrl="https://b.test/"/><outline text="C" type="link" url="https://c.test/"/>
</outline><outline text="Physics"/></outline><outline title="Cooking"><outline htmlUrl="https://k.test/"/></outline>
</body></opml>"""
FORMS = {
    "indented": INDENTED,
    "tabs": INDENTED.replace("    ", "\t"),
    "crlf": INDENTED.replace("\n", "\r\n"),
    "list": MARKDOWN_LIST,
    "headings": MARKDOWN_HEADINGS,
    "underlined": MARKDOWN_UNDERLINED,
    "few-marks": FEW_MARKS,
    "no-break": INDENTED.replace("    ", "\u00a0 \u00a0 "),
    "notes": NOTES,
    "toml": TOML,
    "objects": OBJECTS,
    "nodes": NODES,
    "opml": OPML,
}
WANTED = {
    "Science": ["https://s.test/"],
    "Science / Biology": ["https://b.test/", "https://c.test/"],
    "Cooking": ["https://k.test/"],
}


def read(folder, text):
    (folder / "f").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_outline(folder / "f", "loose")


def found(reading):
    return {topic.name: list(topic.seeds) for topic in reading.topics}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_s1_each_kind_of_outline_gives_the_same_topics(tmp_path, text):
    reading = read(tmp_path, text)
    assert found(reading) == WANTED
    assert reading.queries == {"Science / Physics": "Science / Physics"}
    assert not reading.skipped
    assert not reading.merged


def test_s1_a_leaf_without_seeds_keeps_its_path_as_its_query(tmp_path):
    reading = read(tmp_path, "Numerical analysis\n  Computational linear algebra\n  Splines\n")
    assert list(reading.queries.values()) == [
        "Numerical analysis / Computational linear algebra",
        "Numerical analysis / Splines",
    ]
    assert not reading.topics


names = (
    st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
    .map(clean)
    .filter(lambda name: name not in RESERVED)
)
trees = st.recursive(
    st.just({}), lambda inner: st.dictionaries(names, inner, min_size=1, max_size=3), max_leaves=10
).filter(bool)


def paths(tree, path=()):
    for name, below in tree.items():
        yield from paths(below, (*path, name)) if below else [" / ".join((*path, name))]


def indented(tree, indent=""):
    return "".join(f"{indent}{name}\n{indented(below, indent + '  ')}" for name, below in tree.items())


def markdown(tree, indent=""):
    return "".join(f"{indent}- {name}\n{markdown(below, indent + '  ')}" for name, below in tree.items())


@given(tree=trees, write=st.sampled_from([indented, markdown, json.dumps]))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_s1_any_outline_is_read_back_as_it_was_written(tmp_path, tree, write):
    assert list(read(tmp_path, write(tree)).queries) == list(paths(tree))


def test_urls_that_are_not_indented_are_of_the_topic_above_them(tmp_path):
    reading = read(tmp_path, "https://a.test/\nBees\nhttps://b.test/\n  Wild\n    https://c.test/\n  https://d.test/\n")
    assert found(reading) == {
        "loose": ["https://a.test/"],
        "Bees": ["https://b.test/", "https://d.test/"],
        "Bees / Wild": ["https://c.test/"],
    }


def test_a_path_on_one_line_is_a_path(tmp_path):
    reading = read(tmp_path, "Science / Biology\n  https://a.test/\nScience / Physics\n  https://b.test/\nScience\n")
    assert list(found(reading)) == ["Science / Biology", "Science / Physics"]
    assert not reading.merged


@pytest.mark.parametrize(
    "text",
    [
        "A\n https://a.test/\nB\n https://b.test/\nA\n https://c.test/\n",
        '{"A": "https://a.test/", "A": ["https://c.test/"]}',
    ],
)
def test_a_topic_that_is_named_twice_is_one_and_told(tmp_path, text):
    reading = read(tmp_path, text)
    assert found(reading)["A"] == ["https://a.test/", "https://c.test/"]
    assert reading.merged == ("A",)


def test_tabs_and_spaces_together_are_an_error_with_its_line(tmp_path):
    with pytest.raises(UsageError, match=r"line 3: indented with tabs where the lines above use spaces"):
        read(tmp_path, "A\n  B\n\tC\n")
    with pytest.raises(UsageError, match=r"line 2: indented with spaces where the lines above use tabs"):
        read(tmp_path, "A\n\t  B\n")


def deep(n):
    return "".join(" " * i + f"t{i}\n" for i in range(n))


@pytest.mark.parametrize(
    "text",
    [deep(21), '{"a":' * 21 + "1" + "}" * 21, "[a" + ".a" * 20 + "]\n", "#" * 2 + " " + "x / " * 20 + "x\n"],
)
def test_an_outline_more_than_twenty_deep_is_refused(tmp_path, text):
    assert len(list(read(tmp_path, deep(20)).queries)) == 1
    with pytest.raises(UsageError, match="more than 20 deep"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# only a comment\n\n", None),
        ("[Science]\nBiology = nothing\n", r"not valid TOML.*line 2"),
        ("a = [\n" + "[" * 50_000, "TOML"),
        ("[a]\nb = " + "1" * 5000, "TOML beyond reason"),
        ('{"Science": [}', "line 1: not valid JSON"),
        ('{"a":' + "[" * 100_000, "beyond reason"),
        ("<rss version='2.0'><channel/></rss>", "no OPML"),
        ("<opml><body><outline", "not valid XML"),
        ("<opml><body>" + "<outline text='a'>" * 30 + "</outline>" * 30 + "</body></opml>", "more than 20 deep"),
        ("<opml>" + "<a>" * 5000, "200 deep"),
        ("{}", "holds no topic"),
        ("ftp://a.test/\n", "only http and https"),
    ],
)
def test_what_is_no_outline_is_one_sentence(tmp_path, text, said):
    if said is None:  # a heading: Markdown's or a comment's, nobody can tell
        assert list(read(tmp_path, text).queries) == ["only a comment"]
        return
    with pytest.raises(UsageError, match=said):
        read(tmp_path, text)


def test_f31_a_doctype_is_refused(tmp_path):
    bomb = (
        "<!DOCTYPE opml [<!ENTITY a 'aaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><opml><body><outline text='&b;'/></body></opml>"
    )
    with pytest.raises(UsageError, match="DOCTYPE"):
        read(tmp_path, bomb)


def test_values_that_are_neither_topics_nor_urls_are_skipped(tmp_path):
    reading = read(tmp_path, '{"A": ["https://a.test/", 7, true], "B": "words", "C": {"seeds": ["x:y", 3]}}')
    assert [skipped.text for skipped in reading.skipped] == ["7", "True", "B: words", "x:y", "3"]
    assert found(reading) == {"A": ["https://a.test/"]}


def test_words_of_programs_are_topics_where_they_hold_some(tmp_path):
    reading = read(tmp_path, '{"Label": {}, "text": {"A": ["https://a.test/"]}, "title": "mine"}')
    assert list(found(reading)) == ["text / A"]
    assert list(reading.queries) == ["Label"]


def test_our_own_topics_can_be_an_outline(tmp_path):
    reading = read(tmp_path, '[[topics]]\nname = "A / B"\nseeds = ["https://a.test/"]\n[[topics]]\nname = "C"\n')
    assert found(reading) == {"A / B": ["https://a.test/"]}
    assert list(reading.queries) == ["C"]


def test_a_library_as_an_outline_gives_its_topics_and_others_and_tells_the_rest(tmp_path):
    topic = '[[topics]]\nname = "A"\nseeds = ["https://a.test/"]\nstarts = ["https://s.test/"]\nexamples = ["b.html"]\n'
    others = '[others]\nseeds = ["https://o.test/"]\nexamples = ["c.html"]\n'
    rest = '[search.url]\nsearxng = "http://127.0.0.1/"\n[Cooking]\nseeds = ["https://k.test/"]\n'
    reading = read(tmp_path, 'contact = "me@a.test"\n' + topic + others + rest)
    assert (found(reading), reading.queries) == ({"A": ["https://a.test/"]}, {})
    assert reading.others == NegativeSettings(("https://o.test/",))
    assert [skipped.text for skipped in reading.skipped] == ["b.html", "A / starts", "c.html", "Cooking"]


def test_an_object_with_a_name_has_that_name_whatever_else_it_says(tmp_path):
    inner = {"name": "Biology", "seeds": ["https://b.test/"], "broader": {"id": "https://v.test/1"}}
    reading = read(tmp_path, json.dumps([{"name": "Science", "id": "https://v.test/1", "children": [inner]}]))
    assert found(reading) == {"Science / Biology": ["https://b.test/"]}
    assert [skipped.text for skipped in reading.skipped] == ["Science / Biology / broader"]


def test_one_line_with_a_mark_does_not_make_an_outline_markdown(tmp_path):
    text = "A\n    B https://b.test/\n    C\n        1. D https://d.test/\n    E\nF\n    G\n        https://g.test/\n"
    reading = read(tmp_path, text)
    assert found(reading) == {
        "A / B": ["https://b.test/"],
        "A / C / D": ["https://d.test/"],
        "F / G": ["https://g.test/"],
    }
    assert (list(reading.queries), reading.skipped) == (["A / E"], ())


def test_what_comes_to_nothing_in_markdown_is_told(tmp_path):
    text = "## A\nwords\n- https://a.test/\n  more words\n```\n# no heading\n```\n- ![i](i.png)\n# ![i](i.png)\n***\n"
    reading = read(tmp_path, text)
    assert found(reading) == {"A": ["https://a.test/"]}
    assert [skipped.line for skipped in reading.skipped] == [2, 4, 5, 8, 9]


def test_dashes_below_a_link_are_a_rule_and_no_heading(tmp_path):
    reading = read(tmp_path, "# A\n## B\nhttps://b.test/\n---\nhttps://c.test/\n")
    assert found(reading) == {"A / B": ["https://b.test/", "https://c.test/"]}


def test_code_below_a_heading_does_not_make_markdown_indented_text(tmp_path):
    reading = read(tmp_path, "## A\n\n    make\n    make test\n\nText\n\n    make demo\n\n- https://a.test/\n")
    assert found(reading) == {"A": ["https://a.test/"]}
    assert [skipped.line for skipped in reading.skipped] == [3, 4, 6, 8]


def test_what_programs_note_at_the_top_of_a_file_is_no_heading(tmp_path):
    reading = read(tmp_path, "---\nmade: today\n---\n## A\n- https://a.test/\n")
    assert found(reading) == {"A": ["https://a.test/"]}
    assert [skipped.text for skipped in reading.skipped] == ["made: today"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Biology", ("Biology", [])),
        ("Biology:", ("Biology", [])),
        ("C++ and _C_", ("C++ and C", [])),
        ("snake_case_name", ("snake_case_name", [])),
        ("Node.js", ("Node.js", [])),
        ("[Biology](#biology)", ("Biology", [])),
        ("[x](https://a.test/a_(b)) is nice", ("", ["https://a.test/a_(b)"])),
        ("Bees - www.a.test, <https://b.test/>", ("Bees", ["www.a.test", "https://b.test/"])),
        ("Bees (https://a.test/a_(b)).", ("Bees", ["https://a.test/a_(b)"])),
        ("![icon](i.png) Bees", ("Bees", [])),
        ("javascript: the good parts", ("javascript: the good parts", [])),
        ("https://a.test/Yahoo!", ("", ["https://a.test/Yahoo!"])),
        ("  https://a.test/?q=a*  ", ("", ["https://a.test/?q=a*"])),
        ("Bees: https://a.test/Inc.", ("Bees", ["https://a.test/Inc"])),
    ],
)
def test_a_line_is_a_name_with_links_behind_it(line, wanted):
    assert split_line(line) == wanted


@given(st.text(alphabet="[]()<>!*_`: ahtps/w.#-", max_size=300))
def test_any_line_is_split(line):
    name, links = split_line(line)
    assert name == name.strip()
    assert all(links)


def test_a_line_beyond_reason_is_skipped_quickly(tmp_path):
    reading = read(tmp_path, "A\n  https://a.test/\n" + "[" * 500_000 + "\n- x\n" + "- " + "(a](" * 50_000)
    assert sorted(skipped.line for skipped in reading.skipped) == [1, 3, 5]


def test_bookmarks_given_as_an_outline_are_told_as_what_they_are(tmp_path):
    with pytest.raises(UsageError, match="holds bookmarks: give it with --bookmarks"):
        read(tmp_path, "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p><DT><A HREF='https://a.test/'>a</A></DL>")
