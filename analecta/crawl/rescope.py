"""A scope that was changed between two crawls holds for what is known already, too.

What waits and is out of scope now is refused; what was refused for the scope alone and is in it now waits again. Where
a crawl goes from site to site, most URLs wait for their site: they are refused with that reason until it is named.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

import msgspec
import xxhash

from analecta.frontier.policy import EXAMPLE_PRIORITY, Scope
from analecta.frontier.url_forms import is_trusted
from analecta.model import Candidate, FoundBy, UrlState
from analecta.store.partition import Shard
from analecta.store.schema import MetaKey
from analecta.store.sites import WAITS
from analecta.store.urls import (
    FULL,
    ScopedUrl,
    forget_site_urls,
    lift_demoted,
    scoped_urls,
    set_states,
    urls_let_go,
)

_GO = frozenset((FoundBy.LINK, FoundBy.REDIRECT, FoundBy.SITEMAP))  # these wait for their sites, if they are no seeds


def rescope(
    shard: Shard,
    bounds: Scope,
    growing: bool,
    pages_per_host: int = 0,
    allow: Sequence[str] = (),
    trusted: Sequence[str] = (),
) -> tuple[Counter[int], list[Candidate]]:
    """Apply the scope to a partition where it is another than at the last crawl, or private ranges are allowed now.

    URLs of `trusted` places that were taken for traps are queued like any other.

    How many more are queued by topic, and in a `growing` crawl the URLs that wait for their sites again.
    """
    said = (bounds.said, growing, pages_per_host, allow, trusted)
    mark = xxhash.xxh3_64_hexdigest(msgspec.json.encode(said)).encode()
    more: Counter[int] = Counter()
    again: list[Candidate] = []
    if shard.get(MetaKey.SCOPE, b"") == mark:
        return more, again
    shard.put(MetaKey.SCOPE, mark)
    full, let_go = shard.hosts.full(pages_per_host), urls_let_go(shard) if growing else None
    out: dict[str, list[int]] = defaultdict(list)  # queued until now, by the reason against them
    changed: list[tuple[int, str | None, int]] = []
    lifted: list[int] = []
    for row in scoped_urls(shard):
        if row.state == UrlState.QUEUED and row.priority < 0 and is_trusted(row.url, trusted):
            lifted.append(row.id)
        fate = _refusal(row, bounds, full, trusted) or ("" if _may_go(row, let_go) else WAITS)
        if fate == (row.reason if row.state == UrlState.REFUSED else ""):
            continue
        if row.state == UrlState.QUEUED:
            out[fate].append(row.id)
        else:
            changed.append((int(UrlState.REFUSED if fate else UrlState.QUEUED), fate or None, row.id))
            more[row.topic] += not fate
        if fate == WAITS:
            again.append(Candidate(row.target, row.priority, row.topic, row.depth))
    set_states(shard, changed)
    lift_demoted(shard, lifted)
    for reason, ids in out.items():
        more.subtract(shard.settle_queued(ids, UrlState.REFUSED, reason))
    forget_site_urls(shard, [id for ids in out.values() for id in ids] + [id for _, _, id in changed])
    return more, again


def _refusal(row: ScopedUrl, bounds: Scope, full: Collection[str], trusted: Sequence[str]) -> str:
    """Why it is out of scope; a page that is to be asked for again makes its host no fuller."""
    if reason := bounds.refusal(row.target, row.depth):
        return reason
    if row.host in full and row.page is None:
        return FULL
    is_trap = row.state == UrlState.REFUSED and (row.reason or "").startswith("trap-")
    return row.reason or "" if is_trap and not is_trusted(row.url, trusted) else ""


def _may_go(row: ScopedUrl, let_go: Collection[int] | None) -> bool:
    """Whether it need not wait for its site; `let_go` are those that did, None where the crawl goes by no sites."""
    if let_go is None:
        return True
    waits = row.found in _GO and row.priority < EXAMPLE_PRIORITY and row.page is None
    return row.state == UrlState.QUEUED and (not waits or row.id in let_go)
