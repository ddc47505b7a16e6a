"""A scope that was changed between two crawls holds for what is known already, too.

What waits and is out of scope now is refused; what was refused for the scope alone and is in it now waits again. Where
a crawl goes from site to site, most URLs wait for their site: they are refused with that reason until it is named.
"""

from collections import Counter

import msgspec
import xxhash

from analecta.frontier.policy import Bounds
from analecta.model import Candidate, State, Target
from analecta.store.shard import Shard
from analecta.store.site_urls import WAITS, has_site_urls

_KEY = "scope"
_QUERY = f"""SELECT u.n, u.id, u.url, h.name, u.priority, u.topic, u.depth, u.state, u.reason FROM urls u
  JOIN hosts h ON h.n = u.host
  WHERE u.state = ? OR (u.state = ? AND u.reason IN ('scope-host', 'scope-depth', 'scope-exclude', '{WAITS}'))"""
_SET = "UPDATE urls SET state = ?, cold = 0, reason = ? WHERE n = ?"


def rescope(shard: Shard, bounds: Bounds, growing: bool) -> tuple[Counter[int], list[Candidate]]:
    """Apply the scope to a partition where it is another than at the last crawl.

    How many more are queued by topic, and in a `growing` crawl the URLs that wait for their sites again.
    """
    mark = xxhash.xxh3_64_hexdigest(msgspec.json.encode(bounds.said)).encode()
    more: Counter[int] = Counter()
    again: list[Candidate] = []
    if shard.get(_KEY, b"") == mark:
        return more, again
    shard.put(_KEY, mark)
    changed = list[tuple[int, str | None, int]]()
    out = list[int]()
    for n, id, url, host, priority, topic, depth, state, reason in shard.db.execute(
        _QUERY, (State.QUEUED, State.REFUSED)
    ):
        target = Target(url, id, host)
        refusal = bounds.refusal(target, depth)
        if bool(refusal) == (state == State.REFUSED and reason != WAITS):
            continue
        if refusal:
            changed.append((int(State.REFUSED), refusal, n))
            out.append(id)
            more[topic] -= state == State.QUEUED
        elif growing:
            changed.append((int(State.REFUSED), WAITS, n))
            again.append(Candidate(target, priority, topic, depth))
        else:
            changed.append((int(State.QUEUED), None, n))
            more[topic] += 1
    shard.db.executemany(_SET, changed)
    if has_site_urls(shard.db):
        gone = msgspec.json.encode(out)
        shard.db.execute("DELETE FROM site_urls WHERE id IN (SELECT value FROM json_each(?))", (gone,))
    return more, again
