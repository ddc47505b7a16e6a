"""What a site's robots.txt allows, exactly by RFC 9309; protego matches the paths.

No file (4xx) allows everything; a file that cannot be had (5xx, 429, no answer) allows nothing until it can: it is
asked for again after a while, and at once by a new run, for a person may have set right what was wrong.
Answers are good for a day at most. One file for each scheme, host and port.
"""

import asyncio
import time
from collections.abc import Callable

from analecta.fetch.rules import MAX_SIZE, Rules, decoded
from analecta.model import Answer, NoAnswer, Request
from analecta.seams import Fetch
from analecta.urls import canonical

Saved = tuple[float, int, bytes]  # when it was fetched (wall clock), status (0 = no answer), body

DAY = 86_400.0
MAX_REDIRECTS = 5


def _nothing_saved(_origin: str) -> Saved | None:
    return None


def _not_saved(_origin: str, _saved: Saved) -> None:
    return None


def _not_kept(_answer: Answer) -> None:
    return None


class Robots:
    """Robots files through a cache. `keep` gets every answer; `load` and `save` make the cache outlive the process."""

    def __init__(
        self,
        fetch: Fetch,
        token: str,
        now: Callable[[], float] = time.time,
        *,
        keep: Callable[[Answer], object] = _not_kept,
        load: Callable[[str], Saved | None] = _nothing_saved,
        save: Callable[[str, Saved], None] = _not_saved,
        max_age: float = DAY,
        back_off: float = 60.0,
        size: int = 50_000,
    ) -> None:
        self.fetch = fetch
        self.token = token
        self.now = now
        self.keep = keep
        self.load = load
        self.save = save
        self.max_age = max_age
        self.back_off = back_off
        self.size = size
        self._known: dict[str, Rules] = {}
        self._asking: dict[str, asyncio.Task[Rules]] = {}

    def peek(self, url: str) -> Rules | None:
        """The rules for a URL's site if they are in memory and still good."""
        rules = self._known.get(url[: url.find("/", 8)])
        if rules is not None and rules.fetched_at <= self.now() < rules.retry_at:
            return rules
        return None  # unknown, too old, or from a future that a corrected clock took back

    async def rules(self, url: str) -> Rules:
        """The rules for a URL's site, fetched if need be. Callers for one site share one fetch."""
        known = self.peek(url)
        if known is not None:
            return known
        origin = url[: url.find("/", 8)]
        task = self._asking.get(origin)
        if task is None:
            task = self._asking[origin] = asyncio.create_task(self._learn(origin))
            task.add_done_callback(lambda _: self._asking.pop(origin, None))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Give up the fetches under way."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _learn(self, origin: str) -> Rules:
        saved = None if origin in self._known else self.load(origin)
        if saved is not None:
            rules = self._judge(*saved)
            if not rules.failures and rules.fetched_at <= self.now() < rules.retry_at:
                return self._remember(origin, rules)
        status, body, cause = await self._get(origin + "/robots.txt")
        fetched_at = self.now()
        body = body[: MAX_SIZE + 1]
        self.save(origin, (fetched_at, status, body))
        before = self._known.get(origin)
        failures = before.failures + 1 if before else 1
        return self._remember(origin, self._judge(fetched_at, status, body, cause, failures))

    def _judge(self, fetched_at: float, status: int, body: bytes, cause: str = "", failures: int = 1) -> Rules:
        """What an answer means (RFC 9309 2.3.1)."""
        if status in (0, 429) or status >= 500:
            wait = min(self.back_off * 2.0 ** min(failures - 1, 20), self.max_age)
            return Rules(fetched_at, fetched_at + wait, None, self.token, cause or str(status), failures)
        text = decoded(body) if 200 <= status < 300 else ""
        return Rules(fetched_at, fetched_at + self.max_age, text, self.token)

    def _remember(self, origin: str, rules: Rules) -> Rules:
        self._known.pop(origin, None)
        while len(self._known) >= self.size:
            del self._known[next(iter(self._known))]
        self._known[origin] = rules
        return rules

    async def _get(self, url: str) -> tuple[int, bytes, str]:
        """Status, body and, where the status is 0, why there is no answer. Too many redirects count as no file."""
        for _ in range(MAX_REDIRECTS + 1):
            target = canonical(url)
            if target is None:
                return 404, b"", ""
            got = await self.fetch(Request(target.url, target.host))
            if isinstance(got, NoAnswer):
                return 0, b"", got.reason
            self.keep(got)
            if got.truncated in ("time", "disconnect"):
                return 0, b"", got.truncated
            if not 300 <= got.status < 400:
                return got.status, got.body, ""
            hop = canonical(got.headers.get("location", ""), target.url) if "location" in got.headers else None
            if hop is None:
                return 404, b"", ""
            url = hop.url
        return 404, b"", ""
