import io
import json
import sqlite3
from collections import Counter
from contextlib import closing

import orjson
import pyarrow.parquet as pq
import pytest
import zstandard
from isal import isal_zlib

from analecta.errors import ResourceError, UsageError
from analecta.export import corpus
from analecta.export.corpus import COLUMNS, DATA, SUMMARY
from analecta.export.datasheet import Counts
from analecta.export.parquet import write_parquet
from analecta.store.partition import NOARCHIVE, NOINDEX
from tests.export.exporting import exported
from tests.making import item, target
from tests.publish.shelf import PROSE, Given, html, shelved

HOSTILE = "<script>alert(1)</script>\u202egnp\x00|`=1"


def write_corpus(library, folder, format="parquet", **more):
    """Export it; what its summary counts."""
    exported(library, "corpus", format, folder, **more)
    found = json.loads((folder / SUMMARY).read_bytes())
    return Counts(**{name: Counter(value) if isinstance(value, dict) else value for name, value in found.items()})


def read(folder):
    return pq.read_table(folder / DATA["parquet"]).to_pylist()


@pytest.fixture(scope="module")
def made(grown, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "out"
    return write_corpus(grown, folder, now=1_800_000_000.0), folder


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """One page that may be in a corpus, and one of each kind that may not, or not always."""
    first = "http://a.test/wren"
    return shelved(
        tmp_path_factory.mktemp("shelf") / "lib",
        Given(first, html("Wren")),
        Given("http://a.test/hidden", html("Hidden", PROSE + "h"), {"flags": NOINDEX, "topic": -1}),
        Given("http://a.test/uncopied", html("Uncopied", PROSE + "u"), {"flags": NOARCHIVE}),
        Given("http://a.test/twin", html("Wren"), {"duplicate_of": target(first).id}),
        Given("http://a.test/skin", html("Wren", foot="<footer>another design")),
        Given("http://a.test/off", html("Off", PROSE + "o"), {"topic": -1}),
        Given("http://a.test/empty", "<title>empty</title>"),
        Given("http://a.test/tdm", html("Tdm", PROSE + "t", "<meta name=tdm-reservation content=1>")),
        Given("http://robots.test/x", html("Bees", PROSE + "r"), {"topic": 2}, host_reserved="ai-train=no"),
    )


def test_a_corpus_has_each_page_that_may_be_shown_once(grown, made):
    counts, folder = made
    with grown.snapshot() as snapshot:
        shown = {item.url for item in snapshot.shown_pages() if not item.noarchive}
    rows = read(folder)
    assert {row["url"] for row in rows} <= shown
    assert len(rows) == len({row["text"] for row in rows}) == counts.pages == len(shown) - counts.left["same text"]


def test_rows_have_the_columns_and_the_figures_add_up(made):
    counts, folder = made
    rows = read(folder)
    assert list(rows[0]) == list(COLUMNS)
    assert counts.words == sum(row["words"] for row in rows) > 50 * len(rows)
    assert all(row["topic"] in json.loads(row["topics"]) for row in rows)


def test_the_text_is_the_main_text_without_menus(grown, made):
    texts = {row["url"]: row["text"] for row in read(made[1]) if row["mime"] == "text/html"}
    with grown.snapshot() as snapshot:
        everything = {item.url: snapshot.text(item) for item in snapshot.shown_pages()}
    assert sum("\n|\n" in everything[url] for url in texts) > len(texts) / 2
    assert not any("\n|\n" in text or "  " in text or "\n\n\n" in text for text in texts.values())


def test_f30_a_table_made_to_fill_the_memory_falls_back_to_the_plain_text(tmp_path):
    table = f"<table><tr><td>{'wide, ' * 5_000}<td>x</tr>{'<tr><td>a<td>b</tr>' * 1_000}</table>"
    library = shelved(tmp_path / "lib", Given("http://a.test/x", html("Wren", f"{PROSE}{table}")))
    counts = write_corpus(library, tmp_path / "out")
    assert counts.characters < 100_000
    assert read(tmp_path / "out")[0]["text"].startswith("Home\nWren\nThe wren")


def test_the_licence_that_a_page_states_is_in_its_row(tmp_path):
    foot = '<footer><a rel="license" href="https://creativecommons.org/licenses/by/4.0/">CC'
    library = shelved(tmp_path / "lib", Given("http://a.test/x", html("Wren", foot=foot)))
    counts = write_corpus(library, tmp_path / "out")
    assert (counts.licences, counts.licences_by) == ({"CC-BY-4.0": 1}, {"link": 1})
    assert read(tmp_path / "out")[0]["licence"] == "CC-BY-4.0"


def test_json_lines_hold_the_same_rows(grown, made, tmp_path):
    write_corpus(grown, tmp_path / "out", "jsonl")
    with zstandard.open(tmp_path / "out" / DATA["jsonl"], "rb") as file:
        rows = [orjson.loads(line) for line in file.read().splitlines()]
    assert [row["url"] for row in rows] == [row["url"] for row in read(made[1])]
    assert rows[0]["text"] == read(made[1])[0]["text"]


def test_f36_what_owners_reserve_is_left_out_and_counted_by_kind(shelf, tmp_path):
    counts = write_corpus(shelf, tmp_path / "out")
    assert [row["url"] for row in read(tmp_path / "out")] == ["http://a.test/wren"]
    assert counts.reserved == {"tdm-reservation=1": 1, "ai-train=no": 1}


def test_f36_a_corpus_that_is_not_for_training_says_what_is_reserved(shelf, tmp_path):
    write_corpus(shelf, tmp_path / "out", with_reserved=True)
    reserved = {row["url"]: row["reserved"] for row in read(tmp_path / "out")}
    assert reserved == {
        "http://a.test/wren": "", "http://a.test/tdm": "tdm-reservation=1", "http://robots.test/x": "ai-train=no",
    }  # fmt: skip
    assert "**not for training**" in (tmp_path / "out" / "README.md").read_text()


def test_f35_each_page_that_is_left_out_has_its_reason(shelf, tmp_path):
    counts = write_corpus(shelf, tmp_path / "out")
    assert counts.left == {
        "noindex": 1, "noarchive": 1, "copies": 1, "same text": 1, "off topic": 1, "no text": 1, "reserved": 2,
    }  # fmt: skip
    assert json.loads((tmp_path / "out" / "corpus.json").read_text())["left"] == counts.left


def test_a_corpus_of_one_topic_has_its_pages_alone(shelf, tmp_path):
    counts = write_corpus(shelf, tmp_path / "out", topic="bees", with_reserved=True)
    assert [row["topic"] for row in read(tmp_path / "out")] == ["bees"]
    assert counts.left["other topics"] > 0
    with pytest.raises(UsageError, match="no topic 'wasps'"):
        write_corpus(shelf, tmp_path / "other", topic="wasps")


def test_f37_hostile_names_are_only_values(tmp_path):
    library = shelved(tmp_path / "lib", Given("http://a.test/x", html("x"), {"title": HOSTILE, "lang": "<b>"}))
    counts = write_corpus(library, tmp_path / "out")
    assert read(tmp_path / "out")[0]["title"] == HOSTILE
    assert counts.langs == {"<b>": 1}
    assert "<b>" not in (tmp_path / "out" / "README.md").read_text()


def test_characters_that_are_none_do_not_break_a_corpus(tmp_path):
    text = PROSE + "&#xD800;&#0;&#x1b;]52;x\ufffe\u202e"
    library = shelved(tmp_path / "lib", Given("http://a.test/x", html("x", text)))
    for format in DATA:
        assert write_corpus(library, tmp_path / "out", format).pages == 1


def test_a_page_whose_record_is_lost_has_the_text_that_was_kept(shelf, tmp_path):
    library = shelved(tmp_path / "lib", Given("http://a.test/x", html("Wren")))
    next(library.archive.glob("*.gz")).unlink()
    write_corpus(library, tmp_path / "out")
    assert read(tmp_path / "out")[0]["text"].startswith("Home\nWren\nThe wren")


def test_a_corpus_is_written_anew_but_never_over_something_else(shelf, tmp_path):
    for format in ("parquet", "jsonl"):
        write_corpus(shelf, tmp_path / "out", format)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"README.md", "corpus.json", "pages.jsonl.zst"}
    (tmp_path / "out" / "mine.txt").write_text("dear to me")
    with pytest.raises(UsageError, match="was not made by"):
        write_corpus(shelf, tmp_path / "out")


def test_a_corpus_that_fails_leaves_what_was_there(tmp_path):
    library = shelved(tmp_path / "lib", Given("http://a.test/x", html("Wren")))
    write_corpus(library, tmp_path / "out", now=0.0)
    with closing(sqlite3.connect(library.shard_path(0), isolation_level=None)) as db:
        db.execute("UPDATE pages SET text = x'00'")
    with pytest.raises(isal_zlib.error):
        write_corpus(library, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lib", "out"]
    assert "1970-01-01" in (tmp_path / "out" / "README.md").read_text()


def test_a_place_that_cannot_be_written_is_told(shelf, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="cannot write"):
        write_corpus(shelf, tmp_path / "file" / "out")


def test_row_groups_are_bounded_by_their_text():
    out = io.BytesIO()
    write_parquet(({"text": "x" * 5_000_000} for _ in range(10)), {"text": str}, out)
    groups = pq.ParquetFile(out).metadata
    assert groups.num_row_groups == 3
    assert groups.num_rows == 10


def test_a_further_topic_whose_name_is_not_known_is_left_out(tmp_path):
    page = item(mime="application/pdf", topics=((0, 0.9), (7, 0.5)))
    assert corpus._row(tmp_path, page, "some text", None, ["Bees"])["topics"] == {"Bees": 0.9}
