import io
import shutil
import sqlite3
import zlib
from contextlib import closing

import pytest
from rich.console import Console

from analecta.cli.explain import tell
from analecta.store.library import LibraryFolder
from analecta.views.collections import collections
from analecta.views.explain import explain
from tests.judge.test_page_kinds import TEXTS


@pytest.fixture
def library(grown, tmp_path):
    shutil.copytree(grown.folder, tmp_path / "lib")
    return LibraryFolder(tmp_path / "lib")


def best(library, count):
    return collections(library, library.topic_names()[:1], count)[0].items


def rewrite(library, url, text):
    """Let a page say something else."""
    for number in range(library.partitions):
        with closing(sqlite3.connect(library.shard_path(number))) as db, db:
            query = "UPDATE pages SET title = 'Another', text = ? WHERE id = (SELECT id FROM urls WHERE url = ?)"
            db.execute(query, (zlib.compress(text.encode()), url))


@pytest.mark.parametrize("kind", ["course", "call", "cv", "shop"])
def test_s15_a_page_of_a_poor_kind_is_no_longer_among_the_best(library, kind):
    before = best(library, 3)
    rewrite(library, before[0].item.url, TEXTS[kind])
    after = best(library, 3)
    assert before[0].item.url not in [page.item.url for page in after]
    assert [page.kind for page in before + after] == [""] * 6


def test_s15_where_there_is_nothing_else_poor_pages_come_last_and_say_their_kind(library):
    first = best(library, 1)[0]
    rewrite(library, first.item.url, TEXTS["shop"])
    last = best(library, 1000)[-1]
    assert (last.item.url, last.kind) == (first.item.url, "shop")
    assert last.confidence == first.confidence, "it is as much on topic as before"


def test_s15_explain_says_of_which_kind_a_page_is(library):
    url = best(library, 1)[0].item.url
    assert explain(library, url).page.kind == ""
    rewrite(library, url, TEXTS["call"])
    out = io.StringIO()
    Console(file=out, width=200).print(tell(explain(library, url)))
    assert "it reads like a call for papers" in out.getvalue()
