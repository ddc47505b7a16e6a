"""What becomes of a batch of answers: each URL gets its new state, and what is a page goes on to `pages`.

Everything here happens inside the shard's open transaction; the engine commits it.
"""

import asyncio
import contextlib
import re
import time
from collections.abc import Callable, Sequence

from analecta.crawl.discovery import Offers
from analecta.crawl.ingest import Landed, Pages
from analecta.crawl.url_outcomes import Endings
from analecta.fetch.robots import Rules
from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import SLOW_DOWN, Host, Manners, retry_after
from analecta.model import UNASKED, Answer, Candidate, Fetched, Found, Lease, NoAnswer, State, Target
from analecta.parse import ParserDied
from analecta.parse.sitemap import Sitemap, read_sitemap
from analecta.store.archive import Archive, Original
from analecta.store.partition import Shard
from analecta.urls import canonical

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_SMALL_MAP = 32 * 1024  # bytes: some 300 URLs, which are read in a few milliseconds
_SLICE = 500  # URLs of a sitemap that are offered at once
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-zA-Z][a-zA-Z0-9+.-]*:")


class Harvest:
    """Takes in the answers of one partition."""

    def __init__(
        self,
        *,
        shard: Shard,
        archive: Archive,
        frontier: Frontier,
        endings: Endings,
        offers: Offers,
        pages: Pages,
        manners: Manners,
        tries: int = 3,
        redirects: int = 10,
        sitemaps: bool = True,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.shard = shard
        self.archive = archive
        self.frontier = frontier
        self.endings = endings
        self.offers = offers
        self.pages = pages
        self.manners = manners
        self.tries = tries
        self.redirects = redirects
        self.sitemaps = sitemaps
        self.wall = wall
        self.tally = endings.tally
        self._maps: dict[int, Sitemap] = {}  # large sitemaps that have been read, with the last of their pages

    def take(self, batch: Sequence[Landed], now: float) -> None:
        """Take in a batch: each URL ends in a new state, its host's manners know how it went."""
        pages = []
        for landed in batch:
            lease, fetched = landed.lease, landed.fetched
            self.frontier.close(lease, now, self._manner(lease, fetched, now))
            if isinstance(fetched, NoAnswer):
                self._no_answer(lease, fetched)
                continue
            self.tally.answers += 1
            self.tally.bytes += len(fetched.wire)
            if (outcome := self._outcome(lease, fetched)) is not None:
                outcome(lease, fetched)
            else:
                pages.append(landed)
        if pages:
            self.pages.take(pages)
        if self.offers.sites is not None:
            self.offers.sites.took(landed.lease for landed in batch)

    def _manner(self, lease: Lease, fetched: Fetched, now: float) -> Callable[[Host], str | None]:
        """How the fetch went, from the host's side."""
        if isinstance(fetched, Answer):
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

    def _no_answer(self, lease: Lease, no: NoAnswer) -> None:
        self.tally.troubles += not no.refused and no.reason not in UNASKED
        if no.refused:
            self.endings.end(lease, State.REFUSED, no.reason, no.detail)
            if no.reason == "crawl-delay":
                self.frontier.give_up(lease.host, State.REFUSED, no.reason, no.detail)
        elif no.reason == "no-such-host":
            self.endings.end(lease, State.FAILED, no.reason, no.detail)
            self.frontier.give_up(lease.host, State.FAILED, no.reason, no.detail)
        elif no.reason in UNASKED or no.reason == "robots-unreachable":
            self.frontier.requeue(lease, no.reason, no.detail, asked=False)
        elif no.retry and lease.tries < self.tries:
            self.endings.again(lease, no.reason, no.detail)
        else:
            self.endings.end(lease, State.FAILED, no.reason, no.detail)

    def is_page(self, lease: Lease, answer: Answer) -> bool:
        """Whether an answer is to be kept as a page."""
        return self._outcome(lease, answer) is None

    def _outcome(self, lease: Lease, answer: Answer) -> Callable[[Lease, Answer], None] | None:
        """What to do with an answer that is not a page; None where it is one."""
        if lease.found == Found.PROBE:
            return self._probed
        if answer.status in _REDIRECTS:
            return self._redirected
        if answer.status == 304:
            return self._unchanged
        if not 200 <= answer.status < 300:
            return self._not_ok
        if lease.found == Found.MAP:
            return self._mapped
        if answer.truncated == "disconnect" and lease.tries < self.tries:
            return self._broken_off
        return None

    def _not_ok(self, lease: Lease, answer: Answer) -> None:
        self.archive.write(answer)
        reason = f"http-{answer.status}"
        if answer.status in SLOW_DOWN and self.frontier.host(lease.host).refusals > 1:
            self.endings.again(lease, reason, asked=False)  # the host refuses whatever it is asked for
        elif (answer.status >= 500 or answer.status in SLOW_DOWN) and lease.tries < self.tries:
            self.endings.again(lease, reason)
        else:
            self.endings.end(lease, State.FAILED, reason)

    def _broken_off(self, lease: Lease, answer: Answer) -> None:
        self.archive.write(answer)
        self.endings.again(lease, "disconnect", f"{len(answer.wire)} bytes came")

    def _redirected(self, lease: Lease, answer: Answer) -> None:
        """A redirect is a new request: scope, robots, guard and politeness are asked anew for where it leads."""
        self.archive.write(answer)
        location = answer.headers.get("location", "").strip()
        target = canonical(location, answer.url) if location else None
        if target is None and _OTHER_SCHEME.match(location):
            self.endings.end(lease, State.REFUSED, "redirect-scheme", location)
        elif target is None:
            self.endings.end(lease, State.FAILED, "redirect-bad", location or "no Location")
        elif lease.hops >= self.redirects:
            self.endings.end(lease, State.FAILED, "redirect-many", f"more than {self.redirects}")
        elif target.url == lease.url:
            self.endings.end(lease, State.FAILED, "redirect-loop")
        elif target.id == lease.id:  # from http to https, or back: the same page by its other way
            self.shard.rename(lease.id, target.url, lease.hops + 1)
            self.frontier.requeue(lease, f"http-{answer.status}", asked=False)
        else:
            self.endings.end(lease, State.ELSEWHERE, f"http-{answer.status}", elsewhere=target.id)
            found = Found.MAP if lease.found == Found.MAP else Found.REDIRECT
            self.offers.offer(
                [
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
                ]
            )

    def _unchanged(self, lease: Lease, answer: Answer) -> None:
        """304: the page we have still stands; a revisit record says so."""
        original = self.shard.page_of(lease.id)
        if original is None:
            self.endings.end(lease, State.FAILED, "http-304", "though we asked without validators")
            return
        url, date, digest = original
        self.archive.write(answer, digest, Original(url, date, digest))
        self.shard.still_stands(lease.id, answer.began)
        if twin := self.shard.standing(lease.page)[2]:
            self.endings.end(lease, State.ELSEWHERE, "duplicate", elsewhere=twin)
        else:
            self.endings.end(lease, State.DONE)

    def _mapped(self, lease: Lease, answer: Answer) -> None:
        """A sitemap: its pages are worth a little, its children are sitemaps again."""
        self.archive.write(answer)
        sitemap = self._maps.pop(lease.id, None) or read_sitemap(answer.body, answer.url)
        self.endings.end(lease, State.REFUSED, "sitemap", sitemap.limited)
        if lease.hops < self.redirects:
            self.offers.sitemaps(sitemap.sitemaps, lease.id, lease.hops + 1)
        self.offers.sitemap_pages(sitemap.urls, lease)

    def is_large_map(self, lease: Lease, answer: Answer) -> bool:
        """Whether an answer is a sitemap that takes long to read."""
        return len(answer.body) > _SMALL_MAP and self._outcome(lease, answer) == self._mapped

    async def read_map(self, lease: Lease, answer: Answer) -> None:
        """Read a large sitemap while everything else goes on, and offer its pages some at a time.

        The lease ends with the last of them, so that after a kill the sitemap is read again.
        """
        sitemap = await asyncio.to_thread(read_sitemap, answer.body, answer.url)
        for _ in range(0, len(sitemap.urls) - _SLICE, _SLICE):
            self.offers.sitemap_pages(sitemap.urls[:_SLICE], lease)
            del sitemap.urls[:_SLICE]
            await asyncio.sleep(0)
        self._maps[lease.id] = sitemap

    def _probed(self, lease: Lease, answer: Answer) -> None:
        """How the host answers for a page that it cannot have."""
        self.archive.write(answer)
        self.endings.end(lease, State.REFUSED, "probe")
        if 200 <= answer.status < 300:
            with contextlib.suppress(ParserDied):  # what cannot be read is like no page that we keep
                self.pages.learn_soft404(lease.host, answer, Target(lease.url, lease.id, lease.host))

    def learned(self, host: str, rules: Rules) -> None:
        """A robots.txt was asked for; one that could not be had takes nothing back."""
        if rules.delay:
            self.shard.hosts.set_delay(host, rules.delay)
        elif not rules.failures and self.frontier.hosts[host].delay > self.manners.delay:
            self.shard.hosts.set_delay(host, 0.0)
            self.frontier.forget_delay(host)
        if self.sitemaps:
            self.offers.sitemaps([target for url in rules.sitemaps if (target := canonical(url)) is not None], 0, 0)
        if rules.reserved:
            self.shard.hosts.set_reserved(host, rules.reserved)


def _put_back(host: Host, now: float, wait: float) -> None:
    """The host was not asked, and is not to be asked for so long."""
    host.dropped(now)
    host.put_off(now + wait)
