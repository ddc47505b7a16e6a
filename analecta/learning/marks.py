"""What a person's words about pages come to (B18, B10): what is learnt from each page, and which verdicts they allow.

A later word counts before an earlier one. What a person says has the last word: a page called good is of its topic,
one called bad is not, whatever the judge thinks.
"""

from collections.abc import Sequence

import msgspec

from analecta.errors import BadUse, suggest
from analecta.learning.examples import writing
from analecta.model import BELOW, OTHERS, Verdict
from analecta.settings.schema import Settings
from analecta.store.library import Library
from analecta.store.library_db import BAD, DROP, GOOD, Word, said
from analecta.store.partition import NOINDEX, SOFT404, Shard
from analecta.store.schema import packed_topics, unpacked

_SURE = 1.0  # confidence where a person says so
# What its owner wants listed nowhere stays so.
_VERDICT = f"""SELECT p.seq, p.topic, p.confidence, p.topics, p.model FROM urls u JOIN pages p ON p.seq = u.page
  WHERE u.id = ? AND p.flags & {NOINDEX | SOFT404} = 0"""


class Said(msgspec.Struct, frozen=True):
    """What stands of all that was said of a page.

    `example` is the topic that it shows, OTHERS for what is not meant, None where nothing is learnt from it.
    """

    url: str
    example: int | None = None
    never: frozenset[int] = frozenset()  # topics that it is not of
    silent: bool = False  # only dropped: nothing is said about what it is
    text: str = ""  # that is learnt from instead of the page's

    def corrected(self, verdict: Verdict) -> Verdict:
        """A verdict as the person's words allow it."""
        if self.silent:
            return verdict
        left = tuple(one for one in verdict.topics if one[0] not in self.never)
        if self.example is not None and self.example >= 0:
            left = ((self.example, _SURE), *(one for one in left if one[0] != self.example))
        return Verdict(*left[0], left) if left else Verdict(OTHERS, verdict.confidence)


def spoken(library: Library, settings: Settings, topics: Sequence[str]) -> dict[int, Said]:
    """What stands of each page of a library, by its id; `topics` are all that it ever had, by number."""
    return standing(said(library), topics, [topic.name for topic in settings.topics])


def standing(words: Sequence[Word], topics: Sequence[str], named: Sequence[str]) -> dict[int, Said]:
    """What stands of each page, by its id; words about a topic that is not `named` are about the nearest above it."""
    found: dict[int, Said] = {}
    for word in words:
        before = found.get(word.page, Said(word.url))
        topic = _number(word.topic, topics, named)
        if word.topic and topic is None:
            continue
        found[word.page] = _after(before, word, topic, topics)
    return found


def _after(before: Said, word: Word, topic: int | None, topics: Sequence[str]) -> Said:
    match word.says:
        case "good":
            return Said(word.url, topic, before.never - {topic}, text=word.text)
        case "drop":
            return Said(word.url, None, silent=True)
    if topic is None:
        return Said(word.url, OTHERS, frozenset(range(len(topics))), text=word.text)
    never = before.never | {topic}
    if before.example is not None and before.example >= 0 and before.example != topic:
        return Said(word.url, before.example, never, text=before.text)  # it shows another topic as before
    return Said(word.url, OTHERS if word.away else None, never, text=word.text)


def _number(name: str, topics: Sequence[str], named: Sequence[str]) -> int | None:
    while name and name not in named:
        name = name.rpartition(BELOW)[0]
    return topics.index(name) if name else None


def word_for(
    page: int,
    url: str,
    of: Sequence[str],
    named: Sequence[str],
    says: str,
    topic: str = "",
    note: str = "",
    text: str = "",
) -> Word:
    """What a person says of a page `of` some topics, made definite: good of which topic, bad for all or for one."""
    if topic and topic not in named:
        raise BadUse(f"there is no topic {topic!r}{suggest(topic, list(named))}")
    if says == GOOD and not topic:
        topic = next((name for name in of if name in named), named[0] if len(named) == 1 else "")
        if not topic:
            raise BadUse(f"{url} is of no topic yet: say which it shows with --topic, one of: {', '.join(named)}")
    others = any(name != topic and name in named for name in of)
    # A page that another topic claims as well shows nothing about what is not meant.
    away = says == BAD and not (topic and others)
    return Word(page, url, says, "" if says == DROP else topic, away, note, text)


def correct(library: Library, settings: Settings, topics: Sequence[str]) -> None:
    """Let verdicts agree with what was said while a crawl ran; the caller holds the library."""
    words = spoken(library, settings, topics)
    if not words:
        return
    with writing(library) as shards:
        for shard in shards:
            for id, one in words.items():
                _correct_page(shard, id, one)
            shard.commit()


def _correct_page(shard: Shard, id: int, one: Said) -> None:
    row = shard.db.execute(_VERDICT, (id,)).fetchone()
    if row is None or one.silent:
        return
    verdict = unpacked(*row[1:])
    if (new := one.corrected(verdict)) != verdict:
        shard.set_verdict(row[0], new.topic, new.confidence, packed_topics(new), row[4])
