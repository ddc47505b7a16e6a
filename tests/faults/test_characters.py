"""F59: C1, bidi and escape characters from the web reach neither a terminal nor the settings."""

import json
import os
import pty
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from rich.live import Live
from rich.table import Table

from analecta.cli.render import Screen
from analecta.settings.edit import add, first_settings
from analecta.settings.schema import Topic
from analecta.sources.bookmarks import read_bookmarks
from analecta.sources.collector import clean
from analecta.sources.lists import feed_of
from analecta.sources.outline import read_outline
from tests.process import COMMAND
from tests.publish.shelf import Given, html, shelved

EVIL = "A\x9b31m\x1b]0;x\x07\u202egnp\u2066.\u200e\u2028\U000e0041z"
BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u2028\U000e0000-\U000e007f]")


def on_a_terminal(*words: object) -> str:
    """What a command writes to a terminal."""
    main, side = pty.openpty()
    with subprocess.Popen([*COMMAND, *map(str, words)], stdout=side, stderr=subprocess.DEVNULL) as process:
        os.close(side)
        said = b""
        try:
            while part := os.read(main, 65536):
                said += part
        except OSError:  # it was closed
            pass
    os.close(main)
    assert process.returncode == 0
    return said.decode()


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evil") / "lib"
    return shelved(folder, Given("http://a.test/", html("Wrens"), {"title": EVIL}))


@pytest.mark.parametrize(
    "words", [("pages",), ("pages", "--format", "csv"), ("graph", "--of", "pages"), ("collection", "--format", "ris")]
)
def test_f59_an_export_to_a_terminal_is_inert(library, words):
    said = on_a_terminal("export", library.folder, *words)
    assert "gnp" in said
    assert not BAD.search(said)


def test_f59_json_on_a_terminal_is_inert_and_means_the_same(library):
    said = on_a_terminal("export", library.folder, "pages")
    assert not BAD.search(said)
    assert json.loads(said)["title"] == EVIL
    said = on_a_terminal("explain", library.folder, "http://a.test/", "--json")
    assert not BAD.search(said)
    assert EVIL in strings(json.loads(said))


def strings(value: object) -> list[str]:
    """All texts in what JSON said."""
    if isinstance(value, dict | list):
        return [text for inner in (value.values() if isinstance(value, dict) else value) for text in strings(inner)]
    return [str(value)]


def test_f59_an_export_to_a_file_keeps_the_data(library, tmp_path):
    subprocess.run([*COMMAND, "export", str(library.folder), "pages", "-o", str(tmp_path / "p.jsonl")], check=True)
    kept = (tmp_path / "p.jsonl").read_text()
    assert json.loads(kept)["title"] == EVIL
    assert BAD.search(kept)
    assert not BAD.search(on_a_terminal("export", library.folder, "pages"))


def test_f59_nothing_that_is_printed_commands_the_terminal(capsys):
    screen = Screen(file=sys.stdout, width=200)
    table = Table(title=EVIL)
    table.add_column(EVIL)
    table.add_row(EVIL)
    with Live(EVIL, console=screen, auto_refresh=False):
        screen.print(EVIL, table, [EVIL])
    said = capsys.readouterr().out
    assert "\\u202egnp" in said
    assert not BAD.search(said)


def read_all(folder: Path) -> list[Topic]:
    """Topics of this name from a feed, bookmarks and an outline."""
    (folder / "b.html").write_text(
        f'<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>{EVIL}</H3><DL><DT><A HREF="http://b.test/">b</A></DL></DL>'
    )
    (folder / "o.txt").write_text(f"{EVIL.replace(chr(0x2028), '')}\n    http://o.test/\n")
    feed = {"version": "https://jsonfeed.org/version/1", "title": EVIL, "items": [{"url": "http://f.test/\u202ex"}]}
    found = [
        feed_of(json.dumps(feed).encode(), "feed", "x"),
        read_bookmarks(folder / "b.html", "x"),
        read_outline(folder / "o.txt", "x"),
    ]
    return [topic for reading in found for topic in reading.topics]


def test_f59_names_from_feeds_bookmarks_and_outlines_reach_the_settings_clean(tmp_path):
    topics = read_all(tmp_path)
    assert len(topics) == 3
    assert not any(BAD.search(topic.name.replace("\u200e", "")) for topic in topics)  # a mark that some scripts need
    text = first_settings(topics[:1], "adaptive")
    assert not BAD.search(text + add(text, topics[1:], "s").text)


def test_f59_a_name_that_is_written_all_the_same_is_written_as_an_escape():
    text = first_settings([Topic(EVIL, ("http://a.test/",))], "adaptive")
    assert not BAD.search(text)
    assert tomllib.loads(text)["topics"][0]["name"] == EVIL


def test_f59_scripts_that_need_them_keep_their_joiners():
    word = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert clean(word) == clean(f"\u202e{word}\x9b") == word
