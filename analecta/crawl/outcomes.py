"""What becomes of a batch of results: each URL gets its new state; pages and what was found come back.

Everything here happens inside the partition's open transaction; the engine commits it.
"""

import re
import time
from collections.abc import Sequence

import msgspec

from analecta.crawl.fetcher import ResponseKind, kind_of_answer, sitemap_candidates, sitemap_pages
from analecta.crawl.options import EngineOptions
from analecta.crawl.requests import Fetch, ending
from analecta.fetch.robots import Rules
from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import SLOW_DOWN, retry_after
from analecta.frontier.policy import EXAMPLE_PRIORITY
from analecta.model import UNASKED, Candidate, FoundBy, Lease, NoResponse, Page, Response, Tally, UrlState
from analecta.parse import ParserDied
from analecta.parse.sitemap import read_sitemap
from analecta.store.archive import OriginalRecord
from analecta.store.recovery import Partition
from analecta.store.revisits import count_revisit, outcome
from analecta.urls import canonical

_OTHER_SCHEME = re.compile(r"(?!https?:)[a-zA-Z][a-zA-Z0-9+.-]*:")


class Settled(msgspec.Struct):
    """What a batch leaves to do."""

    pages: list[Fetch] = []  # to be kept
    candidates: list[Candidate] = []  # that were found on the way
    soft_404: list[tuple[str, Page]] = []  # hosts, and how they answer for a page that cannot be
    lost: list[int] = []  # URLs that come to nothing


def retry_priority(priority: float) -> float:
    """The priority of a URL that is asked for again: half of it; examples keep theirs, demoted URLs go further back."""
    if priority >= EXAMPLE_PRIORITY:
        return priority
    return priority * (0.5 if priority > 0 else 2.0)


class Outcomes:
    """Settles the URLs of one partition."""

    def __init__(self, partition: Partition, frontier: Frontier, tally: Tally, options: EngineOptions) -> None:
        self.partition, self.frontier, self.tally = partition, frontier, tally
        self.archive, self.manners, self.options = partition.archive, frontier.manners, options
        self.wall = time.time
        self._settled = Settled()
        self._settle = {
            ResponseKind.PAGE: self._page,
            ResponseKind.PROBE: self._probed,
            ResponseKind.REDIRECT: self._redirected,
            ResponseKind.UNCHANGED: self._unchanged,
            ResponseKind.NOT_OK: self._not_ok,
            ResponseKind.SITEMAP: self._mapped,
            ResponseKind.BROKEN_OFF: self._broken_off,
        }

    def settle(self, batch: Sequence[Fetch], now: float) -> Settled:
        """Give each URL its new state, but for pages; hosts learn how it went."""
        for fetch in batch:
            if fetch.robots:
                self._settled.candidates += self._learned(fetch.lease.host, fetch.robots)
            if fetch.delay:
                self.frontier.slow_down(fetch.lease.host, fetch.delay)
        for fetch in batch:
            lease, result = fetch.lease, fetch.result
            assert result is not None
            wall = self.wall()
            if isinstance(result, Response) and result.status in SLOW_DOWN:
                wait = retry_after(result.headers, wall, self.manners.back_off)
                self.partition.hosts.set_wait(lease.host, wall + wait)
            self.frontier.close(lease, now, ending(result, self.frontier, now, wall))
            if isinstance(result, NoResponse):
                self._no_answer(lease, result)
                continue
            self.tally.answers += 1
            self.tally.bytes += len(result.wire)
            kind = kind_of_answer(lease, result, self.options.tries)
            if kind not in (ResponseKind.PAGE, ResponseKind.UNCHANGED):  # these are compared with what we have first
                self.archive.write(result)
            self._settle[kind](fetch, result)
        self._leave_lanes(batch)
        settled, self._settled = self._settled, Settled()
        return settled

    def _leave_lanes(self, batch: Sequence[Fetch]) -> None:
        for fetch in batch:
            if self.frontier.lines and fetch.lane:
                host = fetch.lease.host
                self.frontier.lines.leave(host, fetch.lane, self.frontier.wait(host))

    def _no_answer(self, lease: Lease, no: NoResponse) -> None:
        self.tally.troubles += not no.refused and no.reason not in UNASKED
        if no.refused:
            self._end(lease, UrlState.REFUSED, no.reason, no.detail)
            if no.reason == "crawl-delay":
                self.frontier.give_up(lease.host, UrlState.REFUSED, no.reason, no.detail)
        elif no.reason == "no-such-host":
            self._end(lease, UrlState.FAILED, no.reason, no.detail)
            self.frontier.give_up(lease.host, UrlState.FAILED, no.reason, no.detail)
        elif no.reason in UNASKED or no.reason == "robots-unreachable":
            self.frontier.requeue(lease, no.reason, no.detail, asked=False)
        elif no.retry and lease.tries < self.options.tries:
            self._again(lease, no.reason, no.detail)
        else:
            self._end(lease, UrlState.FAILED, no.reason, no.detail)

    def _page(self, fetch: Fetch, answer: Response) -> None:
        """A page is kept; one that broke the parser is archived, and tried again or given up."""
        if not isinstance(fetch.page, ParserDied):
            self._settled.pages.append(fetch)
            return
        self.archive.write(answer)
        if fetch.lease.tries < self.options.tries:
            self._again(fetch.lease, "parser", str(fetch.page))
        else:
            self._end(fetch.lease, UrlState.FAILED, "poison", str(fetch.page))

    def _not_ok(self, fetch: Fetch, answer: Response) -> None:
        lease = fetch.lease
        reason = f"http-{answer.status}"
        if answer.status in SLOW_DOWN and self.frontier.host(lease.host).refusals > 1:
            self._again(lease, reason, asked=False)  # the host refuses whatever it is asked for
        elif (answer.status >= 500 or answer.status in SLOW_DOWN) and lease.tries < self.options.tries:
            self._again(lease, reason)
        else:
            self._end(lease, UrlState.FAILED, reason)

    def _broken_off(self, fetch: Fetch, answer: Response) -> None:
        self._again(fetch.lease, "disconnect", f"{len(answer.wire)} bytes came")

    def _redirected(self, fetch: Fetch, answer: Response) -> None:
        """A redirect is a new request: scope, robots, guard and politeness are asked anew for where it leads."""
        lease = fetch.lease
        location = answer.headers.get("location", "").strip()
        target = canonical(location, answer.url) if location else None
        if target is None and _OTHER_SCHEME.match(location):
            self._end(lease, UrlState.REFUSED, "redirect-scheme", location)
        elif target is None:
            self._end(lease, UrlState.FAILED, "redirect-bad", location or "no Location")
        elif lease.redirects >= self.options.redirects:
            self._end(lease, UrlState.FAILED, "redirect-many", f"more than {self.options.redirects}")
        elif target.url == lease.url:
            self._end(lease, UrlState.FAILED, "redirect-loop")
        elif target.id == lease.id:  # from http to https, or back: the same page by its other way
            self.partition.rename(lease.id, target.url, lease.redirects + 1)
            self.frontier.requeue(lease, f"http-{answer.status}", asked=False)
        else:
            self._end(lease, UrlState.ALIAS, f"http-{answer.status}", elsewhere=target.id)
            found = FoundBy.MAP if lease.found_by == FoundBy.MAP else FoundBy.REDIRECT
            path = (lease.priority, lease.topic, lease.depth, lease.id, found, lease.off_topic_steps)
            self._settled.candidates.append(Candidate(target, *path, lease.redirects + 1))

    def _unchanged(self, fetch: Fetch, answer: Response) -> None:
        """304: the page we have still stands; a revisit record says so."""
        lease = fetch.lease
        original = self.partition.page_of(lease.id)
        if original is None:
            self._end(lease, UrlState.FAILED, "http-304", "though we asked without validators")
            return
        url, date, digest = original
        self.archive.write(answer, digest, OriginalRecord(url, date, digest))
        self.partition.still_stands(lease.id, answer.began)
        if twin := self.partition.standing(lease.page)[2]:
            self._end(lease, UrlState.ALIAS, "duplicate", elsewhere=twin)
        else:
            self._end(lease, UrlState.DONE)

    def _mapped(self, fetch: Fetch, answer: Response) -> None:
        """A sitemap: its pages are worth a little, its children are sitemaps again."""
        lease = fetch.lease
        sitemap = fetch.sitemap or read_sitemap(answer.body, answer.url)
        self._end(lease, UrlState.REFUSED, "sitemap", sitemap.limited)
        if lease.redirects < self.options.redirects:
            self._settled.candidates += sitemap_candidates(sitemap.sitemaps, lease.id, lease.redirects + 1)
        self._settled.candidates += sitemap_pages(sitemap.urls, lease)

    def _probed(self, fetch: Fetch, answer: Response) -> None:
        """How the host answers for a page that it cannot have."""
        self._end(fetch.lease, UrlState.REFUSED, "probe")
        if isinstance(fetch.page, Page):  # what cannot be read is like no page that we keep
            self._settled.soft_404.append((fetch.lease.host, fetch.page))

    def _learned(self, host: str, rules: Rules) -> list[Candidate]:
        """A robots.txt was asked for; one that could not be had takes nothing back. Gives the sitemaps it names."""
        if rules.delay:
            self.partition.hosts.set_delay(host, rules.delay)
        elif not rules.failures and self.frontier.hosts[host].delay > self.manners.delay:
            self.partition.hosts.set_delay(host, 0.0)
            self.frontier.forget_delay(host)
        if rules.reserved:
            self.partition.hosts.set_reserved(host, rules.reserved)
        named = rules.sitemaps if self.options.sitemaps else []
        return sitemap_candidates([target for url in named if (target := canonical(url)) is not None], 0, 0)

    # --- the last word on a URL, or its return to the queue ---------------------------------------------------------

    def _again(self, lease: Lease, reason: str, detail: str = "", asked: bool = True) -> None:
        """Ask again later: behind others of its worth, unless it is an example that all wait for.

        It counts as a try of this URL only where it was `asked` for what it is.
        """
        lease.priority = retry_priority(lease.priority)
        self.frontier.requeue(lease, reason, detail[:300], asked)

    def _end(self, lease: Lease, state: UrlState, reason: str = "", detail: str = "", elsewhere: int = 0) -> None:
        """Write the last state of a URL, and why."""
        if lease.page:
            count_revisit(self.partition.db, outcome(state, reason))
        if lease.page and state == UrlState.FAILED:
            detail = _was_there(self.partition.standing(lease.page)[1], self.wall(), detail)
        self.partition.settle(lease.id, state, reason, detail[:300], elsewhere)
        tally = self.tally
        if state == UrlState.FAILED:
            tally.failed += 1
        elif state == UrlState.REFUSED:
            tally.refused += reason not in ("sitemap", "probe")
        elif state == UrlState.ALIAS:
            tally.elsewhere += 1
        if state in (UrlState.FAILED, UrlState.REFUSED):
            tally.reasons[reason] = tally.reasons.get(reason, 0) + 1
            self._settled.lost.append(lease.id)


def _was_there(last: float, now: float, detail: str) -> str:
    """What became of a page that was asked for again: what was archived of it stays."""
    words = f"it was there until {_when(last)}, and was asked for again on {_when(now)}; what was kept stays"
    return f"{words}: {detail}" if detail else words


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d at %H:%M UTC", time.gmtime(seconds))
