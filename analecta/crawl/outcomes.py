"""What becomes of a batch of answers: each URL gets its new state; pages and what was found come back.

Everything here happens inside the shard's open transaction; the engine commits it.
"""

import re
import time
from collections.abc import Callable, Sequence

import msgspec

from analecta.crawl.fetcher import FinishedFetch, ResponseKind, kind_of_answer, sitemap_candidates, sitemap_pages
from analecta.crawl.url_outcomes import UrlOutcomes
from analecta.fetch.robots import Rules
from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import SLOW_DOWN, HostQueue, Politeness, retry_after
from analecta.model import UNASKED, Candidate, FetchResult, FoundBy, Lease, NoResponse, Response, UrlState
from analecta.parse.sitemap import read_sitemap
from analecta.store.archive import Archive, OriginalRecord
from analecta.store.partition import Shard
from analecta.urls import canonical

_OTHER_SCHEME = re.compile(r"(?!https?:)[a-zA-Z][a-zA-Z0-9+.-]*:")


class Settled(msgspec.Struct):
    """What a batch of answers leaves to do: pages to keep, URLs that were found, answers for pages that cannot be."""

    pages: list[FinishedFetch] = []
    candidates: list[Candidate] = []
    soft_404: list[tuple[Lease, Response]] = []


class Outcomes:
    """Takes in the answers of one partition."""

    def __init__(
        self,
        *,
        shard: Shard,
        archive: Archive,
        frontier: Frontier,
        endings: UrlOutcomes,
        manners: Politeness,
        tries: int = 3,
        redirects: int = 10,
        sitemaps: bool = True,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.shard = shard
        self.archive = archive
        self.frontier = frontier
        self.endings = endings
        self.manners = manners
        self.tries = tries
        self.redirects = redirects
        self.sitemaps = sitemaps
        self.wall = wall
        self.tally = endings.tally
        self._settle = {
            ResponseKind.PROBE: self._probed,
            ResponseKind.REDIRECT: self._redirected,
            ResponseKind.UNCHANGED: self._unchanged,
            ResponseKind.NOT_OK: self._not_ok,
            ResponseKind.SITEMAP: self._mapped,
            ResponseKind.BROKEN_OFF: self._broken_off,
        }

    def settle(self, batch: Sequence[FinishedFetch], now: float) -> Settled:
        """Take in a batch: each URL ends in a new state, but for pages; its host's manners know how it went."""
        settled = Settled()
        for landed in batch:
            lease, fetched = landed.lease, landed.fetched
            self.frontier.close(lease, now, self._manner(lease, fetched, now))
            if isinstance(fetched, NoResponse):
                self._no_answer(lease, fetched)
                continue
            self.tally.answers += 1
            self.tally.bytes += len(fetched.wire)
            kind = kind_of_answer(lease, fetched, self.tries)
            if kind == ResponseKind.PAGE:
                settled.pages.append(landed)
            else:
                self._settle[kind](landed, fetched, settled)
        return settled

    def _manner(self, lease: Lease, fetched: FetchResult, now: float) -> Callable[[HostQueue], str | None]:
        """How the fetch went, from the host's side."""
        if isinstance(fetched, Response):
            if fetched.status in SLOW_DOWN:
                wait = retry_after(fetched.headers, self.wall(), self.manners.back_off)
                self.shard.hosts.set_wait(lease.host, self.wall() + wait)
                return lambda host: host.pressed(now, self.manners, wait)
            took = fetched.took if self.frontier.lines is None else 0.0  # in order, lines heed it
            return lambda host: host.answered(now, self.manners, took)
        # A certificate is the host's; what else no repetition can change is the fault of one page.
        wait, hopeless = fetched.wait, fetched.reason.startswith("tls") and not fetched.retry
        if fetched.refused or fetched.reason in UNASKED:
            return lambda host: _put_back(host, now, wait)
        if fetched.reason == "robots-unreachable":
            return lambda host: host.pressed(now, self.manners, wait) and "robots-unreachable"
        return lambda host: host.failed(now, self.manners, wait, hopeless)

    def _no_answer(self, lease: Lease, no: NoResponse) -> None:
        self.tally.troubles += not no.refused and no.reason not in UNASKED
        if no.refused:
            self.endings.end(lease, UrlState.REFUSED, no.reason, no.detail)
            if no.reason == "crawl-delay":
                self.frontier.give_up(lease.host, UrlState.REFUSED, no.reason, no.detail)
        elif no.reason == "no-such-host":
            self.endings.end(lease, UrlState.FAILED, no.reason, no.detail)
            self.frontier.give_up(lease.host, UrlState.FAILED, no.reason, no.detail)
        elif no.reason in UNASKED or no.reason == "robots-unreachable":
            self.frontier.requeue(lease, no.reason, no.detail, asked=False)
        elif no.retry and lease.tries < self.tries:
            self.endings.again(lease, no.reason, no.detail)
        else:
            self.endings.end(lease, UrlState.FAILED, no.reason, no.detail)

    def _not_ok(self, landed: FinishedFetch, answer: Response, _: Settled) -> None:
        lease = landed.lease
        self.archive.write(answer)
        reason = f"http-{answer.status}"
        if answer.status in SLOW_DOWN and self.frontier.host(lease.host).refusals > 1:
            self.endings.again(lease, reason, asked=False)  # the host refuses whatever it is asked for
        elif (answer.status >= 500 or answer.status in SLOW_DOWN) and lease.tries < self.tries:
            self.endings.again(lease, reason)
        else:
            self.endings.end(lease, UrlState.FAILED, reason)

    def _broken_off(self, landed: FinishedFetch, answer: Response, _: Settled) -> None:
        self.archive.write(answer)
        self.endings.again(landed.lease, "disconnect", f"{len(answer.wire)} bytes came")

    def _redirected(self, landed: FinishedFetch, answer: Response, settled: Settled) -> None:
        """A redirect is a new request: scope, robots, guard and politeness are asked anew for where it leads."""
        lease = landed.lease
        self.archive.write(answer)
        location = answer.headers.get("location", "").strip()
        target = canonical(location, answer.url) if location else None
        if target is None and _OTHER_SCHEME.match(location):
            self.endings.end(lease, UrlState.REFUSED, "redirect-scheme", location)
        elif target is None:
            self.endings.end(lease, UrlState.FAILED, "redirect-bad", location or "no Location")
        elif lease.hops >= self.redirects:
            self.endings.end(lease, UrlState.FAILED, "redirect-many", f"more than {self.redirects}")
        elif target.url == lease.url:
            self.endings.end(lease, UrlState.FAILED, "redirect-loop")
        elif target.id == lease.id:  # from http to https, or back: the same page by its other way
            self.shard.rename(lease.id, target.url, lease.hops + 1)
            self.frontier.requeue(lease, f"http-{answer.status}", asked=False)
        else:
            self.endings.end(lease, UrlState.ALIAS, f"http-{answer.status}", elsewhere=target.id)
            found = FoundBy.MAP if lease.found == FoundBy.MAP else FoundBy.REDIRECT
            settled.candidates.append(
                Candidate(
                    target,
                    lease.priority,
                    lease.topic,
                    lease.depth,
                    lease.id,
                    found,
                    lease.astray,
                    lease.hops + 1,
                )
            )

    def _unchanged(self, landed: FinishedFetch, answer: Response, _: Settled) -> None:
        """304: the page we have still stands; a revisit record says so."""
        lease = landed.lease
        original = self.shard.page_of(lease.id)
        if original is None:
            self.endings.end(lease, UrlState.FAILED, "http-304", "though we asked without validators")
            return
        url, date, digest = original
        self.archive.write(answer, digest, OriginalRecord(url, date, digest))
        self.shard.still_stands(lease.id, answer.began)
        if twin := self.shard.standing(lease.page)[2]:
            self.endings.end(lease, UrlState.ALIAS, "duplicate", elsewhere=twin)
        else:
            self.endings.end(lease, UrlState.DONE)

    def _mapped(self, landed: FinishedFetch, answer: Response, settled: Settled) -> None:
        """A sitemap: its pages are worth a little, its children are sitemaps again."""
        lease = landed.lease
        self.archive.write(answer)
        sitemap = landed.sitemap or read_sitemap(answer.body, answer.url)
        self.endings.end(lease, UrlState.REFUSED, "sitemap", sitemap.limited)
        if lease.hops < self.redirects:
            settled.candidates += sitemap_candidates(sitemap.sitemaps, lease.id, lease.hops + 1)
        settled.candidates += sitemap_pages(sitemap.urls, lease)

    def _probed(self, landed: FinishedFetch, answer: Response, settled: Settled) -> None:
        """How the host answers for a page that it cannot have."""
        self.archive.write(answer)
        self.endings.end(landed.lease, UrlState.REFUSED, "probe")
        if 200 <= answer.status < 300:
            settled.soft_404.append((landed.lease, answer))

    def learned(self, host: str, rules: Rules) -> list[Candidate]:
        """A robots.txt was asked for; one that could not be had takes nothing back. Gives the sitemaps it names."""
        if rules.delay:
            self.shard.hosts.set_delay(host, rules.delay)
        elif not rules.failures and self.frontier.hosts[host].delay > self.manners.delay:
            self.shard.hosts.set_delay(host, 0.0)
            self.frontier.forget_delay(host)
        if rules.reserved:
            self.shard.hosts.set_reserved(host, rules.reserved)
        named = rules.sitemaps if self.sitemaps else []
        return sitemap_candidates([target for url in named if (target := canonical(url)) is not None], 0, 0)


def _put_back(host: HostQueue, now: float, wait: float) -> None:
    """The host was not asked, and is not to be asked for so long."""
    host.dropped(now)
    host.put_off(now + wait)
