"""Crawls that begin from files, and with pages that are not meant; examples that a person moves or takes away."""

import shutil
from pathlib import Path

import pytest
from making import candidate, shard_at, target

from analecta.crawl.run import Crawl
from analecta.errors import ResourceError
from analecta.learning.examples import follow, given_files
from analecta.model import FoundBy, UrlState
from analecta.settings.edit import first_settings
from analecta.settings.load import load
from analecta.settings.schema import NegativeSettings, Settings, Topic
from analecta.store.library import LibraryFolder
from analecta.testweb.process import PocketServer
from analecta.urls import canonical
from tests.crawls.site import html, site


@pytest.fixture(scope="module")
def web():
    with PocketServer(500, moody=False) as server:
        yield server


def body(web, url):
    target = canonical(url)
    return web.web.answer(target.host, "/" + target.url.split("/", 3)[3], {}).body


def saved(web, folder, urls):
    """Pages of the web as files of a library."""
    (folder / "topics").mkdir(exist_ok=True)
    names = [f"topics/{canonical(url).id:x}.html" for url in urls]
    for name, url in zip(names, urls, strict=True):
        (folder / name).write_bytes(body(web, url))
    return tuple(names)


def crawled(web, library, topics, others=NegativeSettings(), pages=60, **asked):
    library.settings_path.write_text(first_settings(topics, "adaptive", others=others))
    more = {"fetch": {"connect_to": web.address}, "stop": {"pages": pages, "idle": 1.0}, "crawl": {"workers": 1}}
    crawl = Crawl(library, load(library.settings_path, more | asked))
    crawl.run()
    return crawl


def rows(library, where):
    query = f"SELECT u.url, p.topic, u.found FROM pages p JOIN urls u ON u.id = p.id WHERE {where}"
    with library.shards() as shards:
        return [row for shard in shards for row in shard.execute(query)]


@pytest.mark.parametrize("recipe", ["adaptive", "bingo", "panorama", "synthesis"])
def test_a_library_of_files_alone_is_learnt_from_before_anything_is_fetched(tmp_path, web, recipe):
    library = LibraryFolder.create(tmp_path / "lib", "")
    topics = web.web.topics[:2]
    seeds = {topic: web.web.seeds(topic, 6) for topic in topics}
    given = [Topic(t, (), tuple(u[4:]), saved(web, library.folder, u[:4])) for t, u in seeds.items()]
    crawl = crawled(web, library, given, pages=100, recipe=recipe)
    with library.database(readonly=True) as db:
        made, about = db.execute("SELECT made_at, about FROM models ORDER BY made_at LIMIT 1").fetchone()
    with library.shards() as shards:
        kept = min(shard.execute("SELECT min(kept_at) FROM pages").fetchone()[0] for shard in shards)
    found = [(web.web.truth(url, links=False), topics[topic]) for url, topic, _ in rows(library, "p.topic >= 0")]
    right = sum(truth is not None and truth.topic == topic for truth, topic in found)
    assert crawl.training.model
    assert (about, made < kept) == ("8 examples, 2 topics", True)
    assert right >= max(10, 0.4 * len(found)), (right, len(found))


def test_pages_to_begin_at_are_no_examples_and_may_be_items(tmp_path, web):
    library = LibraryFolder.create(tmp_path / "lib", "")
    topic = web.web.topics[0]
    urls = web.web.seeds(topic, 8)
    crawled(web, library, [Topic(topic, (), tuple(urls[4:]), saved(web, library.folder, urls[:4]))], pages=20)
    starts = [row for row in rows(library, "u.priority = 100") if row[0] in urls[4:]]
    assert len(starts) >= 3
    assert {found for _, _, found in starts} == {FoundBy.LINK}
    assert sum(topic == 0 for _, topic, _ in starts) >= 3


def test_what_a_person_says_is_not_meant_is_on_no_topic_nor_an_item(tmp_path, web):
    """The pages are on topic, if it were for the judge."""
    library = LibraryFolder.create(tmp_path / "lib", "")
    topic = web.web.topics[0]
    urls = web.web.seeds(topic, 8)
    crawl = crawled(web, library, [Topic(topic, tuple(urls[:5]))], NegativeSettings(tuple(urls[5:])))
    assert [topic for _, topic, _ in rows(library, "u.priority >= 1e6 AND u.topic < 0")] == [-1] * 3
    with library.database(readonly=True) as db:
        about = [row[0] for row in db.execute("SELECT about FROM models")]
    assert all(words.startswith("5 examples, 3 of what is not meant") for words in about), about
    assert crawl.tally.topics.keys() == {0}


def test_a_page_that_was_found_can_be_said_not_to_be_meant(tmp_path, web):
    library = LibraryFolder.create(tmp_path / "lib", "")
    topic = Topic(web.web.topics[0], tuple(web.web.seeds(web.web.topics[0], 5)))
    crawled(web, library, [topic])
    found = [url for url, _, _ in rows(library, "p.topic = 0 AND p.duplicate_of IS NULL AND u.priority < 1")][:2]
    crawled(web, library, [topic], NegativeSettings(tuple(found)), pages=10)
    assert [row[1] for row in rows(library, "u.priority >= 1e6 AND u.topic < 0")] == [-1, -1]


def two_topics(web, *moved, to=1):
    """Two topics of five seeds; those of the first with these numbers are of the other instead, or of none."""
    names = web.web.topics[:2]
    seeds = [web.web.seeds(name, 5) for name in names]
    away = [seeds[0][n] for n in moved]
    return [
        Topic(names[0], tuple(url for url in seeds[0] if url not in away)),
        Topic(names[1], (*seeds[1], *(away if to == 1 else []))),
    ], away


def test_an_example_that_is_moved_is_one_of_its_new_topic_alone(tmp_path, web):
    library = LibraryFolder.create(tmp_path / "lib", "")
    crawled(web, library, two_topics(web)[0], pages=20)
    topics, moved = two_topics(web, 0, 2)
    crawl = crawled(web, library, topics, pages=2)
    given = {example.url: example.topic for example in crawl.training.trainer.given()}
    assert [given[url] for url in moved] == [1, 1]
    assert sorted(given.values()) == [0] * 3 + [1] * 7


def test_an_example_that_is_removed_is_a_page_like_others_and_one_that_is_put_back_an_example(tmp_path, web):
    library = LibraryFolder.create(tmp_path / "lib", "")
    crawled(web, library, two_topics(web)[0], pages=20)
    topics, gone = two_topics(web, 1, to=None)
    crawl = crawled(web, library, topics, pages=2)
    assert gone[0] not in {example.url for example in crawl.training.trainer.given()}
    assert rows(library, f"u.url = '{gone[0]}' AND u.priority < 1")[0][2] == FoundBy.LINK
    crawl = crawled(web, library, two_topics(web)[0], pages=2)
    assert gone[0] in {example.url for example in crawl.training.trainer.given()}
    assert rows(library, f"u.url = '{gone[0]}'")[0][2] == FoundBy.SEED


def test_a_page_that_a_seed_redirects_to_goes_where_the_seed_goes():
    seed, page = target("http://a.test/old"), target("http://a.test/new")
    with shard_at() as shard:
        shard.add([(1, candidate(seed.url, 1e6), UrlState.ALIAS, False, "http-301")])
        shard.add([(2, candidate(page.url, 1e6, found_by=FoundBy.REDIRECT, parent=seed.id), UrlState.DONE, False, "")])
        shard.settle(seed.id, UrlState.ALIAS, "http-301", elsewhere=page.id)
        for topics, held in ((Topic("a"),), []), ((Topic("a"), Topic("b", (seed.url,))), [1, 1]):
            follow([shard], Settings(topics=topics), ["a", "b"])
            rows = shard.db.execute("SELECT topic FROM urls WHERE priority >= 1e6").fetchall()
            assert [topic for (topic,) in rows] == held


def test_where_examples_have_changed_the_pages_of_earlier_crawls_are_learnt_from_at_once(tmp_path, web):
    library = LibraryFolder.create(tmp_path / "lib", "")
    crawled(web, library, two_topics(web)[0], pages=60)
    crawled(web, library, two_topics(web, 0, to=None)[0], pages=1)
    with library.database(readonly=True) as db:
        *_, first, second = [row[0] for row in db.execute("SELECT about FROM models ORDER BY made_at")]
    assert first == "9 examples, 2 topics"
    assert "pages met" in second


def test_s7_a_topic_that_is_gone_is_not_waited_for(tmp_path, web):
    library = LibraryFolder.create(tmp_path / "lib", "")
    topics = two_topics(web)[0]
    crawled(web, library, topics, pages=15)
    library.settings_path.write_text(first_settings(topics[1:], "adaptive"))
    more = {"fetch": {"connect_to": web.address}, "stop": {"pages": 100, "per_topic": 3}}
    assert Crawl(library, load(library.settings_path, more)).run().reason == "every topic has 3 pages"


def test_files_of_no_use_are_told_once_and_a_changed_one_is_learnt_anew(tmp_path, web):
    library = LibraryFolder.create(tmp_path / "lib", "")
    topic = web.web.topics[0]
    urls = web.web.seeds(topic, 6)
    names = (*saved(web, library.folder, urls[:4]), "topics/junk", "topics/gone")
    (library.folder / "topics" / "junk").write_bytes(b"\0\1\2" * 99)
    given = [Topic(topic, (), tuple(urls[4:]), names)]
    first = crawled(web, library, given, pages=4, learn={"every": 0}).training.model
    assert crawled(web, library, given, pages=2, learn={"every": 0}).training.model == first
    shutil.copy(library.folder / names[0], library.folder / names[1])
    assert crawled(web, library, given, pages=2, learn={"every": 0}).training.model != first
    notes = [note for _, note in library.notes() if note.startswith("nothing can be learnt from")]
    assert len(notes) == 2, notes


def test_files_without_any_text_end_the_crawl_with_a_sentence(tmp_path, web):
    library = LibraryFolder.create(tmp_path / "lib", "")
    topic = Topic(web.web.topics[0], (), tuple(web.web.seeds(web.web.topics[0], 1)), ("topics/gone",))
    with pytest.raises(ResourceError, match="no file that is an example holds text"):
        crawled(web, library, [topic])


def test_files_are_given_with_the_numbers_of_their_topics():
    settings = Settings(
        topics=(Topic("b", examples=("x",)), Topic("a", examples=("y", "z"))), others=NegativeSettings((), ("o",))
    )
    assert given_files(settings, ["a", "b"], Path("lib")) == [(1, "x"), (0, "y"), (0, "z"), (-1, "o")]


@pytest.mark.parametrize(
    ("state", "reason", "asked"),
    [
        (UrlState.FAILED, "http-404", True),
        (UrlState.FAILED, "bad-host", True),
        (UrlState.REFUSED, "nofollow", True),
        (UrlState.REFUSED, "scope-depth", True),
        (UrlState.REFUSED, "scope-host", False),
        (UrlState.FAILED, "poison", False),
    ],
)
def test_what_came_to_nothing_is_asked_for_once_more_where_a_person_names_it(state, reason, asked):
    with shard_at() as shard:
        shard.add([(1, candidate("http://a.test/x", depth=7), state, False, reason)])
        for _ in range(2):  # and not at every start
            follow([shard], Settings(topics=(Topic("a", ("http://a.test/x",)),)), ["a"])
            assert shard.db.execute("SELECT state FROM urls").fetchone() == (UrlState.QUEUED if asked else state,)
            assert shard.get("queued") == (b'{"0":1}' if asked else b"{}")
            asked, state = False, UrlState.FAILED
            shard.settle(target("http://a.test/x").id, state, "http-404")
            shard.put("queued", b"{}")


def test_what_is_not_meant_stays_on_no_topic_where_a_recipe_learns_once(tmp_path, web):
    library = LibraryFolder.create(tmp_path / "lib", "")
    topic = web.web.topics[0]
    urls = web.web.seeds(topic, 8)
    given = [Topic(topic, tuple(urls[:5]))], NegativeSettings(tuple(urls[5:]))
    crawled(web, library, *given, pages=12, recipe="breadth-first")
    assert [topic for _, topic, _ in rows(library, "u.priority >= 1e6 AND u.topic < 0")] == [-1] * 3


def test_an_example_that_says_noindex_is_on_no_topic_where_a_recipe_learns_once(tmp_path):
    head = '<meta name="robots" content="noindex">'
    pages = {f"/{n}": html(f"/{n}", words=f"hive bees honey queen {n}", head=head * (n == 2)) for n in range(3)}
    with site(pages) as server:
        library = LibraryFolder.create(tmp_path / "lib", "")
        crawled(server, library, [Topic("bees", tuple(f"http://a.test{path}" for path in pages))], recipe="panorama")
    assert {url: topic for url, topic, _ in rows(library, "1")}["http://a.test/2"] == -1


def test_where_the_files_of_the_model_are_gone_the_crawl_learns_anew(tmp_path, web):
    library = LibraryFolder.create(tmp_path / "lib", "")
    crawled(web, library, two_topics(web)[0], pages=15)
    shutil.rmtree(library.models)
    crawl = crawled(web, library, two_topics(web)[0], pages=2)
    assert (library.models / f"{crawl.training.model}.json").exists()
    assert [note for _, note in library.notes() if "it is learnt anew" in note]
