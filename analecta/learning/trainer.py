"""Learning beside the crawl: the coordinator's teacher, who makes models from what the partitions have kept.

The first model is made from the person's examples: pages that were fetched, and files of the library. Each later one
also learns from what the crawl has met since: the best pages of each topic (archetypes, B9) as further examples, and
pages of the worse half as examples of OTHERS; or all of them without labels, for a judge that parts them itself.
What a person has said of pages since (learning/examples.py) is read at each lesson, and never doubted; other examples
that look wrong count for little. Archetypes after which the judge thinks clearly less of a topic's examples
are left out, and a model that does so without them is not taken up (the drift guard).

The teacher reads the shards, which anybody may while their partition writes; nothing passes through messages.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from analecta.analyse.hits import LinkGraph, hubs_and_authorities, link_graph
from analecta.frontier.policy import EXAMPLE_PRIORITY
from analecta.judge import JUDGES, new_judge
from analecta.judge.base import Judge
from analecta.judge.suspects import DOUBTED, MOST, doubtful
from analecta.judge.training_set import archetypes, drifted
from analecta.learning.examples import MarkedPage, given_files, spoken
from analecta.model import NO_TOPIC, UNLABELLED, Example
from analecta.parse import Parser
from analecta.parse.saved_page import read_page
from analecta.settings.schema import Settings
from analecta.store.library import LibraryFolder
from analecta.store.snapshot import Snapshot
from analecta.text.tokens import Words, words

_MOST_TEXT = 60_000  # characters of a page that are learnt from
_HUBS = 10  # of a topic, whose links come first
_MORE = 1.4  # times as many pages met, and it is asked again which examples look wrong
_KEPT = 4000  # texts held in memory from one training to the next


class CrawledPage(msgspec.Struct):
    """A page that the crawl has kept, as the teacher sees it."""

    id: int
    shard: int
    topic: int
    confidence: float


class TrainingResult(msgspec.Struct):
    """What came of a training: the model's name, or why there is no new one."""

    model: str
    about: str = ""
    refused: str = ""
    hubs: tuple[int, ...] = ()  # pages whose links should come first


class Trainer:
    """Makes models from a library."""

    def __init__(
        self, library: LibraryFolder, settings: Settings, topics: Sequence[str], models: Path | None = None
    ) -> None:
        """`topics` are all that the library ever had, by number; `models` is where models go, if not to its own."""
        self.library = library
        self.settings = settings
        self.learn = settings.learn
        self.topics = list(topics)
        self.models = models or library.models
        self.judge = new_judge(settings)  # trained again and again: what it has worked out about pages it may keep
        self.files = given_files(settings, topics, library.folder)  # examples too, by the numbers of their topics
        self._said: Mapping[int, MarkedPage] = {}  # of pages, by id, as of the last lesson
        self._brought: list[Example] | None = None  # what is in the files, once they are read
        self._texts: dict[int, Example] = {}
        self._sure: dict[str, float] = {}  # of the person's examples, by URL: how sure the last model was
        self._cut: tuple[list[str], Words] = ([], words([]))  # the texts of the examples, and their words
        self._doubts: dict[str, int] = {}  # examples that look wrong, by URL: the topic that they are nearer to
        self._looked: tuple[int, int] = (0, 0)  # examples and pages met when it was last asked which look wrong

    def given(self) -> list[Example]:
        """The examples that there are."""
        with self.library.snapshot() as snapshot:
            return self._examples(snapshot)

    def first(self) -> TrainingResult:
        """Learn from the examples; refused where there is not one of any topic."""
        examples = self._weighed(self.given())
        if all(example.topic == NO_TOPIC for example in examples):
            return TrainingResult("", refused="no example of any topic is left")
        self.judge.fit(examples, self.topics)
        self._sure = self._sure_of(examples)
        return self._save(self._about(examples))

    def anew(self) -> TrainingResult:
        """Learn from what a person shows now, and then from what was met; what was known before has no say."""
        lesson = self.first()
        if lesson.refused or not self.learn.every:
            return lesson
        later = self.again(lesson.model, sift=True)
        return lesson if later.refused else later

    def load(self, model: str) -> Judge:
        """The judge of a model of the library."""
        return JUDGES[self.settings.judge.kind].load(self.library.models, model)

    def again(self, old: str, sift: bool = False) -> TrainingResult:
        """Learn from the examples and from what the crawl has met; the `old` model stays where that is no better.

        With `sift` only archetypes count of which the judge as it is now says the same.
        """
        with self.library.snapshot() as snapshot:
            examples = self._examples(snapshot)
            if not self._sure:
                self._sure = self._sure_of(examples, self.load(old))
            met = self._found(snapshot, max(self.learn.others, MOST))
            graph = link_graph(*snapshot.link_arrays()) if self.learn.authorities else None
            parts_itself = "met" in self.judge.needs
            best: list[CrawledPage] = []
            far: list[CrawledPage] = []
            hubs: list[int] = []
            if graph or not parts_itself or self._doubts_due(examples, len(met)):
                found = self._found(snapshot)
                best, hubs = self._archetypes(found, examples, graph)
                far = self._worse(found, {page.id for page in best})
            if parts_itself:  # it finds its archetypes itself
                best, rest, topic = [], met, UNLABELLED
            else:
                rest, topic = far, NO_TOPIC
            weight = self.learn.archetype_weight
            more = [self._example(snapshot, page.id, page.shard, page.topic, weight) for page in best]
            away = [self._example(snapshot, p.id, p.shard, topic, 1.0) for p in _some(rest, self.learn.others)]
            usual = [self._example(snapshot, page.id, page.shard, NO_TOPIC, 1.0).text for page in _some(far, MOST)]
        examples = self._weighed(examples, usual)
        given = {example.url for example in examples}
        new = [example for example in more if example.url not in given]
        new = self._agreed(new) if sift else new
        after, strays = self._fit(examples, new, away)
        if any(example.topic in strays for example in new):  # they lead their topic astray
            new = [example for example in new if example.topic not in strays]
            after, _ = self._fit(examples, new, away)
        if reason := self._drifted(examples, after):
            return TrainingResult(old, refused=reason)
        self._sure = after
        besides = (
            [f"{len(away)} pages met"] if topic == UNLABELLED else [f"{len(new)} archetypes", f"{len(away)} others"]
        )
        return self._save(self._about(examples, *besides), hubs)

    def _fit(
        self, examples: Sequence[Example], new: Sequence[Example], away: Sequence[Example]
    ) -> tuple[dict[str, float], set[int]]:
        """Learn; gives how sure the judge now is of the examples, and the topics whose examples look clearly worse."""
        self.judge.fit([*examples, *new, *away], self.topics)
        after = self._sure_of(examples)
        own = {topic: [e for e in examples if e.topic == topic] for topic in range(len(self.topics))}
        return after, {topic for topic, given in own.items() if self._drifted(given, after)}

    def _drifted(self, examples: Sequence[Example], after: Mapping[str, float]) -> str:
        """Why a model is worse than the last; an example that came late has no before, and a doubted one no say.

        Nor have those of OTHERS: the less sure a model is that they are on topic, the better.
        """
        urls = [e.url for e in examples if e.topic >= 0 and e.weight == 1 and e.url in self._sure]
        return drifted([self._sure[url] for url in urls], [after[url] for url in urls])

    def _agreed(self, archetypes: Sequence[Example]) -> list[Example]:
        verdicts = self.judge.judge_words(words([example.text for example in archetypes])) if archetypes else []
        return [one for one, verdict in zip(archetypes, verdicts, strict=True) if verdict.topic == one.topic]

    def _about(self, examples: Sequence[Example], *more: str) -> str:
        """What is learnt from, in words."""
        doubted = sum(example.weight < 1 for example in examples)
        away = sum(example.topic == NO_TOPIC for example in examples)
        given = f"{len(examples) - away} examples" + (f" ({doubted} doubted)" if doubted else "")
        given += f", {away} of what is not meant" if away else ""
        return ", ".join((given, *more, "1 topic" if len(self.topics) == 1 else f"{len(self.topics)} topics"))

    def _save(self, about: str, hubs: Sequence[int] = ()) -> TrainingResult:
        return TrainingResult(self.judge.save(self.models), about, hubs=tuple(hubs))

    def _sure_of(self, examples: Sequence[Example], judge: Judge | None = None) -> dict[str, float]:
        """How sure a model is of the person's examples, by their URLs."""
        texts = [example.text for example in examples]
        if texts != self._cut[0]:
            self._cut = texts, words(texts)
        verdicts = (judge or self.judge).judge_words(self._cut[1])
        pairs = zip(examples, verdicts, strict=True)
        return {e.url: v.confidence if v.topic in (e.topic, -1) else 0.0 for e, v in pairs}

    # --- examples that look wrong -----------------------------------------------------------------------------------

    def _weighed(self, examples: list[Example], usual: Sequence[str] = ()) -> list[Example]:
        """The examples; those that look wrong count less, and a person can read which (judge/suspects.py).

        Those of OTHERS are never doubted: people give such as look right and are not.
        """
        meant = [example for example in examples if example.topic >= 0]
        met = usual if _alone(meant) else []
        if meant and self._doubts_due(meant, len(met)):
            self._looked = len(meant), len(met)
            before, self._doubts = self._doubts, doubtful(meant, met)
            self._tell_doubts(meant, before)
        doubted = self._doubts.keys() - {one.url for one in self._said.values()}
        return [msgspec.structs.replace(e, weight=DOUBTED) if e.url in doubted else e for e in examples]

    def _doubts_due(self, examples: Sequence[Example], met: int) -> bool:
        """Whether to ask again which examples look wrong: there are others, or so many more pages were met."""
        meant = [example for example in examples if example.topic >= 0]
        more = min(met, MOST) >= _MORE * max(self._looked[1], 1)
        return len(meant) != self._looked[0] or (more and _alone(meant))

    def _tell_doubts(self, examples: Sequence[Example], before: Mapping[str, int]) -> None:
        """Write down which examples count for little, once, and which of them do so no longer."""
        told = {note for _, note in self.library.notes()} if self._doubts else set()
        for e in examples:
            if (nearer := self._doubts.get(e.url)) is not None:
                like = f"looks more like {self.topics[nearer]}" if nearer >= 0 else "has little in common with others"
                note = f"an example of {self.topics[e.topic]} {like}, so it counts for little: {e.url}"
                if note not in told:
                    self.library.note(note)
            elif e.url in before:
                self.library.note(f"an example of {self.topics[e.topic]} counts in full again: {e.url}")

    # --- what there is to learn from --------------------------------------------------------------------------------

    def _examples(self, snapshot: Snapshot) -> list[Example]:
        """The pages and files that a person gave, or where such pages have moved; and what was called good or bad."""
        self._said = spoken(self.library, self.settings, self.topics)
        rows = [row for row in snapshot.examples(EXAMPLE_PRIORITY) if row[0] not in self._said] + self._called(snapshot)
        found = [self._trimmed(id, self._example(snapshot, id, shard, topic, 1.0)) for id, topic, shard in rows]
        if self._brought is None:
            self._brought = self._read() if self.files else []
        return sorted(found + self._brought, key=lambda example: (example.topic, example.url))

    def _called(self, snapshot: Snapshot) -> list[tuple[int, int, int]]:
        """Pages that are examples because a person said so of them: id, topic and shard."""
        called = [(id, one.example) for id, one in self._said.items() if one.example is not None]
        return [(id, topic, shard) for id, topic in called for shard in snapshot.shards_with_text(id)]

    def _read(self) -> list[Example]:
        """What is in the files; a person can read of which nothing could be learnt."""
        found = []
        told = {note for _, note in self.library.notes()}
        with Parser() as parser:
            for topic, name in dict.fromkeys(self.files):
                page = read_page(self.library.folder / name, name, parser)
                note = f"nothing can be learnt from the example {name}: {page.limits}"
                if page.text:
                    found.append(Example(topic, f"file:{name}", page.text[:_MOST_TEXT]))
                elif note not in told:
                    self.library.note(note)
        return found

    def _found(self, snapshot: Snapshot, most: int = -1) -> list[CrawledPage]:
        """Pages that stand for themselves, but the person's examples and what else a person has spoken of.

        All of them, or those that `_some` would choose: a long crawl has too many to hold them all for that.
        """
        rows = snapshot.learnable(EXAMPLE_PRIORITY, most + len(self._said) if most >= 0 else None)
        return [CrawledPage(*row) for row in rows if row[0] not in self._said]

    def _archetypes(
        self, found: Sequence[CrawledPage], examples: Sequence[Example], graph: LinkGraph | None
    ) -> tuple[list[CrawledPage], list[int]]:
        """The best pages of each topic: none below what the examples get, not more than a share of what was met.

        And, with link analysis, the best hubs. Where links say nothing (a web of one host), confidence alone counts.
        """
        chosen: list[CrawledPage] = []
        front: list[int] = []
        trusted = self._sure.keys() - self._doubts.keys()
        by_topic: list[dict[int, CrawledPage]] = [{} for _ in self.topics]
        for page in found:
            if 0 <= page.topic < len(self.topics):
                by_topic[page.topic][page.id] = page
        for topic, own in enumerate(by_topic):
            training = [self._sure[e.url] for e in examples if e.topic == topic and e.url in trusted]
            most = min(self.learn.archetypes, int(self.learn.archetype_share * len(found)))
            sure = {id: page.confidence for id, page in own.items()}
            hubs, authorities = hubs_and_authorities(graph, own) if graph else ({}, {})
            front += sorted(hubs, key=lambda id: (-hubs[id], id))[:_HUBS]
            chosen += [own[id] for id in archetypes(sure, authorities or sure, training, most)]
        return chosen, front

    def _worse(self, found: Sequence[CrawledPage], best: set[int]) -> list[CrawledPage]:
        """The worse half of the pages."""
        ranked = sorted((page for page in found if page.id not in best), key=lambda page: (page.confidence, page.id))
        return ranked[: (len(found) + 1) // 2]

    def _example(self, snapshot: Snapshot, id: int, shard: int, topic: int, weight: float) -> Example:
        known = self._texts.get(id)
        if known is None:
            url, text, anchor = snapshot.example(id, shard)
            known = Example(-1, url, text[:_MOST_TEXT], anchor)
            if len(self._texts) > _KEPT:
                self._texts.clear()
            self._texts[id] = known
        return msgspec.structs.replace(known, topic=topic, weight=weight)

    def _trimmed(self, id: int, example: Example) -> Example:
        """With the text that a person left of it (B10), where one did."""
        text = self._said[id].text if id in self._said else ""
        return msgspec.structs.replace(example, text=text[:_MOST_TEXT]) if text else example


def _alone(examples: Sequence[Example]) -> bool:
    """Whether all are of one topic: only then pages met tell which of them look wrong."""
    return len({example.topic for example in examples}) == 1


def _some(pages: Sequence[CrawledPage], most: int) -> list[CrawledPage]:
    """So many pages at most: by chance (ids are hashes), and mostly those that it was the last time."""
    return sorted(pages, key=lambda page: page.id)[:most]
