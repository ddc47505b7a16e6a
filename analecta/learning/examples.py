"""Examples follow the settings: a page that they name is an example of that topic, all others are pages like any.

A seed may be moved to another topic, removed or put back after it was fetched. Where it redirects, the page that it
leads to goes with it.
"""

import contextlib
from collections.abc import Iterator, Sequence
from sqlite3 import Connection

import msgspec

from analecta.frontier.policy import SEED_PRIORITY
from analecta.model import OTHERS, Found, State
from analecta.settings.schema import Settings
from analecta.store.library import Library
from analecta.store.partition import Shard
from analecta.store.sites import has_site_urls
from analecta.urls import canonical

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
