"""Why a URL is in, out, refused, failed, waiting, or was never seen; gathered here, told by publish/telling.py."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from analecta.errors import AnalectaError, BadUse
from analecta.judge import JUDGES
from analecta.model import Page, State, Target
from analecta.publish.known import Known, Url
from analecta.publish.reasons import sentence
from analecta.publish.rows import iso, unpacked
from analecta.store.library import Library
from analecta.store.shard import NOARCHIVE, NOFOLLOW, NOINDEX, SOFT404
from analecta.urls import canonical

_MOST_LISTED = 20
_TERMS = 10
_FLAGS = {"noindex": NOINDEX, "nofollow": NOFOLLOW, "noarchive": NOARCHIVE, "soft404": SOFT404}
_PAGE = """SELECT p.title, p.status, p.mime, p.lang, p.fetched_at, p.topic, p.confidence, p.model, p.flags, f.name,
  p.offset, p.length, p.words, p.limits, p.truncated, p.text
  FROM pages p LEFT JOIN files f ON f.n = p.file WHERE p.id = ? ORDER BY p.seq DESC LIMIT 1"""
_LINKING = "SELECT id FROM pages WHERE instr(links, ?) > 0 LIMIT 3"  # no index: a walk through all pages


class Step(msgspec.Struct, frozen=True):
    """A URL on the way from a seed: how it was come by, and the words of the link to it."""

    url: str
    found: str
    state: str
    anchor: str


class Kept(msgspec.Struct, frozen=True):
    """What was kept of a URL, and what the judge said."""

    title: str
    status: int
    mime: str
    lang: str
    fetched_at: str
    topic: str
    confidence: float | None
    model: str
    judge: str
    terms: list[tuple[str, float]]
    flags: list[str]
    words: int
    limits: str
    truncated: str
    warc_file: str
    warc_offset: int | None
    warc_length: int | None


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
    linked_from: list[str] = []
    similar: list[str] = []
    page: Kept | None = None


def explain(library: Library, url: str) -> Explanation:
    """What the library knows of a URL, given in any form."""
    target = canonical(url if re.match(r"(?i)https?:", url) else f"https://{url}")
    if target is None:
        raise BadUse(f"{url!r} is not an http or https URL")
    topics = library.topic_names()
    with library.shards() as shards:
        known = Known(shards)
        found = known.get(target.id)
        if found is None:
            return _never_seen(target, known)
        told = _of_url(found, known, topics)
        told.crawling = bool(library.holder())
        told.page = _kept(library, shards, found, topics)
    return told


def _never_seen(target: Target, known: Known) -> Explanation:
    linking = [
        known.url(id)
        for shard in known.shards
        for (id,) in shard.execute(_LINKING, (target.id.to_bytes(8, "little", signed=True),))
    ]
    similar = [found.url for other in _other_forms(target.url) if (found := known.get(other.id))]
    return Explanation(target.url, host=target.host, linked_from=linking, similar=similar)


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
        stands_for=_standing_for(found.id, known.shards),
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


def _standing_for(id: int, shards: Sequence[sqlite3.Connection]) -> list[str]:
    query = f"SELECT url FROM urls WHERE elsewhere = ? ORDER BY n LIMIT {_MOST_LISTED}"
    return [url for shard in shards for (url,) in shard.execute(query, (id,))]


def _kept(library: Library, shards: Sequence[sqlite3.Connection], found: Url, topics: Sequence[str]) -> Kept | None:
    rows = (shard.execute(_PAGE, (found.id,)).fetchone() for shard in shards)
    row: tuple[Any, ...] | None = next((row for row in rows if row), None)
    if row is None:
        return None
    title, status, mime, lang, fetched, topic, confidence, model, flags, file, offset, length = row[:12]
    words, limits, truncated, text = row[12:]
    judge, terms = _made_by(library, model or "", found, unpacked(text))
    return Kept(
        title=title or "",
        status=status,
        mime=mime or "",
        lang=lang or "",
        fetched_at=iso(fetched),
        topic=topics[topic] if 0 <= topic < len(topics) else "",
        confidence=confidence,
        model=model or "",
        judge=judge,
        terms=terms,
        flags=[name for name, bit in _FLAGS.items() if flags & bit],
        words=words or 0,
        limits=limits or "",
        truncated=truncated or "",
        warc_file=f"archive/{file}" if file else "",
        warc_offset=offset,
        warc_length=length,
    )


def _made_by(library: Library, model: str, found: Url, text: str) -> tuple[str, list[tuple[str, float]]]:
    """The kind of judge that made a verdict, and the terms that made it; none where its model is gone."""
    with library.database(readonly=True) as db:
        row = db.execute("SELECT kind FROM models WHERE hash = ?", (model,)).fetchone()
    if row is None or row[0] not in JUDGES:
        return "", []
    try:
        judge = JUDGES[row[0]].load(library.models, model)
    except AnalectaError:
        return row[0], []
    return row[0], judge.explain(Page(found.url, found.id, found.host, "", text=text))[:_TERMS]
