"""What a person says of pages: written down, folded, learnt from; everything judged again, and the way back."""

import contextlib
import re
import shutil
import subprocess
import sys
import threading
import time

import msgspec
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from analecta.crawl.run import Crawl
from analecta.errors import LibraryBusy, ResourceError, UsageError
from analecta.judge import Unjudged
from analecta.learning import retrain as work
from analecta.learning import trainer
from analecta.learning.examples import complete_mark, standing
from analecta.learning.reclassify import TrainedModel, VerdictRow, changes, judged, load, save, stored
from analecta.learning.trainer import Trainer
from analecta.model import NO_TOPIC, UNLABELLED, Verdict
from analecta.settings.load import load as settings_of
from analecta.settings.schema import TrainingSettings
from analecta.store.library import LibraryFolder
from analecta.store.library_db import BAD, DROP, GOOD, Mark, lesson_wanted, mark, said, say, take_back
from analecta.store.snapshot import Snapshot
from tests.making import shard_at

BEES, STARS = 0, 1
TOPICS = ["bees", "stars"]


def word(says, topic="", page=7, away=None):
    return Mark(page, f"http://h.test/{page}", says, topic, says == BAD if away is None else away)


def stands(*words):
    return standing(words, TOPICS, TOPICS)[7]


# --- what words come to ----------------------------------------------------------------------------------------------


def test_b18_the_last_word_about_a_page_counts():
    assert stands(word(GOOD, "bees"), word(GOOD, "stars")).example == STARS
    assert stands(word(GOOD, "bees"), word(BAD, "bees")).example == NO_TOPIC
    assert stands(word(BAD), word(GOOD, "bees")).example == BEES
    assert stands(word(GOOD, "bees"), word(DROP)).example is None


def test_b18_not_of_one_topic_leaves_the_others_alone():
    one = stands(word(GOOD, "stars"), word(BAD, "bees"))
    assert one.example == STARS
    claimed = stands(word(BAD, "bees", away=False))
    assert claimed.example is None, "nothing is learnt from a page that another topic claims"
    both = Verdict(BEES, 0.9, ((BEES, 0.9), (STARS, 0.6)))
    assert claimed.corrected(both) == Verdict(STARS, 0.6, ((STARS, 0.6),))


def test_b18_a_person_has_the_last_word_about_a_verdict():
    wrong = Verdict(STARS, 0.9, ((STARS, 0.9),))
    assert stands(word(GOOD, "bees")).corrected(wrong).topic == BEES
    assert stands(word(BAD)).corrected(wrong) == Verdict(NO_TOPIC, 0.9)
    assert stands(word(DROP)).corrected(wrong) == wrong


@given(st.lists(st.tuples(st.sampled_from([GOOD, BAD, DROP]), st.sampled_from(["", "bees", "stars"]))))
def test_b18_whatever_was_said_a_page_is_never_of_a_topic_that_it_is_not_of(pairs):
    words = [word(says, topic) for says, topic in pairs if topic or says != GOOD]
    verdict = Verdict(BEES, 0.9, ((BEES, 0.9), (STARS, 0.6)))
    for one in standing(words, TOPICS, TOPICS).values():
        assert not {topic for topic, _ in one.corrected(verdict).topics} & one.never
        assert one.corrected(one.corrected(verdict)) == one.corrected(verdict)


def test_b18_words_about_a_topic_that_is_gone_are_about_the_one_above_or_nothing():
    ever = [*TOPICS, "stars / dwarfs"]
    assert standing([word(GOOD, "stars / dwarfs")], ever, ever)[7].example == 2
    assert standing([word(GOOD, "stars / dwarfs")], ever, TOPICS)[7].example == STARS
    assert standing([word(GOOD, "whales")], ever, TOPICS) == {}


def test_b18_good_of_which_topic_is_asked_where_it_is_not_clear():
    assert complete_mark(word(GOOD), ["stars"], TOPICS).topic == "stars"
    assert complete_mark(word(GOOD), [], ["bees"]).topic == "bees"
    with pytest.raises(UsageError, match="--topic, one of: bees, stars"):
        complete_mark(word(GOOD), ["whales"], TOPICS)
    assert complete_mark(word(BAD, "stars"), ["stars"], TOPICS).away
    assert not complete_mark(word(BAD, "bees"), ["stars"], TOPICS).away


# --- in the library --------------------------------------------------------------------------------------------------


@pytest.fixture
def lib(grown, tmp_path):
    shutil.copytree(grown.folder, tmp_path / "lib")
    return LibraryFolder(tmp_path / "lib")


def pages(library, where):
    """Pages that stand for themselves: id, URL, topic."""
    query = "SELECT u.id, u.url, p.topic FROM pages p JOIN urls u ON u.page = p.seq WHERE p.duplicate_of IS NULL"
    with library.shards() as shards:
        return [row for shard in shards for row in shard.execute(f"{query} AND {where} ORDER BY u.id")]


def retrained(library, **more):
    return work.retrain(library, settings_of(library.settings_path), **more)


def undone(library):
    return work.undo(library, settings_of(library.settings_path))


class Learner(Unjudged):
    """Takes down what it is to learn from."""

    needs = frozenset({"met"})

    def fit(self, examples, topics):
        self.learned = list(examples)
        return self


def teacher_of(library):
    settings = msgspec.structs.replace(settings_of(library.settings_path), learn=TrainingSettings())
    teacher = Trainer(library, settings, library.topic_names())
    teacher.judge = Learner()
    teacher.load = lambda _: teacher.judge
    return teacher


def tell(library, says, topic="", count=3, where="p.topic = 0 AND u.priority < 1"):
    """Say so of some pages."""
    some = [Mark(id, url, says, topic, says == BAD) for id, url, _ in pages(library, where)[:count]]
    return say(library, some)


def test_b18_what_was_said_last_is_taken_back_first(lib):
    assert (said(lib), take_back(lib)) == ([], [])
    first, second = tell(lib, GOOD, "x", 1), tell(lib, BAD, "", 3)
    assert said(lib) == first + second
    assert [take_back(lib), said(lib)] == [second, first]
    assert [take_back(lib), said(lib)] == [first, []]


def test_a_library_from_before_texts_could_be_trimmed_goes_on(lib):
    first = tell(lib, BAD, count=2)
    with lib.database() as db:
        db.execute("ALTER TABLE feedback DROP COLUMN text")
    assert said(lib) == first
    assert said(lib) == first, "reading changes nothing"
    second = tell(lib, GOOD, "x", 1)
    assert said(lib) == first + second


def test_b18_good_pages_are_examples_bad_ones_of_others_and_dropped_ones_none(lib):
    topics = lib.topic_names()
    good, bad = tell(lib, GOOD, topics[1], 2)[0], tell(lib, BAD, "", 1, "p.topic = 1 AND u.priority < 1")[0]
    seed = tell(lib, DROP, "", 1, "u.priority >= 1e6")[0]
    teacher = teacher_of(lib)
    learnt = {example.url: example.topic for example in teacher.given()}
    assert (learnt[good.url], learnt[bad.url], seed.url in learnt) == (1, NO_TOPIC, False)
    teacher.again("")
    met = {example.url for example in teacher.judge.learned if example.topic == UNLABELLED}
    assert met
    assert not met & {good.url, bad.url, seed.url}


def test_b10_a_page_that_was_trimmed_is_learnt_from_by_what_is_left(lib):
    id, url, _ = pages(lib, "u.priority >= 1e6 AND p.topic = 0")[0]
    whole = next(example.text for example in teacher_of(lib).given() if example.url == url)
    before = mark(say(lib, [Mark(id, url, GOOD, lib.topic_names()[0])]))
    assert mark(say(lib, [Mark(id, url, GOOD, lib.topic_names()[0], text="only this")])) != before
    assert [example.text for example in teacher_of(lib).given() if example.url == url] == ["only this"]
    assert take_back(lib)[0].text == "only this"
    assert [example.text for example in teacher_of(lib).given() if example.url == url] == [whole]


def test_b18_what_a_person_said_is_never_doubted(lib, monkeypatch):
    seeds = pages(lib, "u.priority >= 1e6 AND p.topic = 0")
    monkeypatch.setattr(trainer, "doubtful", lambda examples, met: {seeds[0][1]: 1, seeds[1][1]: 1})
    say(lib, [Mark(*seeds[0][:2], GOOD, lib.topic_names()[0])])
    teacher = teacher_of(lib)
    teacher.first()
    weights = {example.url: example.weight for example in teacher.judge.learned}
    assert (weights[seeds[0][1]], weights[seeds[1][1]]) == (1.0, 0.2)


def test_b18_everything_stored_is_judged_by_the_new_model(lib):
    bad, good = tell(lib, BAD, count=4), tell(lib, GOOD, lib.topic_names()[1], 2, "p.topic < 0 AND p.flags = 0")
    done = retrained(lib)
    rows = {row.id: row for shard in stored(lib) for row in shard}
    assert models(lib) == {done.model} == {lib.get("model")}
    assert {rows[one.page].topic for one in bad} == {NO_TOPIC}
    assert {rows[one.page].topic for one in good} == {1}
    assert {one.page for one in (*bad, *good)} <= {change.id for change in done.changes}
    assert "learnt anew" in lib.notes()[-1][1]


def test_b18_undo_restores_every_row_the_model_and_what_it_was_taught(lib):
    before = stored(lib), lib.get("model"), lib.get("taught")
    tell(lib, BAD, count=5)
    retrained(lib)
    middle = stored(lib), lib.get("model"), lib.get("taught")
    tell(lib, GOOD, lib.topic_names()[0], 5, "p.topic < 0")
    retrained(lib)
    for wanted in middle, before:
        undone(lib)
        assert (stored(lib), lib.get("model"), lib.get("taught")) == wanted
    assert list((lib.folder / "undo").iterdir()) == []
    with pytest.raises(UsageError, match="no retraining to undo"):
        undone(lib)


def test_b18_a_retraining_that_changes_nothing_is_no_step_of_its_own(lib):
    before = stored(lib)
    tell(lib, BAD)
    retrained(lib)
    for _ in range(4):  # what was learnt changes what is learnt from; then it stands
        if not retrained(lib).changes:
            break
    steps = work.can_undo(lib)
    assert retrained(lib).changes == []
    assert work.can_undo(lib) == steps
    for _ in range(steps):
        undone(lib)
    assert stored(lib) == before


def test_b18_words_that_leave_the_model_as_it_is_are_heard_all_the_same(lib):
    retrained(lib)
    id, url, _ = pages(lib, "u.priority >= 1e6 AND p.topic = 0")[0]
    with shard_at(shard_of(lib, id)) as shard:
        shard.db.execute("UPDATE pages SET topic = -1, confidence = 0.4 WHERE id = ?", (id,))
        shard.commit()
    say(lib, [Mark(id, url, GOOD, lib.topic_names()[0])])
    assert id in {one.id for one in retrained(lib, dry=True).changes}
    retrained(lib)
    assert {row.id: row.topic for rows in stored(lib) for row in rows}[id] == 0


def test_b18_a_retraining_is_not_undone_over_other_topics(lib):
    tell(lib, BAD)
    retrained(lib)
    lib.topic_names(("new",))
    with pytest.raises(UsageError, match="the topics have changed"):
        undone(lib)


def test_b18_a_dry_run_tells_the_same_and_changes_nothing(lib):
    tell(lib, BAD, count=5)
    before = stored(lib), lib.get("model"), sorted(path.name for path in lib.models.iterdir())
    told = retrained(lib, dry=True)
    assert (stored(lib), lib.get("model"), sorted(path.name for path in lib.models.iterdir())) == before
    done = retrained(lib)
    assert (told.model, told.changes) == (done.model, done.changes)


KILLED = """
import os, sys
from pathlib import Path
from analecta.learning import retrain as work
from analecta.settings.load import load
from analecta.store.library import LibraryFolder

def killed(*_):
    os.kill(os.getpid(), 9)

library = LibraryFolder(Path(sys.argv[1]))
(work.undo if sys.argv[2] else work.retrain)(library, load(library.settings_path), doing=killed)
"""


def killed(library, undo=""):
    """Kill a retraining, or its undoing, after the first batch."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(library.folder), undo])
    assert done.returncode == -9
    assert library.get("reclassifying") is not None


def models(library):
    return {row.model for shard in stored(library) for row in shard}


def test_b18_a_retraining_that_was_killed_is_finished_by_whoever_comes_next(lib):
    tell(lib, BAD, count=5)
    whole = retrained(lib, dry=True)
    killed(lib)
    assert len(models(lib)) > 1, "some pages are judged by the new model, some by the old"
    with lib.lock():
        work.finish(lib, settings_of(lib.settings_path))
    assert models(lib) == {whole.model}
    assert lib.get("reclassifying") is None


def test_b18_an_undoing_that_was_killed_is_finished_by_whoever_comes_next(lib):
    before = stored(lib)
    tell(lib, BAD, count=5)
    retrained(lib)
    killed(lib, "undo")
    with lib.lock():
        work.finish(lib, settings_of(lib.settings_path))
    assert stored(lib) == before


def test_b18_two_processes_say_what_one_says(lib):
    paths = [lib.shard_path(n) for n in range(lib.partitions)]
    name = retrained(lib).model
    with shard_at(paths[0]) as shard:
        shard.db.execute("UPDATE pages SET model = ''")
        shard.commit()
    model = TrainedModel(str(lib.models), name, "profile")
    assert list(judged(paths, model, {}, 1)) == list(judged(paths, model, {}, 2))


def test_b18_a_document_without_text_goes_with_the_page_that_links_to_it(lib):
    parent = pages(lib, "p.topic = 0 AND u.priority < 1")[0][0]
    with shard_at(shard_of(lib, parent)) as shard:
        other = "SELECT seq, id FROM pages WHERE topic >= 0 AND flags = 0 AND id != ? LIMIT 1"
        seq, id = shard.db.execute(other, (parent,)).fetchone()
        shard.db.execute("UPDATE pages SET text = NULL, mime = 'application/pdf', topic = 1 WHERE seq = ?", (seq,))
        shard.db.execute("UPDATE urls SET parent = ? WHERE page = ?", (parent, seq))
        shard.commit()
    retrained(lib)
    rows = {row.id: row for shard in stored(lib) for row in shard}
    assert rows[id][2:] == rows[parent][2:]


def shard_of(library, id):
    query = "SELECT 1 FROM urls WHERE id = ?"
    with library.shards() as shards:
        return library.shard_path(next(n for n, one in enumerate(shards) if one.execute(query, (id,)).fetchone()))


def test_b18_kept_verdicts_that_are_damaged_are_said_so(tmp_path):
    rows = [[VerdictRow(1, 7, -1, None, None, ""), VerdictRow(2, -8, 0, 0.123456789, b"x", "m")], []]
    save(tmp_path / "undo" / "one.zst", rows)
    assert load(tmp_path / "undo" / "one.zst") == rows
    (tmp_path / "undo" / "one.zst").write_bytes(b"nothing")
    with pytest.raises(ResourceError, match="cannot be read"):
        load(tmp_path / "undo" / "one.zst")


def test_b18_what_cannot_be_taught_is_said(lib):
    tell(lib, DROP, count=100, where="u.priority >= 1e6")
    with pytest.raises(UsageError, match="no example of any topic is left"):
        retrained(lib)
    assert changes(lib, stored(lib), stored(lib)) == []


# --- pages by their addresses ----------------------------------------------------------------------------------------


def test_b18_a_page_is_found_by_any_form_of_its_address_and_by_what_redirects_to_it(lib):
    id, url, _ = pages(lib, "p.topic = 0")[0]
    query = "SELECT url FROM urls WHERE state = 5 AND reason LIKE 'http-3%' AND elsewhere IN (SELECT id FROM pages)"
    with lib.shards() as shards:
        for form in url, url.removeprefix("http://"), url.replace("http:", "HTTPS:") + "#top":
            assert Snapshot(shards).find_page(form).id == id
        moved = [row[0] for shard in shards for row in shard.execute(query)]
        assert all(Snapshot(shards).find_page(one).url != one for one in moved)
        assert moved


def test_b18_of_what_is_no_page_the_nearest_is_named(lib):
    _, url, _ = pages(lib, "p.topic = 0")[0]
    with lib.shards() as shards:
        with pytest.raises(UsageError, match=re.escape(f"did you mean {url} ")):
            Snapshot(shards).find_page(url + "x")
        with pytest.raises(UsageError, match="nor is anything like it"):
            Snapshot(shards).find_page("https://elsewhere.example/")
        with pytest.raises(UsageError, match="no address of a page"):
            Snapshot(shards).find_page("mailto:me@example.org")
        waiting = next(row[0] for shard in shards for row in shard.execute("SELECT url FROM urls WHERE state = 0"))
        with pytest.raises(UsageError, match="waits to be fetched"):
            Snapshot(shards).find_page(waiting)


# --- crawls ----------------------------------------------------------------------------------------------------------


def crawl_of(library, pocket, count, **more):
    asked = {"fetch": {"connect_to": pocket.address}, "stop": {"pages": count, "idle": 1.0}} | more
    return Crawl(library, settings_of(library.settings_path, asked))


def test_b18_the_next_crawl_learns_what_was_said_and_keeps_to_it(lib, pocket):
    bad, old = tell(lib, BAD, count=3), lib.get("taught")
    crawl_of(lib, pocket, 2).run()
    assert lib.get("taught").startswith(f"{old}+")
    rows = {row.id: row for shard in stored(lib) for row in shard}
    assert {rows[one.page].topic for one in bad} == {NO_TOPIC}
    with pytest.raises(UsageError, match="no retraining"):
        undone(lib)


def test_b18_a_crawl_finishes_a_retraining_that_was_killed_and_goes_on_with_its_model(lib, pocket):
    tell(lib, BAD, count=3)
    killed(lib)
    crawl = crawl_of(lib, pocket, 1)
    crawl.run()
    assert lib.get("reclassifying") is None
    assert crawl.training.made == 0
    assert models(lib) == {crawl.training.model} == {lib.get("model")}


def test_b18_seeds_that_were_given_before_a_retraining_are_learnt_from_by_the_crawl(lib, pocket):
    text, seed = lib.settings_path.read_text(), pocket.web.seeds(lib.topic_names()[1], 9)[8]
    lib.settings_path.write_text(text.replace("seeds = [", f'seeds = [\n    "{seed}",', 1))
    model = retrained(lib).model
    crawl = crawl_of(lib, pocket, 1)
    crawl.run()
    assert crawl.training.first_held
    assert crawl.training.model != model


def test_b18_a_crawl_that_runs_takes_the_new_model_up(lib, pocket):
    slowly = {"connect_to": pocket.address, "delay": 0.5}
    crawl = crawl_of(lib, pocket, 0, fetch=slowly, learn={"every": 0})  # it would not learn by itself
    with running(crawl):
        until(lambda: engines(crawl) and all(engine.model for engine in engines(crawl)))
        old, bad = crawl.training.model, tell(lib, BAD, count=3)
        with pytest.raises(LibraryBusy):
            retrained(lib)
        assert work.ask_crawl(lib)
        until(lambda: engines(crawl) and all(engine.model not in ("", old) for engine in engines(crawl)))
    assert (crawl.training.made, lesson_wanted(lib)) == (1, 0)
    rows = {row.id: row for shard in stored(lib) for row in shard}
    assert {rows[one.page].topic for one in bad} == {NO_TOPIC}


def engines(crawl):
    """How all partitions stand; none before all have reported."""
    found = crawl.coordinator.status().engines if crawl.coordinator else []
    return found if len(found) == crawl.library.partitions else []


@contextlib.contextmanager
def running(crawl):
    thread = threading.Thread(target=crawl.run)
    thread.start()
    try:
        yield
    finally:
        crawl.interrupt()
        thread.join()


def until(what, seconds=60.0):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def test_b18_nobody_is_asked_where_no_crawl_runs(lib):
    with lib.lock():
        assert not work.ask_crawl(lib)


def test_b18_a_word_that_was_taken_back_has_no_say_any_more_though_the_model_is_the_same(lib):
    model = retrained(lib).model
    before = stored(lib)
    tell(lib, GOOD, lib.topic_names()[BEES], 1, "u.priority >= 1e6 AND p.topic = 0")  # it is an example already
    assert retrained(lib).model == model
    assert stored(lib) != before, "it is on topic for sure"
    take_back(lib)
    retrained(lib)
    assert stored(lib) == before


def test_b18_a_retraining_without_effect_does_not_let_undo_reach_over_a_crawl(lib):
    tell(lib, BAD)
    retrained(lib)
    lib.put("model", "another")  # as a crawl that has learnt more leaves it
    with pytest.raises(UsageError, match="learnt more"):
        undone(lib)
    retrained(lib)
    retrained(lib)
    undone(lib)
    with pytest.raises(UsageError, match=r"learnt more|no retraining"):
        undone(lib)


def test_b18_words_without_a_text_have_the_digest_that_they_had_before_there_were_texts():
    assert mark([Mark(1, "u", GOOD, "x")]) == xxhash.xxh3_64_hexdigest(msgspec.json.encode([(1, GOOD, "x", False)]))
