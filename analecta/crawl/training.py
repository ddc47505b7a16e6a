"""Learning beside the crawl: the coordinator's teacher, who makes models from what the partitions have kept.

The first model is made from the person's examples. Each later one also learns from what the crawl has met since:
the best pages of each topic (archetypes, B9) as further examples, and pages of the worse half as examples of OTHERS.
A model that would think clearly less of the person's own examples is not taken up (the drift guard).

The teacher reads the shards, which anybody may while their partition writes; nothing passes through messages.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import msgspec
import numpy as np

from analecta.crawl.authorities import LinkGraph, hubs_and_authorities, link_graph
from analecta.crawl.messages import UNLIMITED
from analecta.crawl.pages import unpack_text
from analecta.frontier.policy import SEED_PRIORITY
from analecta.judge.archetypes import archetypes, drifted
from analecta.model import Example, Page
from analecta.seams import Judge
from analecta.settings import LearnSettings
from analecta.store.library import Library
from analecta.store.shard import NOINDEX, SOFT404

_MOST_TEXT = 60_000  # characters of a page that are learnt from
_HUBS = 10  # of a topic, whose links come first
_KEPT = 4000  # texts held in memory from one training to the next


class Found(msgspec.Struct):
    """A page that the crawl has kept, as the teacher sees it."""

    id: int
    shard: int
    topic: int
    confidence: float


class Lesson(msgspec.Struct):
    """What came of a training: the model's name, or why there is no new one."""

    model: str
    about: str = ""
    refused: str = ""
    hubs: tuple[int, ...] = ()  # pages whose links should come first


class Teacher:
    """Makes models from a library."""

    def __init__(self, library: Library, judge: Judge, topics: Sequence[str], settings: LearnSettings) -> None:
        """`judge` is trained again and again: what it has worked out about pages it may keep."""
        self.library = library
        self.judge = judge
        self.topics = list(topics)
        self.settings = settings
        self._texts: dict[int, Example] = {}
        self._sure: dict[str, float] = {}  # of the person's examples, by URL: how sure the last model was

    def kept(self) -> int:
        """How many pages there are."""
        with self.library.shards() as shards:
            return sum(int(shard.execute("SELECT count(*) FROM pages").fetchone()[0]) for shard in shards)

    def first(self) -> Lesson | None:
        """Learn from the examples; None where there is not one."""
        examples = self._examples()
        if not examples:
            return None
        self.judge.fit(examples, self.topics)
        self._sure = self._sure_of(examples)
        return self._save(f"{len(examples)} examples, {len(self.topics)} topics")

    def again(self, load: Callable[[str], Judge], old: str) -> Lesson:
        """Learn from the examples and from what the crawl has met; the `old` model stays where that is no better."""
        examples = self._examples()
        given = {example.url for example in examples}
        if not self._sure:
            self._sure = self._sure_of(examples, load(old))
        with self.library.shards() as shards:
            found = self._found(shards)
            graph = link_graph(shards) if self.settings.authorities else None
            best, hubs = self._archetypes(found, examples, graph)
            far = self._far(found, {page.id for page in best})
            more = [self._example(shards, page, page.topic, self.settings.archetype_weight) for page in best]
            away = [self._example(shards, page, -1, 1.0) for page in far]
        new = [example for example in more if example.url not in given]
        before = self._sure
        self.judge.fit([*examples, *new, *away], self.topics)
        after = self._sure_of(examples)
        both = sorted(before.keys() & after.keys())  # an example that came late has no before
        if reason := drifted([before[url] for url in both], [after[url] for url in both]):
            return Lesson(old, refused=reason)
        self._sure = after
        about = f"{len(examples)} examples, {len(new)} archetypes, {len(away)} others, {len(self.topics)} topics"
        return self._save(about, hubs)

    def _save(self, about: str, hubs: Sequence[int] = ()) -> Lesson:
        return Lesson(self.judge.save(self.library.models), about, hubs=tuple(hubs))

    def _sure_of(self, examples: Sequence[Example], judge: Judge | None = None) -> dict[str, float]:
        """How sure a model is of the person's examples, by their URLs."""
        pages = [Page(example.url, 0, "", "text/html", text=example.text) for example in examples]
        verdicts = (judge or self.judge).judge(pages)
        pairs = zip(examples, verdicts, strict=True)
        return {e.url: v.confidence if v.topic in (e.topic, -1) else 0.0 for e, v in pairs}

    # --- what there is to learn from --------------------------------------------------------------------------------

    def _examples(self) -> list[Example]:
        with self.library.shards() as shards:
            rows = [row for shard in shards for row in examples_of(shard)]
        found = [Example(topic, url, unpack_text(text)[:_MOST_TEXT], anchor or "") for topic, url, text, anchor in rows]
        return sorted(found, key=lambda example: (example.topic, example.url))

    def _found(self, shards: Sequence[Any]) -> list[Found]:
        """All pages that stand for themselves, but the person's examples."""
        query = (
            "SELECT p.id, p.topic, p.confidence FROM pages p JOIN urls u ON u.id = p.id WHERE p.duplicate_of IS NULL"
            f" AND p.text IS NOT NULL AND p.flags & {SOFT404 | NOINDEX} = 0 AND u.priority < {SEED_PRIORITY}"
        )
        return [Found(row[0], i, row[1], row[2]) for i, shard in enumerate(shards) for row in shard.execute(query)]

    def _archetypes(
        self, found: Sequence[Found], examples: Sequence[Example], graph: LinkGraph | None
    ) -> tuple[list[Found], list[int]]:
        """The best pages of each topic: none below what the examples get, not more than a share of what was met.

        And, with link analysis, the best hubs. Where links say nothing (a web of one host), confidence alone counts.
        """
        chosen: list[Found] = []
        front: list[int] = []
        for topic in range(len(self.topics)):
            own = {page.id: page for page in found if page.topic == topic}
            training = [self._sure[e.url] for e in examples if e.topic == topic and e.url in self._sure]
            most = min(self.settings.archetypes, int(self.settings.archetype_share * len(found)))
            sure = {id: page.confidence for id, page in own.items()}
            hubs, authorities = hubs_and_authorities(graph, own) if graph else ({}, {})
            front += sorted(hubs, key=lambda id: (-hubs[id], id))[:_HUBS]
            chosen += [own[id] for id in archetypes(sure, authorities or sure, training, most)]
        return chosen, front

    def _far(self, found: Sequence[Found], best: set[int]) -> list[Found]:
        """Pages of the worse half, evenly from all of it."""
        ranked = sorted((page for page in found if page.id not in best), key=lambda page: (page.confidence, page.id))
        worse = ranked[: (len(found) + 1) // 2]
        if len(worse) <= self.settings.others:
            return worse
        return [worse[i] for i in np.linspace(0, len(worse) - 1, self.settings.others).astype(int).tolist()]

    def _example(self, shards: Sequence[Any], page: Found, topic: int, weight: float) -> Example:
        known = self._texts.get(page.id)
        if known is None:
            query = "SELECT u.url, p.text, u.anchor FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?"
            url, text, anchor = shards[page.shard].execute(query, (page.id,)).fetchone()
            known = Example(-1, url, unpack_text(text)[:_MOST_TEXT], anchor or "")
            if len(self._texts) > _KEPT:
                self._texts.clear()
            self._texts[page.id] = known
        return msgspec.structs.replace(known, topic=topic, weight=weight)


def examples_of(shard: Any) -> list[tuple[int, str, bytes, str]]:
    """The pages that a person gave (or where such pages have moved): (topic, url, packed text, anchor)."""
    rows = shard.execute(
        "SELECT u.topic, u.url, p.text, u.anchor FROM pages p JOIN urls u ON u.id = p.id WHERE u.priority >= ?"
        " AND p.text IS NOT NULL AND p.duplicate_of IS NULL ORDER BY p.seq",
        (SEED_PRIORITY,),
    )
    return list(rows)


class Schedule:
    """When to learn again, and how far a crawl may run ahead of what it has learnt."""

    def __init__(self, settings: LearnSettings, ordered: bool) -> None:
        """In an `ordered` crawl each model is waited for."""
        self.settings = settings
        self.ordered = ordered
        self.before = 0  # pages that earlier runs have kept
        self._next = 0.0
        self._executor = ThreadPoolExecutor(1)
        self._running: Future[Lesson] | None = None
        self.put_off(0)

    def put_off(self, pages: int) -> None:
        """The next lesson is due when so many more pages are there."""
        self._next = pages + self._step(pages)

    def _step(self, pages: int) -> float:
        return max(float(self.settings.every), (self.settings.growth - 1) * (self.before + pages))

    def limit(self) -> int:
        """How many pages of this run may be fetched now: a model that is late is waited for."""
        if not self.settings.every:
            return UNLIMITED
        return int(self._next if self.ordered else self._next + self._step(int(self._next)))

    def due(self, pages: int) -> bool:
        """Whether to learn again now."""
        return bool(self.settings.every) and self._running is None and pages >= int(self._next)

    def begin(self, lesson: Callable[[], Lesson]) -> None:
        """Learn, beside all else."""
        self._running = self._executor.submit(lesson)

    def ended(self, pages: int) -> Lesson | None:
        """What was learnt, once that is over."""
        if self._running is None or not (self.ordered or self._running.done()):
            return None
        lesson = self._running.result()
        self._running = None
        self.put_off(pages)
        return lesson

    def close(self) -> None:
        """Let what is under way come to its end."""
        self._executor.shutdown(wait=True)
