import os
import shutil

import pytest

from analecta.errors import LibraryBusy
from analecta.publish.oai.sync import OaiUpdate, keeping
from analecta.settings.edit import first_settings
from analecta.settings.schema import Topic
from analecta.store import oai_records
from analecta.store.library import LibraryFolder
from analecta.store.sqlite import meta_value
from tests.making import target
from tests.publish.oai.growing import Now


def found(keeper, id):
    return oai_records.record(keeper.db, id)


def test_new_pages_get_records_with_their_topics_as_sets(growing, keeper):
    id = growing.add("a", topic=1)
    assert keeper.sync() == OaiUpdate(1, 1, 0)
    assert found(keeper, id).sets == ("science:chemistry",)
    assert "<dc:subject>Science / Chemistry</dc:subject>" in found(keeper, id).metadata


def test_where_nothing_was_written_there_is_no_look(growing, keeper):
    growing.add("a")
    keeper.sync()
    assert keeper.sync() is None
    growing.add("b")
    assert keeper.sync() == OaiUpdate(2, 1, 0)


def test_settings_that_were_edited_are_a_change(growing, keeper):
    growing.add("a")
    keeper.sync()
    path = growing.library.settings_path
    path.write_text(path.read_text() + "# edited\n")
    os.utime(path, ns=(1, 1))
    assert keeper.sync() == OaiUpdate(1, 0, 0)
    assert keeper.sync() is None


def test_a_page_that_only_grew_surer_is_no_change(growing, keeper):
    growing.add("a", confidence=0.5)
    keeper.sync()
    growing.set("a", confidence=0.9)
    assert keeper.sync() == OaiUpdate(1, 0, 0)


@pytest.mark.parametrize("values", [{"title": "b"}, {"topic": 1}, {"digest": "sha1:X"}, {"words": 7}, {"lang": "de"}])
def test_a_page_that_changed_is_stamped_anew(growing, keeper, now, values):
    id = growing.add("a")
    keeper.sync()
    before, now.at = found(keeper, id), now.at + 5
    growing.set("a", **values)
    assert keeper.sync() == OaiUpdate(1, 1, 0)
    assert found(keeper, id).stamp == before.stamp + 5
    assert found(keeper, id).n > before.n


@pytest.mark.parametrize("values", [{"flags": 1}, {"duplicate_of": 7}, {"topic": -1}, {"flags": 8}, {"status": 404}])
def test_f35_a_page_that_is_not_to_be_shown_becomes_a_deleted_record(growing, keeper, now, values):
    id = growing.add("a")
    keeper.sync()
    now.at += 5
    growing.set("a", **values)
    assert keeper.sync() == OaiUpdate(0, 0, 1)
    assert (found(keeper, id).metadata, found(keeper, id).sets) == (None, ("science:biology",))
    assert found(keeper, id).stamp == int(now.at)


def test_f35_a_page_that_said_noindex_from_the_first_has_no_record(growing, keeper):
    id = growing.add("a", flags=1)
    keeper.sync()
    assert found(keeper, id) is None


def test_a_deleted_record_comes_back_with_its_page(growing, keeper):
    id = growing.add("a")
    keeper.sync()
    growing.hide("a")
    keeper.sync()
    growing.set("a", flags=0)
    assert keeper.sync() == OaiUpdate(1, 1, 0)
    assert found(keeper, id).metadata


def test_records_and_deletions_outlast_the_server(growing, now):
    id, other = growing.add("a"), growing.add("b")
    with keeping(growing.library, now, "r.test") as keeper:
        keeper.sync()
        growing.hide("a")
        keeper.sync()
        before = found(keeper, other)
    with keeping(growing.library, now, "else.test") as keeper:
        assert keeper.sync() == OaiUpdate(1, 0, 0)
        assert found(keeper, id).metadata is None
        assert (found(keeper, other), meta_value(keeper.db, "repository")) == (before, "r.test")


def test_f07_a_clock_that_was_set_back_gives_no_earlier_stamps(growing, now):
    with keeping(growing.library, now, "r.test") as keeper:
        now.at += 100
        told = keeper.clock.date()
    growing.add("a")
    with keeping(growing.library, Now(now.at - 86_400), "r.test") as keeper:
        keeper.sync()
        assert keeper.db.execute("SELECT stamp FROM records").fetchall() == [(told,)]


def test_a_library_that_was_never_crawled_has_no_records_and_may_be_crawled_later(tmp_path, now):
    library = LibraryFolder.create(tmp_path / "new", "")
    with keeping(library, now, "r.test") as keeper:
        assert keeper.sync() == OaiUpdate(0, 0, 0)
        library.topic_names(("Roses",))
        keeper.sync()
        assert oai_records.sets(keeper.db) == [("roses", "Roses")]


def test_f05_a_second_server_is_refused(growing, keeper, now):
    with pytest.raises(LibraryBusy, match="already served"), keeping(growing.library, now, "r.test"):
        pass


def test_what_is_written_during_a_look_is_found_by_the_next(growing, keeper, monkeypatch):
    growing.add("a")
    late = iter(["b"])
    monkeypatch.setattr(keeper, "_forget", lambda gone: len([growing.add(name) for name in late]))
    keeper.sync()
    monkeypatch.undo()
    assert keeper.sync() == OaiUpdate(2, 1, 0)


def test_f46_a_crawled_library_has_a_record_for_every_page_that_may_be_shown(grown, tmp_path, now):
    library = LibraryFolder(shutil.copytree(grown.folder, tmp_path / "lib"))
    with library.snapshot() as snapshot, keeping(library, now, "r.test") as keeper:
        wanted = {item.id for item in snapshot.shown_pages()}
        assert keeper.sync().records == len(wanted) > 50
        assert {id for (id,) in keeper.db.execute("SELECT id FROM records")} == wanted


def test_a_topic_that_is_gone_is_no_set_once_no_record_is_in_it(growing, keeper):
    growing.library.settings_path.write_text(first_settings([Topic("Roses", ("http://r.test/",))], "adaptive"))
    growing.add("a", topic=0)
    keeper.sync()
    assert [spec for spec, _ in oai_records.sets(keeper.db)] == ["science", "science:biology", "roses"]
    growing.set("a", topic=2)
    keeper.sync()
    assert [spec for spec, _ in oai_records.sets(keeper.db)] == ["roses"]
    assert found(keeper, target("http://h.test/a").id).sets == ("roses",)
