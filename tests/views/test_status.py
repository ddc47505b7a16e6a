import io
import re
import sqlite3
from contextlib import closing

import pytest
from rich.console import Console

from analecta.cli.status import show
from analecta.errors import LibraryBusy
from analecta.settings.edit import first_settings
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder
from analecta.views.rows import LeftOut, pages
from analecta.views.status import status


@pytest.fixture
def library(tmp_path):
    return LibraryFolder.create(tmp_path / "lib", first_settings([Topic("roses", ("https://a.test/",))], "adaptive"))


def text(found, width=120) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(show(found))
    return out.getvalue()


def test_figures_agree_with_the_rows(grown):
    found, rows = status(grown), list(pages(grown, LeftOut(), everything=True))
    assert found.pages == len(rows)
    assert found.on_topic == sum(bool(row["topic"]) for row in rows) == sum(found.topics.values())
    assert found.duplicates == sum(bool(row["duplicate_of"]) for row in rows)
    assert found.urls["done"] + found.duplicates == found.pages


def test_the_last_run_and_the_model_are_told(grown):
    found = status(grown)
    assert "450 pages were asked for and kept" in text(found)
    assert found.models[-1]["hash"][:12] in text(found)


def test_s12_topics_are_shown_with_the_figures_of_their_best_items(grown):
    found = status(grown)
    for name, best in found.collections.items():
        assert re.search(rf"{name} +[\d,]+ +{best.least:.2f} +{best.mean:.2f} +{best.most:.2f}  [▁-█]+", text(found))
    assert set(found.collections) == set(found.topics)


def test_s12_a_narrow_terminal_has_no_drawing_and_cuts_names_but_no_figures(grown):
    found = status(grown)
    name, best = next(iter(found.collections.items()))
    found.topics |= {name * 9: 12_345}
    found.collections |= {name * 9: best}
    told = text(found, 44)
    assert re.search(rf"{name[:6]}\S+… +12,345 +{best.least:.2f} +{best.mean:.2f} +{best.most:.2f} ", told)
    assert not re.search("[▁-█]|over time", told)


def test_a_library_that_was_never_crawled_has_a_status(library):
    assert "never crawled yet" in text(status(library))


def test_f05_a_crawl_that_holds_the_library_is_seen_and_not_disturbed(library):
    with library.lock():
        assert "process" in status(library).crawling
        with pytest.raises(LibraryBusy), library.lock():
            pass
    assert status(library).crawling == ""


def test_notes_are_shown_without_control_characters(library):
    library.note("bad \x1b[2J news")
    assert "bad \\x1b[2J news" in text(status(library))


def test_f42_status_works_while_a_writer_is_in_the_middle(grown):
    before = status(grown).pages
    with closing(sqlite3.connect(grown.shard_path(0), isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM pages")
        assert status(grown).pages == before
        writer.execute("ROLLBACK")


def test_a_library_with_odd_signs_in_its_name_opens(tmp_path):
    library = LibraryFolder.create(
        tmp_path / "100% C#? ü", first_settings([Topic("x", ("https://a.test/",))], "adaptive")
    )
    assert status(library).pages == 0
