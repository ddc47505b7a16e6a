import time

import pytest

from analecta.crawl.messages import UNLIMITED
from analecta.crawl.partitions import Crawl
from analecta.crawl.training import Lesson, Schedule
from analecta.judge import JUDGES
from analecta.seed.first_settings import first_settings
from analecta.settings import LearnSettings, Topic, load
from analecta.store.library import Library
from analecta.testweb.process import PocketServer


def schedule(ordered=False, **settings):
    return Schedule(LearnSettings(**{"every": 16, "growth": 1.5} | settings), ordered)


def test_a_judge_that_learns_once_holds_nothing_up():
    plan = schedule(every=0)
    assert plan.limit() == UNLIMITED
    assert not plan.due(10_000)


def test_b9_lessons_are_every_few_pages_and_then_by_growth():
    plan, due = schedule(ordered=True), []
    for pages in range(200):
        if plan.due(pages):
            due.append(pages)
            plan.begin(lambda: Lesson("m"))
            assert plan.ended(pages) == Lesson("m")
    plan.close()
    assert due == [16, 32, 48, 72, 108, 162]


def test_a_crawl_may_be_one_step_ahead_of_the_lesson_and_in_order_none():
    assert schedule(ordered=True).limit() == 16
    assert schedule().limit() == 32


def test_a_lesson_runs_beside_the_crawl():
    plan = schedule()
    plan.begin(lambda: time.sleep(0.2) or Lesson("m"))
    assert plan.ended(16) is None
    assert not plan.due(500), "one at a time"
    time.sleep(0.4)
    assert plan.ended(20) == Lesson("m")
    plan.close()


@pytest.fixture(scope="module")
def web():
    with PocketServer(500, moody=False) as server:
        yield server


def grown(web, folder, recipe, seeds, **asked):
    topics = [Topic(name, tuple(urls)) for name, urls in seeds.items()]
    library = Library.create(folder, first_settings(topics, recipe))
    asked = {"fetch": {"connect_to": web.address}, "stop": {"pages": 200, "idle": 1.0}, "crawl": {"workers": 1}} | asked
    crawl = Crawl(library, load(library.settings_path, asked))
    crawl.run()
    return library, crawl


def on_topic(library, web, topic):
    """Of the pages that a library has on a topic, how many are, and how many there are."""
    with library.shards() as shards:
        query = "SELECT u.url FROM pages p JOIN urls u ON u.id = p.id WHERE p.topic = ? AND p.duplicate_of IS NULL"
        number = library.topic_names().index(topic)
        urls = [url for shard in shards for (url,) in shard.execute(query, (number,))]
    truths = [truth for url in urls if (truth := web.web.truth(url, links=False))]
    return sum(truth.topic == topic for truth in truths), len(truths)


@pytest.mark.parametrize("recipe", ["adaptive", "bingo", "panorama", "synthesis"])
def test_every_recipe_finds_pages_of_two_topics(tmp_path, web, recipe):
    topics = web.web.topics[:2]
    learn = {"every": 50} if recipe == "bingo" else {}  # the paper's crawls are longer than a test
    library, crawl = grown(web, tmp_path / "lib", recipe, {t: web.web.seeds(t, 5) for t in topics}, learn=learn)
    right, found = on_topic(library, web, topics[0])
    assert right >= 12
    assert right >= (0.4 if recipe == "synthesis" else 0.7) * found  # two topics are few for its idf
    assert (crawl.lessons > 1) == (recipe in ("adaptive", "bingo"))


def test_b9_pages_name_the_model_that_judged_them_last(tmp_path, web):
    topic = web.web.topics[0]
    library, crawl = grown(web, tmp_path / "lib", "adaptive", {topic: web.web.seeds(topic, 5)})
    with library.shards() as shards:
        models = {model for shard in shards for (model,) in shard.execute("SELECT DISTINCT model FROM pages")}
    assert models == {crawl.model}
    assert JUDGES["profile"].load(library.models, crawl.model)


def test_a_crawl_that_was_stopped_goes_on_with_what_it_knew(tmp_path, web):
    topic = web.web.topics[0]
    seeds = {topic: web.web.seeds(topic, 5)}
    library, first = grown(web, tmp_path / "lib", "adaptive", seeds, stop={"pages": 60})
    asked = {"fetch": {"connect_to": web.address}, "stop": {"pages": 60, "idle": 1.0}}
    second = Crawl(library, load(library.settings_path, asked))
    second.run()
    right, found = on_topic(library, web, topic)
    assert second.model != first.model
    assert second.tally.pages == 60
    assert right >= 0.7 * found


def test_b9_wrong_examples_among_many_topics_do_not_make_the_crawl_drift(tmp_path, web):
    """Twelve topics with eight examples each; three topics have one example that is a page of another."""
    topics = web.web.topics
    seeds = {topic: web.web.seeds(topic, 8) for topic in topics}
    for wrong, other in ((0, 1), (2, 3), (4, 5)):
        seeds[topics[wrong]] = [*seeds[topics[wrong]][:7], web.web.seeds(topics[other], 9)[8]]
    asked = {"stop": {"pages": 350, "idle": 1.0}, "crawl": {"workers": 1, "ordered": True}}
    library, crawl = grown(web, tmp_path / "lib", "adaptive", seeds, **asked)
    assert crawl.lessons > 3
    for wrong in (0, 2, 4):
        right, found = on_topic(library, web, topics[wrong])
        assert right >= 0.7 * found, topics[wrong]


@pytest.mark.xfail(strict=True, reason="five right examples do not hold out against three wrong ones of one kind")
def test_b9_three_wrong_examples_of_eight_do_not_turn_a_topic_into_another(tmp_path, web):
    topics = web.web.topics
    seeds = {topic: web.web.seeds(topic, 8) for topic in topics}
    seeds[topics[0]] = [*seeds[topics[0]][:5], *web.web.seeds(topics[1], 11)[8:]]
    asked = {"stop": {"pages": 350, "idle": 1.0}, "crawl": {"workers": 1, "ordered": True}}
    library, _ = grown(web, tmp_path / "lib", "adaptive", seeds, **asked)
    right, found = on_topic(library, web, topics[0])
    assert right >= 0.7 * found
