"""Why a URL is in, out, refused, failed, waiting, or was never seen; gathered here, told by cli/explain_table.py."""

import re
import sqlite3
from collections.abc import Container, Iterator, Sequence
from typing import Any

import msgspec

from analecta.errors import AnalectaError, BadUse
from analecta.judge import JUDGES
from analecta.judge.page_kinds import kind_of
from analecta.model import Page, State, Target
from analecta.settings.load import load
from analecta.store.archive import CERTIFICATE, Place, read_field
from analecta.store.library import Library
from analecta.store.library_db import DROP, GOOD, learnt, said
from analecta.store.links import Linked, linked
from analecta.store.partition import NOARCHIVE, NOFOLLOW, NOINDEX, SOFT404
from analecta.store.schema import unpack_text
from analecta.store.url_lookup import Known, Url
from analecta.text.display import iso
from analecta.urls import canonical
from analecta.views.reasons import sentence

_MOST_LISTED = 20
_TERMS = 10
_FLAGS = {"noindex": NOINDEX, "nofollow": NOFOLLOW, "noarchive": NOARCHIVE, "soft404": SOFT404}
_PAGE = """SELECT p.title, p.status, p.mime, p.lang, p.fetched_at, p.topic, p.confidence, p.model, p.flags, f.name,
  p.offset, p.length, p.words, p.limits, p.truncated, p.author, p.date, p.text
  FROM pages p LEFT JOIN files f ON f.n = p.file WHERE p.id = ? ORDER BY p.seq DESC LIMIT 1"""
_AHEAD = f"SELECT sum(priority > ?), count(*) FROM urls WHERE state = {int(State.QUEUED)}"


class Step(msgspec.Struct, frozen=True):
    """A URL on the way from a seed: how it was come by, and the words of the link to it."""

    url: str
    found: str
    state: str
    anchor: str


class Model(msgspec.Struct, frozen=True):
    """The model that judged a page; without a kind where the library does not know it any more."""

    hash: str
    kind: str = ""
    made_at: str = ""
    about: str = ""  # what it learnt from, in words
    current: bool = False


class Kept(msgspec.Struct, frozen=True):
    """What was kept of a URL, and what the judge said."""

    title: str
    status: int
    mime: str
    lang: str
    author: str
    date: str
    fetched_at: str
    topic: str
    confidence: float | None
    model: Model | None
    terms: list[tuple[str, float]]
    flags: list[str]
    kind: str  # where it is of one that makes a poor item
    words: int
    limits: str
    truncated: str
    warc_file: str
    warc_offset: int | None
    warc_length: int | None
    certificate: str = ""  # where it was not checked, because a person allowed that


class Explanation(msgspec.Struct):
    """All that the library knows of a URL."""

    url: str
    state: str = "unknown"
    reason: str = ""
    why: str = ""
    detail: str = ""
    host: str = ""
    host_delay: float = 0.0  # seconds that its robots.txt asks for between two requests
    host_waits_until: str = ""  # the host asked us to wait, or did not answer
    crawling: bool = False
    topic: str = ""  # of the path that led here; the page's own is in `page`
    priority: float | None = None
    depth: int | None = None
    astray: int | None = None
    tries: int = 0
    chain: list[Step] = []
    stands_elsewhere: list[str] = []  # the URLs after it, up to the one that stands for it
    stands_for: list[str] = []  # redirects and copies for which it stands
    linked: Linked = Linked()
    context: str = ""  # the words around the link that it was found by
    ahead: int | None = None  # of those that wait, how many have a higher priority
    waiting: int | None = None
    similar: list[str] = []
    page: Kept | None = None
    said: list[str] = []  # feedback on the page: good, bad or drop, the topic, why
    as_said: bool = False  # its topic, or that it has none, is what a person said and not what the judge thinks
    not_yet: bool = False  # a person said otherwise, and nothing has learnt from it yet
    to_begin: bool = False  # never asked for, and the settings name it as a page to begin at


def explain(library: Library, url: str) -> Explanation:
    """What the library knows of a URL, given in any form."""
    target = canonical(url if re.match(r"(?i)https?:|[a-z][a-z0-9+.-]*://", url) else f"https://{url}")
    if target is None:
        raise BadUse(f"{url!r} is not an http or https URL")
    topics = library.topic_names()
    with library.shards() as shards:
        known = Known(shards)
        found = known.get(target.id)
        if found is None:
            return _never_seen(target, known, topics, _to_begin(library))
        told = _of_url(found, known, topics)
        told.crawling = bool(library.holder())
        told.page = _kept(library, shards, found, topics)
        _add_words(told, library, found.id)
        if found.state == State.QUEUED:
            told.ahead, told.waiting = _queue(shards, found.priority)
    return told


def _add_words(told: Explanation, library: Library, page: int) -> None:
    """What a person said of the page, and whether it stands as the last of it has it."""
    words = [word for word in said(library) if word.page == page]
    told.said = [f"{word.says} {word.topic} {word.note}".strip() for word in words]
    if not words or told.page is None or words[-1].says == DROP:
        return
    last, topic = words[-1], told.page.topic
    if last.says == GOOD:
        heard = topic == last.topic
        told.as_said = heard and told.page.confidence == 1  # as a person's word makes it
    else:
        heard = topic != last.topic if last.topic else not topic
        told.as_said = not topic
    told.not_yet = not heard and not learnt(library)


def _never_seen(target: Target, known: Known, topics: Sequence[str], begin: Container[int]) -> Explanation:
    similar = [found.url for other in _other_forms(target.url) if (found := known.get(other.id))]
    links = linked(known, [target.id], topics)
    return Explanation(target.url, host=target.host, linked=links, similar=similar, to_begin=target.id in begin)


def _to_begin(library: Library) -> set[int]:
    """The pages that the settings name to begin at."""
    settings = load(library.settings_path)
    named = [*settings.others.seeds, *(url for topic in settings.topics for url in (*topic.seeds, *topic.starts))]
    return {target.id for url in named if (target := canonical(url))}


def _other_forms(url: str) -> Iterator[Target]:
    """How the same page might be written: with www or without, with a slash at the end or without, without query."""
    scheme, _, rest = url.partition("://")
    www = rest.removeprefix("www.") if rest.startswith("www.") else f"www.{rest}"
    path = rest.partition("?")[0]
    slash = path.rstrip("/") if path.count("/") > 1 and path.endswith("/") else f"{path}/"
    for form in dict.fromkeys((www, slash, path)):
        if form != rest and (target := canonical(f"{scheme}://{form}")):
            yield target


def _of_url(found: Url, known: Known, topics: Sequence[str]) -> Explanation:
    chain = known.chain(found)
    delay, until = _host(known.shards, found.host)
    others = _standing_for(found.id, known.shards)
    return Explanation(
        url=found.url,
        state=found.state.name.lower(),
        reason=found.reason,
        why=sentence(found.reason) if found.reason else "",
        detail=found.detail,
        host=found.host,
        host_delay=delay,
        host_waits_until=iso(until) if until else "",
        topic=topics[found.topic] if 0 <= found.topic < len(topics) else "",
        priority=found.priority,
        depth=found.depth,
        astray=found.astray,
        tries=found.tries,
        chain=[Step(step.url, step.found.name.lower(), step.state.name.lower(), step.anchor) for step in chain],
        stands_elsewhere=_onward(found, known),
        stands_for=[url for _, url in others],
        linked=linked(known, [found.id, *(id for id, _ in others)], topics),
        context=found.context,
    )


def _host(shards: Sequence[sqlite3.Connection], name: str) -> tuple[float, float]:
    """What a host asked for: seconds between requests, and until when to wait; 0 for nothing."""
    query = "SELECT coalesce(delay, 0), coalesce(wait_until, 0) FROM hosts WHERE name = ?"
    rows = [row for shard in shards for row in shard.execute(query, (name,))]
    return max(rows, default=(0.0, 0.0))


def _onward(found: Url, known: Known) -> list[str]:
    """Where a redirect or copy leads, step by step."""
    steps: list[str] = []
    seen = {found.id}
    while found.state == State.ELSEWHERE and found.elsewhere not in seen and (after := known.get(found.elsewhere)):
        steps.append(after.url)
        seen.add(after.id)
        found = after
    return steps


def _standing_for(id: int, shards: Sequence[sqlite3.Connection]) -> list[tuple[int, str]]:
    query = f"SELECT id, url FROM urls WHERE elsewhere = ? ORDER BY n LIMIT {_MOST_LISTED}"
    return [row for shard in shards for row in shard.execute(query, (id,))]


def _queue(shards: Sequence[sqlite3.Connection], priority: float) -> tuple[int, int]:
    """How many URLs wait with a higher priority, and how many in all."""
    rows = [shard.execute(_AHEAD, (priority,)).fetchone() for shard in shards]
    return sum(ahead or 0 for ahead, _ in rows), sum(count for _, count in rows)


def _kept(library: Library, shards: Sequence[sqlite3.Connection], found: Url, topics: Sequence[str]) -> Kept | None:
    rows = (shard.execute(_PAGE, (found.id,)).fetchone() for shard in shards)
    row: tuple[Any, ...] | None = next((row for row in rows if row), None)
    if row is None:
        return None
    title, status, mime, lang, fetched, topic, confidence, model, flags, file, offset, length = row[:12]
    words, limits, truncated, author, date, text = row[12:]
    made_by = _model(library, model) if model else None
    page = Page(found.url, found.id, found.host, mime or "", title=title or "", text=unpack_text(text))
    return Kept(
        title=title or "",
        status=status,
        mime=mime or "",
        lang=lang or "",
        author=author or "",
        date=date or "",
        fetched_at=iso(fetched),
        topic=topics[topic] if 0 <= topic < len(topics) else "",
        confidence=confidence,
        model=made_by,
        terms=_terms(library, made_by, page) if made_by else [],
        flags=[name for name, bit in _FLAGS.items() if flags & bit],
        kind=kind_of(page)[0],
        words=words or 0,
        limits=limits or "",
        truncated=truncated or "",
        warc_file=f"archive/{file}" if file else "",
        warc_offset=offset,
        warc_length=length,
        certificate=_certificate(library, found.url, file, offset, length),
    )


def _certificate(library: Library, url: str, file: str | None, offset: int, length: int) -> str:
    """What the archived record says of the server's certificate."""
    if not file or not url.startswith("https:"):
        return ""
    return read_field(library.archive / file, Place(0, offset, length), CERTIFICATE)


def _model(library: Library, hash: str) -> Model:
    with library.database(readonly=True) as db:
        row = db.execute("SELECT kind, made_at, about FROM models WHERE hash = ?", (hash,)).fetchone()
    if row is None:
        return Model(hash)
    kind, made_at, about = row
    return Model(hash, kind, iso(made_at), about, hash == library.get("model"))


def _terms(library: Library, model: Model, page: Page) -> list[tuple[str, float]]:
    """The terms that made a verdict, heaviest first; none where the model's file is gone."""
    if model.kind not in JUDGES:
        return []
    try:
        judge = JUDGES[model.kind].load(library.models, model.hash)
    except AnalectaError:
        return []
    return judge.explain(page)[:_TERMS]
