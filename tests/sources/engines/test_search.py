"""Examples and pages to begin at, from engines that are functions."""

import asyncio

import pytest

from analecta.errors import UsageError
from analecta.settings.schema import Topic
from analecta.sources.engines.client import EngineTrouble
from analecta.sources.engines.engine import EngineHit
from analecta.sources.engines.examples import PaperPhrases, find, most_linking
from analecta.sources.engines.session import Session
from analecta.sources.result import SourceResult


class Shelf:
    """An engine with these answers: words -> pages, page -> pages that link to it."""

    def __init__(
        self, answers: dict[str, list[str]], linking: dict[str, list[str]] | None = None, offers: bool = True
    ) -> None:
        self.answers, self.linking, self.offers = answers, linking or {}, offers
        self.asked: list[str] = []

    async def __call__(self, query: str, wanted: int) -> list[EngineHit] | EngineTrouble:
        self.asked.append(query)
        return [EngineHit(url) for url in self.answers.get(query, [])]

    async def offers_backlinks(self) -> bool:
        return self.offers

    async def backlinks(self, page: EngineHit, wanted: int) -> list[EngineHit]:
        self.asked.append(page.url)
        return [EngineHit(url) for url in self.linking.get(page.url, [])[:wanted]]

    def find(self, reading: SourceResult = SourceResult(()), **more: object) -> tuple[SourceResult, list[str]]:
        session = Session([], None, others={"shelf": self})  # type: ignore[arg-type]
        return asyncio.run(find(session, reading, **more))  # type: ignore[arg-type]


def pages(*names: str) -> list[str]:
    return [f"http://{name}.test/" for name in names]


def test_p6_pages_that_link_to_most_examples_come_first_and_are_no_more_than_those() -> None:
    linking = {"http://a.test/": pages("x", "hub", "y"), "http://b.test/": pages("hub", "a", "z")}
    reading, _ = Shelf({"bees": pages("a", "b")}, linking).find(queries=["bees"], backlinks=10)
    assert reading.topics == (Topic("bees", tuple(pages("a", "b")), tuple(pages("hub", "x"))),)
    assert not {*reading.topics[0].starts} & {*reading.topics[0].seeds}


def test_back_links_are_asked_turn_by_turn_so_that_no_topic_takes_the_whole_budget() -> None:
    shelf = Shelf({})
    topics = (Topic("bees", tuple(pages("a", "b"))), Topic("chess", tuple(pages("c"))))
    shelf.find(SourceResult(topics), backlinks=3)
    assert shelf.asked == pages("a", "c", "b")


def test_no_more_than_the_first_examples_are_asked_about_and_without_back_links_none() -> None:
    shelf = Shelf({})
    reading = SourceResult((Topic("bees", tuple(pages(*(f"h{n}" for n in range(50))))),))
    assert shelf.find(reading) == (reading, [])
    shelf.find(reading, backlinks=1)
    assert len(shelf.asked) == 20


def test_at_a_tie_pages_of_other_hosts_come_first() -> None:
    linked = {"http://a.test/1": ["http://a.test/", "http://b.test/"], "http://a.test/2": []}
    assert most_linking(linked, set()) == ["http://b.test/", "http://a.test/"]


def test_engines_that_cannot_tell_are_named() -> None:
    shelf = Shelf({}, offers=False)
    _, told = shelf.find(SourceResult((Topic("bees", ("http://a.test/",)),)), backlinks=5)
    assert told == ["which pages link to the examples, shelf cannot tell"]
    assert shelf.asked == []


def test_s2_the_best_hits_are_examples_and_too_few_are_told() -> None:
    shelf = Shelf({"q1": pages(*(f"h{n}" for n in range(9))), "q2": pages("b")})
    reading, told = shelf.find(queries=["q1", "q2", "q3"])
    assert {topic.name: len(topic.seeds) for topic in reading.topics} == {"q1": 7, "q2": 1}
    assert [one.partition(" example")[0] for one in told] == ["q2: 1 of at least 4", "q3: 0 of at least 4"]


def test_p2_a_paper_whose_titles_find_too_little_is_asked_for_in_words() -> None:
    shelf = Shelf({'"On bees"': pages("a"), "On bees": pages("b", "a"), "wax honey": pages("c", "d")})
    wanted = PaperPhrases({'"On bees"': 1.0}, ("On bees", "wax honey", "never asked"))
    reading, (told,) = shelf.find(phrases={"On bees": wanted})
    assert reading.topics[0].seeds == tuple(pages("a", "b", "c", "d"))
    assert told.startswith("On bees: only 1 page was found by exact titles; asked again with 'On bees' and with 'wax")
    assert "never asked" not in shelf.asked


def test_p2_a_paper_whose_titles_find_enough_is_not_asked_for_again() -> None:
    shelf = Shelf({'"On bees"': pages(*"abcd")})
    _, told = shelf.find(phrases={"On bees": PaperPhrases({'"On bees"': 1.0}, ("On bees",))})
    assert (shelf.asked, told) == (['"On bees"'], [])


def test_an_engine_that_dies_while_a_paper_is_asked_for_again_is_named() -> None:
    class Dying(Shelf):
        async def __call__(self, query: str, wanted: int) -> list[EngineHit] | EngineTrouble:
            return [] if query.startswith('"') else EngineTrouble("dying has no time")

    _, told = Dying({}).find(phrases={"On bees": PaperPhrases({'"On bees"': 1.0}, ("On bees",))})
    assert told[0] == "dying has no time"


def test_a_topic_without_words_is_named() -> None:
    with pytest.raises(UsageError, match="the topic '\"\"' has no words"):
        Shelf({}).find(SourceResult((), queries={'""': '""'}))


def test_pages_of_titles_that_papers_share_come_before_others() -> None:
    shelf = Shelf({'"one"': pages("a"), '"both"': pages("b"), '"two"': pages(*"cde")})
    wanted = PaperPhrases({'"one"': 0.5, '"both"': 1.0, '"two"': 0.5})
    reading, _ = shelf.find(phrases={"Bees": wanted})
    assert reading.topics[0].seeds[0] == "http://b.test/"
