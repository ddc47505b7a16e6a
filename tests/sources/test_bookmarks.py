import json
import plistlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analecta.errors import UsageError
from analecta.sources.bookmarks import OWN_NAMES, read_bookmarks
from analecta.sources.collector import clean
from tests.effort import little_work
from tests.sources.browsers import HEAD, chrome, firefox, mozlz4, netscape, safari, safari_html, topics

TREE = [
    "https://loose.test/",
    (
        "Science",
        ["https://s.test/", ("Biology & <life>", ["https://b.test/?a=1&b=2"]), ("Physik ü 物理", ["http://p.test/"])],
    ),
    ("Food / Drink", ["https://f.test/"]),
]
WANTED = {
    "loose": ["https://loose.test/"],
    "Science": ["https://s.test/"],
    "Science / Biology & <life>": ["https://b.test/?a=1&b=2"],
    "Science / Physik ü 物理": ["http://p.test/"],
    "Food/Drink": ["https://f.test/"],
}
FORMS = {
    "netscape": netscape,
    "safari-html": safari_html,
    "chrome": chrome,
    "firefox": firefox,
    "jsonlz4": lambda tree: mozlz4(firefox(tree)),
    "plist": safari,
    "plist-xml": lambda tree: safari(tree, plistlib.FMT_XML),
}


def read(folder, data: bytes):
    (folder / "f").write_bytes(data)
    return read_bookmarks(folder / "f", "loose")


def found(reading):
    return {topic.name: list(topic.seeds) for topic in reading.topics}


@pytest.mark.parametrize("write", FORMS.values(), ids=FORMS)
def test_b1_folders_become_the_tree_of_topics(tmp_path, write):
    reading = read(tmp_path, write(TREE))
    assert found(reading) == WANTED
    assert not reading.skipped


words = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff"), min_size=1, max_size=12)
names = words.map(clean).filter(lambda name: name.casefold() not in OWN_NAMES and name == clean(name))
links = st.integers(0, 9).map(lambda n: f"https://a.test/{n}")
trees = st.recursive(
    st.lists(links, min_size=1, max_size=3),
    lambda inner: st.lists(links | st.tuples(names, inner), min_size=1, max_size=4),
    max_leaves=12,
)


@given(tree=trees, form=st.sampled_from([netscape, safari_html, chrome, firefox]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_b1_any_tree_is_read_back_as_it_was_written(tmp_path, tree, form):
    assert found(read(tmp_path, form(tree))) == topics(tree)


@pytest.mark.parametrize(
    "own",
    [
        ("Meine Leiste", ["https://a.test/"], 'PERSONAL_TOOLBAR_FOLDER="true"'),
        ("Unsortiert", ["https://a.test/"], 'UNFILED_BOOKMARKS_FOLDER="true"'),
        ("Elenco", ["https://a.test/"], 'id="com.apple.ReadingList"'),
        ("Favorites", ["https://a.test/"]),
        ("Weitere  Lesezeichen", ["https://a.test/"]),
    ],
)
def test_folders_that_the_browser_made_are_left_out_of_the_path(tmp_path, own):
    for form in (netscape, safari_html):
        assert found(read(tmp_path, form([own]))) == {"loose": ["https://a.test/"]}


def test_a_folder_of_that_name_further_below_is_the_person_s_own(tmp_path):
    tree = [("Bookmarks bar", [("Favorites", ["https://a.test/"])], 'PERSONAL_TOOLBAR_FOLDER="true"')]
    assert list(found(read(tmp_path, netscape(tree)))) == ["Favorites"]


def test_missing_end_tags_separators_and_descriptions_do_no_harm(tmp_path):
    data = f"""{HEAD}<DL><p>
<DT><H3>One
<DL><p>
<DT><A HREF="https://a.test/" TAGS="x,y" SHORTCUTURL="s">a
<DD>about a
<HR>
<DT><A HREF="https://b.test/">b
</DL>
<DT><H3>Two</H3></DT>
<DL><DT><A HREF="https://c.test/">c</A></DT></DL>"""
    reading = read(tmp_path, data.encode())
    assert found(reading) == {"One": ["https://a.test/", "https://b.test/"], "Two": ["https://c.test/"]}
    assert reading.repeated == 0


def test_what_is_no_web_page_is_skipped_with_its_line_and_reason(tmp_path):
    tree = ["javascript:alert(1)", "place:sort=8", "file:///etc/x", "about:config", "https://a.test/a b"]
    reading = read(tmp_path, netscape(tree))
    assert [(skipped.line, skipped.text) for skipped in reading.skipped] == list(enumerate(tree[:4], 9))
    assert "not javascript:" in reading.skipped[0].why
    assert found(reading) == {"loose": ["https://a.test/a%20b"]}


@pytest.mark.parametrize("write", [netscape, chrome, firefox, safari])
def test_empty_folders_are_left_out_and_said(tmp_path, write):
    reading = read(tmp_path, write([("Full", [("Empty", [("Hollow", [])]), "https://a.test/"])]))
    assert found(reading) == {"Full": ["https://a.test/"]}
    assert [(s.text, s.why) for s in reading.skipped] == [("Full / Empty / Hollow", "no page stands in this folder")]


def test_folders_of_the_same_name_are_one(tmp_path):
    reading = read(tmp_path, netscape([("A", ["https://a.test/"]), ("A", ["https://b.test/", "https://a.test/"])]))
    assert found(reading) == {"A": ["https://a.test/", "https://b.test/"]}
    assert (reading.merged, reading.repeated) == (("A",), 1)


def test_old_files_in_their_own_encoding_are_read(tmp_path):
    data = netscape([("Café", ["https://a.test/"])]).decode()
    old = data.replace("charset=UTF-8", "charset=windows-1252").encode("windows-1252")
    assert list(found(read(tmp_path, old))) == ["Café"]
    with pytest.raises(UsageError, match="UTF-8"):
        read(tmp_path, data.encode("windows-1252"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"<!DOCTYPE html><dl><dt><a href='https://a.test/'>a</a></dl>", "no bookmark file"),
        (b'{"a": 1}', "holds no bookmarks"),
        (b'{"roots": {', "line 1: not valid JSON"),
        (b"[" * 10, "no bookmark file"),
        (b'{"roots":' + b"[" * 100_000, "beyond reason"),
        (b"mozLz40\0\x10\0\0\0abc", "damaged Firefox backup"),
        (b"mozLz40\0\xff\xff\xff\xff", "more than 50 MB"),
        (b"bplist00" + b"\xff" * 60, "damaged property list"),
        (b"<plist version='1.0'><date>foo</date></plist>", "damaged property list"),
        (plistlib.dumps({"a": 1}), "no Safari bookmarks"),
        (netscape([("A", [])]), "no page stands in this folder"),
        (netscape([]), "holds no bookmark"),
        (firefox([("A", ["place:x"])]), "not place:"),
    ],
)
def test_what_is_no_bookmark_file_is_one_sentence(tmp_path, data, said):
    with pytest.raises(UsageError, match=said):
        read(tmp_path, data)


def test_f31_an_entity_in_a_property_list_is_refused(tmp_path):
    data = (
        b'<?xml version="1.0"?><!DOCTYPE plist [<!ENTITY a "aaaa">]><plist version="1.0"><string>&a;</string></plist>'
    )
    with pytest.raises(UsageError, match="damaged property list"):
        read(tmp_path, data)


def test_folders_beyond_reason_are_refused(tmp_path):
    inner = b"".join(b'{"type":"folder","name":"a","children":[' for _ in range(300)) + b"]}" * 300
    with pytest.raises(UsageError, match="too deep"):
        read(tmp_path, b'{"roots":{"other":{"children":[' + inner + b"]}}}")


@pytest.mark.parametrize("name", ["BookmarksBar", "mine"])
def test_a_small_list_that_names_its_folders_again_and_again_is_refused(tmp_path, name):
    folder = {"WebBookmarkType": "WebBookmarkTypeList", "Title": name, "Children": []}
    for _ in range(18):
        folder = {"WebBookmarkType": "WebBookmarkTypeList", "Title": name, "Children": [folder] * 20}
    data = plistlib.dumps(folder, fmt=plistlib.FMT_BINARY)
    assert len(data) < 2000
    with pytest.raises(UsageError, match="more than 200,000 entries"):
        read(tmp_path, data)


def test_a_value_of_another_kind_than_the_browser_s_does_no_harm(tmp_path):
    folder = {"type": "text/x-moz-place-container", "guid": ["x"], "root": {}, "title": "A"}
    link = {"type": "text/x-moz-place", "uri": "https://a.test/"}
    assert list(found(read(tmp_path, json.dumps(folder | {"children": [link]}).encode()))) == ["A"]


def test_half_a_character_in_a_name_does_no_harm(tmp_path):
    reading = read(tmp_path, chrome([("a\ud800b", ["https://a.test/", "x:\ud800"])]))
    assert list(found(reading)) == ["a?b"]
    assert reading.skipped[0].text == "x:?"


@pytest.mark.parametrize("write", [netscape, chrome, FORMS["jsonlz4"], safari])
def test_five_thousand_bookmarks_take_little_work(tmp_path, write):
    tree = [(f"Folder {f}", [f"https://site{f}.test/page/{n}?q=1" for n in range(50)]) for f in range(100)]
    data = write(tree)
    with little_work():
        reading = read(tmp_path, data)
    assert sum(len(topic.seeds) for topic in reading.topics) == 5000
