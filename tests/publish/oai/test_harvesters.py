"""Harvesters that others wrote take everything, by GET and POST, while the library grows (F46)."""

import re
import threading
import time
from urllib.request import urlopen

import pytest

from analecta.store.partition import Shard
from tests.publish.oai.growing import Growing

OLD, STEPS = 150, 50
HIDDEN = {f"old{n}" for n in range(100, 100 + STEPS, 5)}


def by_sickle(url, method, **span):
    """What is harvested: identifier -> title, or None where it is deleted."""
    sickle = pytest.importorskip("sickle")
    try:
        found = list(sickle.Sickle(url, http_method=method).ListRecords(metadataPrefix="oai_dc", **span))
    except sickle.oaiexceptions.NoRecordsMatch:
        return {}
    return {one.header.identifier: None if one.deleted else one.metadata["title"][0] for one in found}


def by_scythe(url, method, **span):
    """The same."""
    scythe = pytest.importorskip("oaipmh_scythe")
    with scythe.Scythe(url, http_config=scythe.HTTPConfig(http_method=method)) as client:
        try:
            found = list(
                client.list_records(
                    **{name.replace("from", "from_").replace("set", "set_"): v for name, v in span.items()}
                )
            )
        except scythe.NoRecordsMatch:
            return {}
    return {one.header.identifier: None if one.deleted else one.get_metadata()["title"][0] for one in found}


HARVESTS = [(by_sickle, "GET"), (by_sickle, "POST"), (by_scythe, "GET"), (by_scythe, "POST")]


def grow(made):
    """What a crawl does, in a thread of its own: pages come, change, and turn noindex."""
    made.shard = Shard(made.library.shard_path(0))
    for n in range(STEPS):
        made.add(f"new{n}", topic=2)
        made.set(f"old{n}", title=f"changed{n}")
        if n % 5 == 0:
            made.hide(f"old{100 + n}")
        time.sleep(0.004)
    made.shard.close()


@pytest.fixture
def url(tmp_path, served):
    """The records of a library that begins to grow now."""
    made = Growing(tmp_path / "lib")
    for n in range(OLD):
        made.add(f"old{n}")
    made.shard.close()
    address = served(made.library, time.time, page_size=10)
    thread = threading.Thread(target=grow, args=(made,))
    thread.start()
    yield address
    thread.join()


def date_of(url: str) -> str:
    with urlopen(f"{url}?verb=Identify") as answer:
        return re.search("<responseDate>(.*?)<", answer.read().decode())[1]


def titles(found):
    return sorted(title for title in found.values() if title is not None)


WANTED = sorted(
    [f"new{n}" for n in range(STEPS)] + [f"changed{n}" for n in range(STEPS)]
    + [name for n in range(STEPS, OLD) if (name := f"old{n}") not in HIDDEN]
)  # fmt: skip


@pytest.mark.parametrize(("harvest", "method"), HARVESTS)
def test_f46_nothing_is_missed_while_the_library_grows(url, harvest, method):
    since = date_of(url)
    copy = harvest(url, method)
    assert len(copy) >= OLD
    until = time.monotonic() + 60
    while titles(copy) != WANTED and time.monotonic() < until:
        before, since = since, date_of(url)
        copy |= harvest(url, method, **{"from": before})
    assert titles(copy) == WANTED
    assert sum(title is None for title in copy.values()) == len(HIDDEN)  # F35


@pytest.mark.parametrize(("harvest", "method"), HARVESTS[::3])
def test_a_set_is_harvested_alone_and_a_set_above_has_those_below(growing, now, served, harvest, method):
    for n in range(25):
        growing.add(f"page{n}", topic=n % 3)
    url = served(growing.library, now, page_size=3)
    science, roses = harvest(url, method, set="science"), harvest(url, method, set="roses")
    assert len(science) == 17
    assert science.keys() | roses.keys() == harvest(url, method).keys()
    assert not science.keys() & roses.keys()


def test_sickle_reads_what_the_library_says_of_itself(growing, now, served):
    sickle = pytest.importorskip("sickle").Sickle(served(growing.library, now))
    growing.add("page")
    about = sickle.Identify()
    assert (about.deletedRecord, about.granularity) == ("persistent", "YYYY-MM-DDThh:mm:ssZ")
    assert [one.setSpec for one in sickle.ListSets()] == ["science", "science:biology", "science:chemistry", "roses"]
    assert [one.metadataPrefix for one in sickle.ListMetadataFormats()] == ["oai_dc"]


def test_f37_hostile_titles_come_through_as_text(growing, now, served):
    title = '</dc:title><script>alert("1")</script>\x00\x1b\u202e&'
    id = growing.add("page", title=title)
    url = served(growing.library, now)
    assert by_sickle(url, "GET") == {
        f"oai:lib.analecta.invalid:{id % 2**64:016x}": '</dc:title><script>alert("1")</script>&'
    }
    with growing.library.snapshot() as snapshot:
        assert [item.title for item in snapshot.shown_pages()] == [title]
