"""Pages for topics that have none, from search engines: examples, and pages that link to examples (S2, P2, P6)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

import msgspec

from analecta.errors import BadUse
from analecta.model import BELOW
from analecta.settings.schema import Topic
from analecta.settings.topics import merge
from analecta.sources.collector import clean
from analecta.sources.engines.engine import Hit
from analecta.sources.engines.phrases import tidy
from analecta.sources.engines.session import Found, Session, fuse
from analecta.sources.engines.topics import FEWEST, topic_examples, topic_queries
from analecta.sources.result import Reading
from analecta.urls import canonical

OF_PAPER = 100  # examples of a topic that is a paper, at most
LINKED = 20  # examples of a topic for which back-links are asked, the first


class Phrases(msgspec.Struct, frozen=True):
    """What is asked for a topic that is a paper, or several: exact phrases with their weights.

    `again` are queries for the case that the phrases find too little, the sharpest first.
    """

    exact: dict[str, float]
    again: tuple[str, ...] = ()


async def find(
    session: Session,
    reading: Reading,
    queries: Sequence[str] = (),
    phrases: Mapping[str, Phrases] = {},
    backlinks: int = 0,
) -> tuple[Reading, list[str]]:
    """The reading with examples for topics that had none, and for `queries` as topics; what is to tell, in sentences.

    `backlinks`: so many pages that link to an example are looked for, as further pages to begin at.
    """
    asked = topic_queries({name: name.split(BELOW) for name in reading.queries})
    asked |= {clean(query): query for query in queries}
    if silent := next((name for name, query in asked.items() if not tidy(query).strip('" ')), ""):
        raise BadUse(f"the topic {silent!r} has no words that could be searched: give it another name, or pages")
    exact = [phrase for one in phrases.values() for phrase in one.exact]
    every = list(dict.fromkeys([*asked.values(), *exact]))
    found = session.check(await session.search(every)) if every else Found({})
    told = dict.fromkeys(trouble.why for trouble in found.troubles)
    examples = topic_examples(asked, found.hits, session.results)
    pages = dict(examples.hits)
    for name, wanted in phrases.items():
        pages[name], said = await _paper(session, name, wanted, found)
        told |= dict.fromkeys(said)
    topics, repeated = merge([*reading.topics, *(_topic(name, hits) for name, hits in pages.items() if hits)])
    if backlinks:
        topics, said = await _with_starts(session, topics, pages.values(), backlinks)
        told |= dict.fromkeys(said)
    named = {topic.name for topic in topics}
    left = {name: query for name, query in reading.queries.items() if name not in named}
    whole = msgspec.structs.replace(reading, topics=topics, repeated=reading.repeated + repeated, queries=left)
    return whole, [*told, *examples.few]


def _topic(name: str, hits: Sequence[Hit]) -> Topic:
    return Topic(name, tuple(hit.url for hit in hits))


async def _paper(session: Session, name: str, wanted: Phrases, found: Found) -> tuple[tuple[Hit, ...], list[str]]:
    """The pages of a paper: a page that more of its phrases find comes first, those of other queries after them."""
    lists = [found.hits.get(phrase, ()) for phrase in wanted.exact]
    hits = fuse(lists, OF_PAPER, list(wanted.exact.values()))
    if len(hits) >= FEWEST or not wanted.again:
        return hits, []
    pages, tried, troubles = {hit.url: hit for hit in hits}, list[str](), list[str]()
    for query in wanted.again:
        more = await session.search([query])
        tried.append(query)
        troubles += [trouble.why for trouble in more.troubles]
        pages |= {hit.url: hit for hit in more.hits[query] if hit.url not in pages}
        if len(pages) >= FEWEST:
            break
    words = " and with ".join(f"{query!r}" for query in tried)
    only = f"only {len(hits)} {'page was' if len(hits) == 1 else 'pages were'} found by exact titles"
    again = f"{name}: {only}; asked again with {words}, which makes it {len(pages)}"
    return tuple(pages.values())[:OF_PAPER], [*troubles, again]


# --- pages that link to examples -------------------------------------------------------------------------------------


async def _with_starts(
    session: Session, topics: Sequence[Topic], pages: Iterable[Sequence[Hit]], most: int
) -> tuple[tuple[Topic, ...], list[str]]:
    """The topics with pages to begin at that link to their examples."""
    hits = {hit.url: hit for some in pages for hit in some}
    firsts = [topic.seeds[:LINKED] for topic in topics]
    # The best example of each topic, then the second: the budget may be used up before the last.
    turns = [url for turn in zip_longest(*firsts) for url in turn if url]
    linked = await session.backlinks([hits.get(url, Hit(url)) for url in turns], most)
    told = [trouble.why for trouble in linked.troubles]
    if not linked.offered:
        told.append(f"which pages link to the examples, {' and '.join(session.engines)} cannot tell")
    known = {target.id for topic in topics for url in topic.seeds if (target := canonical(url))}
    given = {url: [hit.url for hit in some] for url, some in linked.pages.items()}
    return tuple(_started(topic, given, known) for topic in topics), told


def _started(topic: Topic, linked: Mapping[str, Sequence[str]], known: set[int]) -> Topic:
    found = most_linking({url: linked[url] for url in topic.seeds[:LINKED] if url in linked}, known)
    starts = dict.fromkeys([*topic.starts, *found[: len(topic.seeds)]])
    return msgspec.structs.replace(topic, starts=tuple(starts))


def most_linking(linked: Mapping[str, Sequence[str]], known: set[int]) -> list[str]:
    """The pages that link to most examples first; at a tie, those of other hosts than the examples'.

    `linked`: the pages that link to each example. Examples themselves, whose ids are `known`, are none of these.
    """
    counts: dict[str, int] = {}
    abroad: set[str] = set()
    for example, pages in linked.items():
        home = canonical(example)
        for target in {target.id: target for url in pages if (target := canonical(url))}.values():
            if target.id not in known:
                counts[target.url] = counts.get(target.url, 0) + 1
                if home is None or target.host != home.host:
                    abroad.add(target.url)
    return sorted(counts, key=lambda url: (-counts[url], url not in abroad))
