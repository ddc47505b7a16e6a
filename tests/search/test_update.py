import fcntl
import os
import shutil

import pytest
import tantivy

from analecta.errors import LibraryBusy, ResourceError, UsageError
from analecta.model import NO_TOPIC
from analecta.search import SearchIndex, SearchRequest, opened
from analecta.search import update as kept_beside
from analecta.search.update import folder_of, in_step, read_kept, source_of, sync
from analecta.store.library import LibraryFolder
from analecta.store.schema import NOINDEX, SOFT404

QUERIES = ("words", "page", "the", "a OR b", "*", "site:test", '"of the"')


def answers(library):
    search = SearchIndex(library)
    return [
        (found.total, [(hit.page.id, round(hit.placed.score, 6)) for hit in found.hits], found.facets)
        for found in (search.find(SearchRequest(query, top=20)) for query in QUERIES)
    ]


def done(synced):
    return synced.pages, synced.changed, synced.deleted


def segments(library):
    return sorted((folder_of(library) / "words").glob("*.idx"))


def aged(library):
    for path in [*library.folder.rglob("*.db*"), library.settings_path]:
        os.utime(path, (1e9, 1e9))


@pytest.fixture(scope="module")
def indexed(grown, tmp_path_factory):
    library = LibraryFolder(shutil.copytree(grown.folder, tmp_path_factory.mktemp("indexed") / "lib"))
    sync(library)
    return library


@pytest.fixture
def copied(indexed, tmp_path):
    return LibraryFolder(shutil.copytree(indexed.folder, tmp_path / "lib"))


def test_f45_every_page_that_may_be_shown_is_in_the_index(indexed):
    with indexed.snapshot() as snapshot:
        wanted, others = (
            {item.id for item in snapshot.shown_pages()},
            {item.id for item in snapshot.shown_pages(NO_TOPIC)},
        )
    found = [SearchIndex(indexed).find(SearchRequest("*", top=1000, every=every)).hits for every in (False, True)]
    assert [{hit.page.id for hit in hits} for hits in found] == [wanted, wanted | others]
    assert min(len(wanted), len(others)) > 20


def cut_off(folder):
    path = next(folder.glob("words/*.idx"))
    path.write_bytes(path.read_bytes()[:100])


def flip(folder):
    path = max(folder.glob("words/*.pos"), key=lambda path: path.stat().st_size)
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 0xFF
    path.write_bytes(body)
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (shutil.rmtree, "there was none"),
        (lambda folder: (folder / "kept.json").unlink(), "it was not finished"),
        (lambda folder: (folder / "kept.json").write_text("{"), "it was not finished"),
        (lambda folder: (folder / "words" / "meta.json").unlink(), "it was damaged"),
        (lambda folder: (folder / "words" / "meta.json").write_text("{}"), "it was damaged"),
        (lambda folder: (folder / "standing.npz").write_bytes(b"PK"), "it was damaged"),
        (cut_off, "it was damaged"),
        (flip, "it was damaged"),
    ],
)
def test_f45_an_index_deleted_or_damaged_is_made_anew_with_the_same_results(copied, harm, why):
    before = answers(copied)
    harm(folder_of(copied))
    assert sync(copied).rebuilt == why
    assert answers(copied) == before


def test_f45_an_index_of_another_version_is_made_anew(copied, monkeypatch):
    before = answers(copied)
    monkeypatch.setattr(kept_beside, "_VERSION", "next")
    assert sync(copied).rebuilt == "it was of another version"
    assert answers(copied) == before


def test_f45_an_index_that_cannot_be_opened_is_made_anew_when_asked(copied, monkeypatch):
    before = answers(copied)
    monkeypatch.setattr("analecta.search.in_step", lambda *asked, **more: None)
    shutil.rmtree(folder_of(copied) / "words")
    assert opened(copied).find(SearchRequest("*")).total == before[4][0]


def test_f45_a_copy_of_a_library_needs_no_new_index(copied):
    before = segments(copied)
    assert sync(copied).rebuilt == ""
    assert segments(copied) == before


def test_f45_an_index_that_grew_in_steps_answers_as_one_made_at_once(pages):
    for n in range(60):
        pages.add(f"page {n}", f"some words of page {n}, " + "words " * (n % 7))
        if n % 9 == 0:
            sync(pages.library)
    assert done(sync(pages.library)) == (60, 5, 0)
    before = answers(pages.library)
    assert sync(pages.library, rebuild=True).rebuilt == "as asked"
    assert answers(pages.library) == before


def test_new_changed_and_hidden_pages_are_taken_over(pages):
    for n in range(60):
        pages.add(f"page {n}", "words")
    assert sync(pages.library).rebuilt == "there was none"
    pages.add("late", "words")
    pages.set("page 1", title="zebra")
    pages.set("page 2", flags=1)
    assert done(sync(pages.library)) == (60, 2, 1)
    assert (pages.titles("zebra"), pages.find("*").total, pages.titles("title:late")) == (["zebra"], 60, ["late"])


@pytest.mark.parametrize(
    "values", [{"title": "b"}, {"topic": 1}, {"topic": -1}, {"digest": "X"}, {"words": 7}, {"date": "2020"}]
)
def test_a_page_that_changed_is_indexed_again(pages, values):
    pages.add("a")
    sync(pages.library)
    pages.set("a", **values)
    assert sync(pages.library).changed == 1


def test_a_page_that_only_grew_surer_is_not_indexed_again_but_ranked_so(pages):
    pages.add("a", "words", confidence=0.5)
    sync(pages.library)
    pages.set("a", confidence=0.9)
    assert done(sync(pages.library)) == (1, 0, 0)
    assert pages.find("words").hits[0].placed.confidence == 0.9


def test_a_page_that_others_begin_to_link_to_is_found_by_their_words(pages):
    pages.add("a", "words")
    sync(pages.library)
    pages.add("b", "words", links={"a": "zebra"})
    assert sync(pages.library).changed == 2
    assert pages.titles("zebra") == ["a"]


@pytest.mark.parametrize("flag", [NOINDEX, SOFT404])
def test_f35_the_words_of_links_on_pages_that_are_not_shown_are_not_searched(pages, flag):
    pages.add("a", "words")
    pages.add("b", "words", links={"a": "zebra"}, flags=flag)
    assert pages.titles("zebra") == []


def test_where_much_has_changed_all_is_made_anew(pages):
    for n in range(10):
        pages.add(f"page {n}", "words")
    sync(pages.library)
    for n in range(3):
        pages.set(f"page {n}", title="other")
    assert sync(pages.library).rebuilt == "much has changed"


def test_c7_communities_that_became_others_are_taken_over(village):
    assert village.find("community:bees.test").total == 2
    village.communities("stars.test")
    assert sync(village.library).changed == 2
    assert village.find("community:moon.test").total == 2
    with pytest.raises(UsageError, match=r"no community 'bees\.test'"):
        village.find("community:bees.test")


def test_c7_other_settings_of_sites_are_a_change(village):
    aged(village.library)
    assert done(sync(village.library)) == (5, 5, 0)
    with village.library.settings_path.open("a") as settings:
        settings.write('[sites]\nby = "domain"\n')
    os.utime(village.library.settings_path, (2e9, 2e9))
    assert read_kept(village.library).source != source_of(village.library)


def test_c7_an_index_that_is_up_to_date_finds_no_communities_again(village, monkeypatch):
    aged(village.library)
    sync(village.library)
    monkeypatch.setattr("analecta.search.update.index_communities", None)
    assert opened(village.library).find(SearchRequest("bees", community="1")).total == 2


@pytest.mark.parametrize("name", ["meta.json", "*.store"])
def test_f45_an_index_of_communities_that_was_damaged_is_made_anew(village, name):
    before = village.find("bees", inside=True)
    next(folder_of(village.library).glob(f"communities/{name}")).write_bytes(b"x")
    assert sync(village.library).rebuilt == "it was damaged"
    assert village.find("bees", inside=True) == before


def test_f03_on_a_full_disk_the_index_that_there_is_answers_and_none_is_made(pages, monkeypatch):
    pages.add("a", "words")
    monkeypatch.setattr(tantivy, "Index", _full)
    with pytest.raises(ResourceError, match="cannot be written: no space"):
        sync(pages.library)
    monkeypatch.undo()
    aged(pages.library)
    sync(pages.library)
    pages.add("b", "words")
    monkeypatch.setattr("analecta.search.update.full_disk", lambda folder: "the disk is full")
    assert opened(pages.library).find(SearchRequest("words")).total == 1


def _full(*_, **__):
    raise ValueError("no space")


def test_where_nothing_was_written_there_is_no_look(pages, monkeypatch):
    pages.add("a", "words")
    aged(pages.library)
    sync(pages.library)
    monkeypatch.setattr("analecta.store.snapshot.Snapshot.shown_pages", None)
    assert done(sync(pages.library)) == (1, 0, 0)


def test_f45_an_update_that_was_cut_short_does_not_count(pages, monkeypatch):
    for n in range(30):
        pages.add(f"page {n}", "words")
    sync(pages.library)
    pages.add("late", "words")
    monkeypatch.setattr("analecta.search.update.keep", None)
    with pytest.raises(TypeError):
        sync(pages.library)
    monkeypatch.undo()
    assert sync(pages.library).rebuilt == "it was not finished"
    assert pages.find("*").total == 31


def test_f05_there_is_one_writer_and_readers_do_not_wait(pages):
    pages.add("a", "words")
    sync(pages.library)
    pages.add("b", "words")
    with (pages.library.folder / "index.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LibraryBusy, match="another process"):
            sync(pages.library)
        assert opened(pages.library).find(SearchRequest("words")).total == 1


def test_a_library_that_is_being_written_is_not_looked_at_all_the_time(pages, monkeypatch):
    pages.add("a", "words")
    sync(pages.library)
    monkeypatch.setattr("analecta.search.update.SHARE", 1e9)
    pages.add("b", "words")
    in_step(pages.library)
    assert read_kept(pages.library).pages == 1


def test_a_library_that_was_never_crawled_has_an_empty_index(tmp_path):
    library = LibraryFolder.create(tmp_path / "new", "")
    assert done(sync(library)) == (0, 0, 0)
    assert SearchIndex(library).find(SearchRequest("words")).total == 0
