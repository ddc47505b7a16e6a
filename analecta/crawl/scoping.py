"""A scope that was changed between two crawls holds for what is known already, too.

What waits and is out of scope now is refused; what was refused for the scope alone and is in it now waits again.
"""

from collections import Counter

import msgspec
import xxhash

from analecta.frontier.policy import Bounds
from analecta.model import State, Target
from analecta.store.shard import Shard

_KEY = "scope"
_QUERY = """SELECT u.n, u.id, u.url, h.name, u.depth, u.topic, u.state FROM urls u JOIN hosts h ON h.n = u.host
  WHERE u.state = ? OR (u.state = ? AND u.reason IN ('scope-host', 'scope-depth', 'scope-exclude'))"""
_SET = "UPDATE urls SET state = ?, cold = 0, reason = ? WHERE n = ?"


def rescope(shard: Shard, bounds: Bounds) -> Counter[int]:
    """Apply the scope to a partition where it is another than at the last crawl: how many more wait, by topic."""
    mark = xxhash.xxh3_64_hexdigest(msgspec.json.encode(bounds.said)).encode()
    before = shard.get(_KEY, b"")
    if before == mark:
        return Counter()
    shard.put(_KEY, mark)
    return _applied(shard, bounds) if before else Counter()  # of a library that never had one nothing can have changed


def _applied(shard: Shard, bounds: Bounds) -> Counter[int]:
    more: Counter[int] = Counter()
    changed = []
    for n, id, url, host, depth, topic, state in shard.db.execute(_QUERY, (State.QUEUED, State.REFUSED)):
        refusal = bounds.refusal(Target(url, id, host), depth)
        if bool(refusal) == (state == State.QUEUED):
            changed.append((int(State.REFUSED if refusal else State.QUEUED), refusal or None, n))
            more[topic] += -1 if refusal else 1
    shard.db.executemany(_SET, changed)
    return more
