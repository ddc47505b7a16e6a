"""What is learned from: examples of the settings, files, and what a person has said of pages."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from sqlite3 import Connection

import msgspec
import xxhash

from analecta.errors import BadUse, suggest
from analecta.frontier.policy import SEED_PRIORITY
from analecta.model import BELOW, OTHERS, Found, State, Verdict
from analecta.parse.saved_page import read_example
from analecta.settings.schema import Settings
from analecta.store.library import SETTINGS, Library
from analecta.store.library_db import BAD, DROP, GOOD, MARK, Word, mark, said
from analecta.store.partition import NOINDEX, SOFT404, Shard
from analecta.store.schema import packed_topics, unpacked
from analecta.store.sites import has_site_urls
from analecta.urls import canonical

# --- given -----------------------------------------------------------------------------------------------------------
# What a person gave to learn from, as the settings name it: which files, and whether it is still what it was.


def given_files(settings: Settings, topics: Sequence[str], folder: Path) -> list[tuple[int, str]]:
    """All files that are examples, as paths from the library's `folder`, with the numbers of their topics.

    BadUse where one lies outside, also by way of a link: settings may come from others, and what was learned from a
    file is passed on with models, pages and bundles.
    """
    files = [(topics.index(topic.name), name) for topic in settings.topics for name in topic.examples]
    files += [(OTHERS, name) for name in settings.others.examples]
    for _, name in files:
        if not _is_inside(folder, name):
            raise BadUse(
                f"{folder / SETTINGS} names the example {name!r}, which is outside the library: copy it into "
                f"{folder / 'topics'} (`analecta add LIB --examples DIR` does), and name it so"
            )
    return files


def _is_inside(folder: Path, name: str) -> bool:
    try:
        return (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # links in a ring, a NUL
        return False


def digest(settings: Settings, topics: Sequence[str], folder: Path) -> str:
    """Of all examples: where a person has given others, or changed a file, the first lesson is held again."""
    given: list[object] = [*sorted((topic.name, sorted(topic.seeds)) for topic in settings.topics)]
    files = [(topic, name, _content(folder / name)) for topic, name in given_files(settings, topics, folder)]
    if files or settings.others.seeds:  # else it is as it was before there were such
        given += [sorted(settings.others.seeds), files]
    return xxhash.xxh3_64_hexdigest(msgspec.json.encode(given))


def with_words(given: str, words: Sequence[Word]) -> str:
    """The digest, with what a person has said of pages since; as it was where nothing was said."""
    return f"{given}{MARK}{mark(words)}" if words else given


def _content(path: Path) -> str:
    try:
        return xxhash.xxh3_64_hexdigest(read_example(path))
    except OSError:
        return ""


# --- examples --------------------------------------------------------------------------------------------------------
# Examples follow the settings: a page that they name is an example of that topic, all others are pages like any.
#
# A seed may be moved to another topic, removed or put back after it was fetched. Where it redirects, the page that it
# leads to goes with it.


_ORDINARY = 0.5  # what a URL is worth of which nothing is known any more
# An address that no page led to is a seed, or else one to begin at.
_HOLD = f"""UPDATE urls SET priority = :priority, topic = :topic, cold = 0,
  found = CASE WHEN found = {Found.LINK:d} AND parent = 0 THEN {Found.SEED:d} ELSE found END
  WHERE id = :id AND (priority < :priority OR topic != :topic)"""
# A person's word counts more than what became of it, but for the scope.
_ASK = f"""UPDATE urls SET state = {State.QUEUED:d}, depth = 0, tries = 0, reason = NULL, detail = NULL
  WHERE id = ? AND state IN ({State.FAILED:d}, {State.REFUSED:d}) AND page IS NULL
  AND reason NOT IN ('scope-host', 'scope-exclude', 'sitemap', 'probe', 'poison')"""
_RELEASE = f"""UPDATE urls SET priority = ?,
  found = CASE found WHEN {Found.SEED:d} THEN {Found.LINK:d} ELSE found END WHERE id = ?"""
_LEADS = f"SELECT elsewhere FROM urls WHERE id = ? AND state = {State.ELSEWHERE:d} AND reason LIKE 'http-%'"


@contextlib.contextmanager
def writing(library: Library) -> Iterator[list[Shard]]:
    """The partitions that there are, to be written to; the caller holds the library."""
    with contextlib.ExitStack() as stack:
        paths = (library.shard_path(n) for n in range(library.partitions))
        yield [stack.enter_context(contextlib.closing(Shard(path))) for path in paths if path.exists()]


def follow(shards: Sequence[Shard], settings: Settings, topics: Sequence[str]) -> None:
    """Let what is known of the web agree with the seeds of the settings; to be committed."""
    wanted = _wanted([shard.db for shard in shards], settings, topics)
    for shard in shards:
        rows = shard.db.execute("SELECT id FROM urls WHERE priority >= ?", (SEED_PRIORITY,)).fetchall()
        shard.db.executemany(_RELEASE, [(_ORDINARY, id) for (id,) in rows if id not in wanted])
        for id, topic in wanted.items():
            _hold(shard.db, id, topic)
        queued = shard.db.execute("SELECT topic, count(*) FROM urls WHERE state = 0 GROUP BY topic").fetchall()
        shard.put("queued", msgspec.json.encode(dict(queued)))


def _hold(db: Connection, id: int, topic: int) -> None:
    """Let a URL be an example, if it is known; its page is on topic because a person says so.

    One that came to nothing before it was named is asked for again.
    """
    changed = db.execute(_HOLD, {"id": id, "topic": topic, "priority": SEED_PRIORITY}).rowcount
    if changed and db.execute(_ASK, (id,)).rowcount and has_site_urls(db):
        db.execute("UPDATE site_urls SET let_go = 1 WHERE id = ?", (id,))  # it does not wait for its site
    if changed and topic >= 0:
        db.execute("UPDATE pages SET topic = ?, topics = NULL WHERE id = ? AND topic >= 0", (topic, id))


def _wanted(shards: Sequence[Connection], settings: Settings, topics: Sequence[str]) -> dict[int, int]:
    """The topic of each URL that is an example, by its id."""
    given = [(url, OTHERS) for url in settings.others.seeds]
    given += [(url, topics.index(topic.name)) for topic in settings.topics for url in topic.seeds]
    seeds = {target.id: topic for url, topic in given if (target := canonical(url)) is not None}
    return {id: topic for seed, topic in seeds.items() for id in _led_to(shards, seed)} | seeds


def _led_to(shards: Sequence[Connection], seed: int) -> list[int]:
    """The addresses that redirects lead to from a seed, which is the first of them."""
    path = [seed]
    while (row := _first(shards, path[-1])) and row[0] not in path:
        path.append(row[0])
    return path


def _first(shards: Sequence[Connection], id: int) -> tuple[int] | None:
    return next((row for shard in shards if (row := shard.execute(_LEADS, (id,)).fetchone())), None)


# --- marks -----------------------------------------------------------------------------------------------------------
# What a person's words about pages come to (B18, B10): what is learnt from each page, and which verdicts they allow.
#
# A later word counts before an earlier one. What a person says has the last word: a page called good is of its topic,
# one called bad is not, whatever the judge thinks.


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
