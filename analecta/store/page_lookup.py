"""A page of the library by its address in any form; where there is none, the nearest that there is."""

from collections.abc import Sequence
from difflib import get_close_matches
from sqlite3 import Connection
from typing import Any

import msgspec

from analecta.errors import BadUse
from analecta.model import State, Target, Verdict
from analecta.store.schema import unpack_text, unpacked
from analecta.urls import address, canonical

_MOST_HOPS = 30
_MOST_LOOKED_AT = 3000  # addresses of a host that may be the one that was meant
_URL = "SELECT url, state, coalesce(elsewhere, 0), coalesce(reason, '') FROM urls WHERE id = ?"
_PAGE = """SELECT coalesce(p.title, ''), p.topic, p.confidence, p.topics FROM urls u JOIN pages p ON p.seq = u.page
  WHERE u.id = ?"""
_HOST = """SELECT u.url FROM pages p JOIN urls u ON u.id = p.id JOIN hosts h ON h.n = u.host
  WHERE h.name = ? AND u.page = p.seq LIMIT ?"""


class Stored(msgspec.Struct, frozen=True):
    """A page that was kept, and what is said of it."""

    id: int
    url: str
    title: str
    verdict: Verdict

    def of(self, topics: Sequence[str]) -> list[str]:
        """The names of its topics, the surest first."""
        return [topics[number] for number, _ in self.verdict.topics if 0 <= number < len(topics)]


def find(shards: Sequence[Connection], words: str) -> Stored:
    """The page that is meant; of redirects and copies, the one that stands for them."""
    url, why = address(words.strip())
    target = canonical(url) if url else None
    if target is None:
        raise BadUse(f"{words!r} is no address of a page: {why or 'it is no http or https URL'}")
    id, hops, row = target.id, 0, _first(shards, _URL, target.id)
    while row and row[1] == State.ELSEWHERE and row[2] and hops < _MOST_HOPS:
        id, hops, row = row[2], hops + 1, _first(shards, _URL, row[2])
    page = _first(shards, _PAGE, id)
    if row and page:
        return Stored(id, row[0], page[0], unpacked(*page[1:]))
    if row:
        state = State(row[1])
        how = "it waits to be fetched" if state in (State.QUEUED, State.LEASED) else f"it was not kept ({row[3]})"
        raise BadUse(f"{target.url} is no page of the library: {how}; `analecta explain` tells more")
    raise BadUse(f"{target.url} is no page of the library{_nearest(shards, target)}")


def _first(shards: Sequence[Connection], query: str, id: int) -> tuple[Any, ...] | None:
    return next((row for shard in shards if (row := shard.execute(query, (id,)).fetchone())), None)


def _nearest(shards: Sequence[Connection], target: Target) -> str:
    """The end of the sentence: the page that may be meant."""
    hosts = [name for shard in shards for (name,) in shard.execute("SELECT name FROM hosts")]
    host = next(iter(get_close_matches(target.host, hosts, 1, 0.7)), "")
    urls = [url for shard in shards for (url,) in shard.execute(_HOST, (host, _MOST_LOOKED_AT))] if host else []
    near = get_close_matches(target.url, urls, 1, 0.5)
    return f"; did you mean {near[0]} ?" if near else ", nor is anything like it; `analecta collection` lists pages"


def text_of(shards: Sequence[Connection], page: Stored) -> str:
    """The text of a page."""
    row = _first(shards, "SELECT p.text FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?", page.id)
    return unpack_text(row[0]) if row else ""


def titles(shards: Sequence[Connection], ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """The addresses and titles of pages."""
    query = "SELECT u.url, coalesce(p.title, '') FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?"
    return {id: row for id in ids if (row := _first(shards, query, id))}
