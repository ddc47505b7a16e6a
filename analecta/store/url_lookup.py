"""What is known of a URL, in whichever partition it is."""

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import msgspec

from analecta.model import Found, State

_COLUMNS = (
    "u.id, u.url, h.name, u.state, u.found, u.parent, coalesce(u.elsewhere, 0), coalesce(u.page, 0), u.topic, u.depth,"
    " u.astray, u.hops, u.tries, u.priority, coalesce(u.reason, ''), coalesce(u.detail, ''), coalesce(u.anchor, ''),"
    " coalesce(u.context, '')"
)
_SELECT = f"SELECT {_COLUMNS} FROM urls u JOIN hosts h ON h.n = u.host WHERE u.id IN "
_AT_ONCE = 500
_MOST_STEPS = 1000  # of a chain: depth has no bound


class Url(msgspec.Struct, frozen=True, array_like=True):
    """A row of the frontier's ledger; ids of other URLs are 0 where there is none."""

    id: int
    url: str
    host: str
    state: State
    found: Found
    parent: int
    elsewhere: int
    page: int
    topic: int
    depth: int
    astray: int
    hops: int
    tries: int
    priority: float
    reason: str
    detail: str
    anchor: str
    context: str


class Known:
    """Looks URLs up by id; those asked for last are remembered."""

    def __init__(self, shards: Sequence[sqlite3.Connection], remember: int = 20_000) -> None:
        self.shards = shards
        self.remember = remember
        self._rows: OrderedDict[int, Url | None] = OrderedDict()

    def get(self, id: int) -> Url | None:
        """One URL; None where the library never heard of it."""
        if not id:
            return None
        if id not in self._rows:
            self.look_up([id])
        return self._rows[id]

    def url(self, id: int) -> str:
        """Its address; "" where the library never heard of it."""
        found = self.get(id)
        return found.url if found else ""

    def look_up(self, ids: Iterable[int]) -> None:
        """Read many at once, to be asked for one by one."""
        missing = [id for id in dict.fromkeys(ids) if id not in self._rows]
        self._forget(len(missing))
        for start in range(0, len(missing), _AT_ONCE):
            self._read(missing[start : start + _AT_ONCE])

    def start(self, url: Url) -> Url:
        """The first address of the redirects that led to a URL; itself where none did."""
        for step in self.chain(url):
            if step.found != Found.REDIRECT:
                return step
        return url

    def chain(self, url: Url) -> list[Url]:
        """The URL, what it was found on, and so on up to a seed."""
        steps, seen = [url], {url.id}
        while len(steps) < _MOST_STEPS and (parent := self.get(steps[-1].parent)) and parent.id not in seen:
            steps.append(parent)
            seen.add(parent.id)
        return steps

    def _read(self, ids: Sequence[int]) -> None:
        self._rows.update(dict.fromkeys(ids))
        query = _SELECT + f"({','.join('?' * len(ids))})"
        for shard in self.shards:
            for row in shard.execute(query, ids):
                self._rows[row[0]] = msgspec.convert(row, Url)

    def _forget(self, coming: int) -> None:
        while self._rows and len(self._rows) + coming > self.remember:
            self._rows.popitem(last=False)
