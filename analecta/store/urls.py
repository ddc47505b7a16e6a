"""What waits in a shard, and the pages that link to it: read when a new model or a new course changes their worth."""

import json
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from sqlite3 import Connection
from typing import NamedTuple

import msgspec

from analecta.model import FoundBy, Lease, UrlRef, UrlState, Verdict
from analecta.store.partition import NOFOLLOW, SOFT404, Shard
from analecta.store.schema import unpacked
from analecta.store.sites import WAITS
from analecta.store.sqlite import has_table

FULL = "host-full"  # the reason of URLs whose host has given all pages that it may


class WaitingUrl(msgspec.Struct):
    """A URL that waits: `page` is the one that it was found on, `host` a number."""

    id: int
    page: int
    host: int
    depth: int
    priority: float


class LinkSource(msgspec.Struct):
    """A page that was kept: how it was come by, what is said of it now, and the packed ids that it links to."""

    lease: Lease
    verdict: Verdict
    twin: bool
    links: bytes


def waiting(db: Connection, cold: bool = False) -> list[WaitingUrl]:
    """The URLs in the frontier's memory that were found by a link or a redirect; or those outside it."""
    hot = "INDEXED BY urls_open WHERE state < 2 AND cold = 0 AND state = 0"
    query = (
        f"SELECT id, parent, host, depth, priority FROM urls {'WHERE cold = 1' if cold else hot}"
        f" AND found IN ({FoundBy.LINK:d}, {FoundBy.REDIRECT:d}) AND priority BETWEEN 0.0 AND 1.0"
    )
    return [WaitingUrl(*row) for row in db.execute(query)]


def sources(db: Connection, ids: Collection[int]) -> list[LinkSource]:
    """Those of the pages with these ids that are here and whose links are followed."""
    query = (
        "SELECT u.id, h.name, u.priority, u.topic, u.depth, u.astray, p.topic, p.confidence, p.topics,"
        " p.duplicate_of IS NOT NULL, p.links FROM json_each(?) wanted JOIN urls u ON u.id = wanted.value"
        " JOIN pages p ON p.seq = u.page JOIN hosts h ON h.n = u.host"
        f" WHERE p.links IS NOT NULL AND p.flags & {NOFOLLOW | SOFT404} = 0"
    )
    rows = db.execute(query, (json.dumps(list(ids)),))
    return [
        LinkSource(
            Lease(0, id, "", host, priority, path, depth, 0, FoundBy.LINK, astray, 0, 0),
            unpacked(topic, sure, topics),
            bool(twin),
            links,
        )
        for id, host, priority, path, depth, astray, topic, sure, topics, twin, links in rows
    ]


def host_names(db: Connection) -> dict[int, str]:
    """The names of hosts by their numbers."""
    return dict(db.execute("SELECT n, name FROM hosts"))


def entered_hosts(db: Connection) -> list[str]:
    """Hosts of which some URL was queued at least."""
    rows = db.execute(f"SELECT name FROM hosts WHERE n IN (SELECT host FROM urls WHERE state != {UrlState.REFUSED:d})")
    return [name for (name,) in rows]


# --- examples --------------------------------------------------------------------------------------------------------


# An address that no page led to is a seed, or else one to begin at.
_HOLD = f"""UPDATE urls SET priority = :priority, topic = :topic, cold = 0,
  found = CASE WHEN found = {FoundBy.LINK:d} AND parent = 0 THEN {FoundBy.SEED:d} ELSE found END
  WHERE id = :id AND (priority < :priority OR topic != :topic)"""
# A person's word counts more than what became of it, but for the scope.
_ASK = f"""UPDATE urls SET state = {UrlState.QUEUED:d}, depth = 0, tries = 0, reason = NULL, detail = NULL
  WHERE id = ? AND state IN ({UrlState.FAILED:d}, {UrlState.REFUSED:d}) AND page IS NULL
  AND reason NOT IN ('scope-host', 'scope-exclude', 'sitemap', 'probe', 'poison')"""
_RELEASE = f"""UPDATE urls SET priority = ?,
  found = CASE found WHEN {FoundBy.SEED:d} THEN {FoundBy.LINK:d} ELSE found END WHERE id = ?"""
_LEADS = f"SELECT elsewhere FROM urls WHERE id = ? AND state = {UrlState.ALIAS:d} AND reason LIKE 'http-%'"


def hold_example(shard: Shard, id: int, topic: int, priority: float) -> None:
    """Let a URL be an example, if it is known; its page is on topic because a person says so.

    One that came to nothing before it was named is asked for again. To be committed.
    """
    db = shard.db
    changed = db.execute(_HOLD, {"id": id, "topic": topic, "priority": priority}).rowcount
    if changed and db.execute(_ASK, (id,)).rowcount and has_table(db, "site_urls"):
        db.execute("UPDATE site_urls SET let_go = 1 WHERE id = ?", (id,))  # it does not wait for its site
    if changed and topic >= 0:
        own = "seq = (SELECT page FROM urls WHERE id = ?)"
        db.execute(f"UPDATE pages SET topic = ?, topics = NULL WHERE {own} AND topic >= 0", (topic, id))


def release_examples(shard: Shard, priority: float, kept: Container[int], ordinary: float) -> None:
    """Let examples that are not `kept` be URLs like any, with an ordinary priority; to be committed."""
    rows = shard.db.execute("SELECT id FROM urls WHERE priority >= ?", (priority,)).fetchall()
    shard.db.executemany(_RELEASE, [(ordinary, id) for (id,) in rows if id not in kept])


def queued_by_topic(shard: Shard) -> dict[int, int]:
    """How many URLs of each topic wait."""
    return dict(shard.db.execute("SELECT topic, count(*) FROM urls WHERE state = 0 GROUP BY topic").fetchall())


def redirect_of(shard: Shard, id: int) -> int | None:
    """Where a URL redirects to; None where it does not, or is not here."""
    row = shard.db.execute(_LEADS, (id,)).fetchone()
    return row[0] if row else None


# --- a changed scope -------------------------------------------------------------------------------------------------


# What waits, and what was refused for something that settings can change.
_SCOPED = f"""SELECT u.id, u.url, h.name, u.priority, u.topic, u.depth, u.found, u.page, u.state, u.reason FROM urls u
  JOIN hosts h ON h.n = u.host WHERE u.state = {UrlState.QUEUED:d} OR (u.state = {UrlState.REFUSED:d}
  AND u.reason IN ('scope-host', 'scope-depth', 'scope-exclude', '{FULL}', 'guard', '{WAITS}',
  'trap-depth', 'trap-repeat'))"""


class ScopedUrl(NamedTuple):
    """A URL that waits, or was refused for what may have changed."""

    id: int
    url: str
    host: str
    priority: float
    topic: int
    depth: int
    found: int
    page: int | None
    state: int
    reason: str | None

    @property
    def target(self) -> UrlRef:
        """Where it points."""
        return UrlRef(self.url, self.id, self.host)


def scoped_urls(shard: Shard) -> Iterator[ScopedUrl]:
    """All of them."""
    return map(ScopedUrl._make, shard.db.execute(_SCOPED))


def set_states(shard: Shard, states: Iterable[tuple[int, str | None, int]]) -> None:
    """Give URLs another state and reason: (state, reason, id); to be committed."""
    shard.db.executemany("UPDATE urls SET state = ?, cold = 0, reason = ? WHERE id = ?", states)


def lift_demoted(shard: Shard, ids: Iterable[int]) -> None:
    """Let URLs that wait behind all others wait like any; to be committed."""
    shard.db.executemany("UPDATE urls SET priority = 0.5, reason = NULL WHERE id = ?", [(id,) for id in ids])


def requeue_tls(shard: Shard, hosts: Sequence[str]) -> Counter[int]:
    """Queue again what failed for its certificate on hosts that need none now; how many of each topic.

    To be committed.
    """
    if not hosts:
        return Counter()
    rows = shard.db.execute(
        f"UPDATE urls SET state = {UrlState.QUEUED:d}, cold = 0, tries = 0, reason = NULL, detail = NULL"
        f" WHERE state = {UrlState.FAILED:d} AND reason GLOB 'tls*' AND page IS NULL AND host IN"
        " (SELECT n FROM hosts, json_each(?) WHERE name = value OR substr(name, 1, length(value) + 1) = value || ':')"
        " RETURNING topic",
        (msgspec.json.encode(hosts),),
    ).fetchall()
    return Counter(topic for (topic,) in rows)


def urls_let_go(shard: Shard) -> set[int]:
    """URLs that a crawl from site to site has let go."""
    if not has_table(shard.db, "site_urls"):
        return set()
    return {id for (id,) in shard.db.execute("SELECT id FROM site_urls WHERE let_go = 1")}


def forget_site_urls(shard: Shard, ids: Sequence[int]) -> None:
    """These do not wait for their sites, or are yet to be written down as such. To be committed."""
    if has_table(shard.db, "site_urls"):
        known = msgspec.json.encode(ids)
        shard.db.execute("DELETE FROM site_urls WHERE id IN (SELECT value FROM json_each(?))", (known,))
