"""Nothing is lost or given twice, whatever happens between the pages of a harvest (F46; the argument: docs/oai.md)."""

import tempfile
from pathlib import Path

from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from analecta.store import oai_records
from tests.publish.oai.growing import DC, bare, change, code, date, deleted, given, token

IDS = st.integers(1, 9)
MOST_PAGES = 50  # of a list: more than there can be records
STEP = st.one_of(
    st.tuples(st.just("put"), IDS, st.sampled_from("xyz")),
    st.tuples(st.just("delete"), IDS),
    st.tuples(st.just("tick"), st.integers(-3, 2)),
    st.tuples(st.just("page")),
)


class Harvester:
    """Holds what a harvester would hold, with how often it was given each record since the list began."""

    def __init__(self, few) -> None:
        self.few, self.copy, self.times, self.onward = few, {}, {}, ""

    def begin(self, **span: str) -> None:
        answer = self.few.ask("ListRecords", **DC, **span)
        self.began, self.times = date(answer), {}
        self._take(answer)

    def page(self) -> None:
        if self.onward:
            self._take(self.few.ask("ListRecords", resumptionToken=self.onward))

    def finish(self) -> None:
        for _ in range(MOST_PAGES):
            self.page()
        assert self.onward == "", "the list does not end"

    def _take(self, answer) -> None:
        assert code(answer) in ("", "noRecordsMatch")
        self.onward = token(answer)
        for name, (words, gone, _) in given(answer).items():
            self.copy[name] = None if gone else words
            self.times[name] = self.times.get(name, 0) + 1


def act(few, truth: dict, step: tuple) -> str:
    """Do one thing to the records; the name of the record it happened to."""
    match step:
        case ("put", id, words):
            few.put(change(id, words))
            truth[name := f"oai:r.test:{id:016x}"] = words
            return name
        case ("delete", id) if truth.get(name := f"oai:r.test:{id:016x}"):
            few.put(deleted(id))
            truth[name] = None
            return name
        case ("tick", seconds):
            few.now.at += seconds
    return ""


@settings(max_examples=80, deadline=None)
@drawn(st.lists(STEP, max_size=12), st.lists(STEP, max_size=25), st.integers(1, 4))
def test_f46_a_harvest_and_the_next_one_have_all_and_what_did_not_change_once(before, meanwhile, size):
    with tempfile.TemporaryDirectory() as folder, bare(Path(folder), size) as few:
        truth: dict[str, str | None] = {}
        for step in before:
            act(few, truth, step)
        harvester, there, changed = Harvester(few), set(truth), set()
        harvester.begin()
        for step in meanwhile:
            harvester.page() if step == ("page",) else changed.add(act(few, truth, step))
        harvester.finish()
        assert all(harvester.times.get(name) == 1 for name in there - changed)
        assert there <= harvester.copy.keys()
        harvester.begin(from_=harvester.began)
        harvester.finish()
        assert harvester.copy == truth


@settings(max_examples=30, deadline=None)
@drawn(st.lists(STEP, max_size=8), st.lists(STEP, max_size=8), st.integers(0, 3))
def test_f46_a_harvest_that_begins_while_changes_are_being_written_loses_none(before, written, seconds):
    with tempfile.TemporaryDirectory() as folder, bare(Path(folder), 3) as few:
        truth: dict[str, str | None] = {}
        for step in before:
            act(few, truth, step)
        changes = {step[1]: change(step[1], step[2]) for step in written if step[0] == "put"}
        harvester = Harvester(few)
        with few.clock.stamping() as stamp:
            few.now.at += seconds
            harvester.begin()  # sees nothing of it yet
            oai_records.put(few.db, changes.values(), stamp)
        harvester.finish()
        harvester.begin(from_=harvester.began)
        harvester.finish()
        truth |= {f"oai:r.test:{id:016x}": step[2] for step in written if step[0] == "put" for id in [step[1]]}
        assert harvester.copy == truth


def test_f46_a_list_ends_however_fast_the_library_grows(few):
    few.put(*map(change, range(1, 6)))
    harvester = Harvester(few)
    harvester.begin()
    for id in range(100, 140, 10):
        few.put(change(3, f"changed at {id}"), *map(change, range(id, id + 10)))
        harvester.page()
    assert harvester.onward == ""
    assert len(harvester.copy) == 5


@settings(max_examples=30, deadline=None)
@drawn(st.lists(STEP, max_size=30), st.sampled_from(["a", "a:b"]))
def test_numbers_and_dates_have_one_order_and_members_are_those_of_the_records(steps, spec):
    with tempfile.TemporaryDirectory() as folder, bare(Path(folder)) as few:
        for step in steps:
            act(few, {}, step)
        rows = few.db.execute("SELECT n, stamp FROM records ORDER BY n").fetchall()
        assert [stamp for _, stamp in rows] == sorted(stamp for _, stamp in rows)
        members = few.db.execute("SELECT n FROM members WHERE spec = ? ORDER BY n", (spec,)).fetchall()
        assert members == [(n,) for n, _ in rows]
