"""What a site's robots.txt allows, exactly by RFC 9309; protego matches the paths.

No file (4xx) allows everything; a file that cannot be had (5xx, 429, no answer) allows nothing until it can: it is
asked for again after a while, and at once by a new run, for a person may have set right what was wrong.
Answers are good for a day at most. One file for each scheme, host and port; where many redirect to one, it is fetched
once for all of them.
"""

import asyncio
import time
from collections.abc import Callable

from analecta.fetch.robots_files import Later, RobotsFile, RobotsFiles
from analecta.fetch.rules import Rules, decoded
from analecta.model import Answer
from analecta.protocols import Fetch
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
        self.files = RobotsFiles(fetch, lambda: self.now(), keep)
        self.token = token
        self.now = now
        self.load = load
        self.save = save
        self.max_age = max_age
        self.back_off = back_off
        self.size = size
        self._known: dict[str, Rules] = {}
        self._asking: dict[str, asyncio.Task[Rules | Later]] = {}

    def peek(self, url: str) -> Rules | None:
        """The rules for a URL's site if they are in memory and still good."""
        rules = self._known.get(url[: url.find("/", 8)])
        if rules is not None and rules.fetched_at <= self.now() < rules.retry_at:
            return rules
        return None  # unknown, too old, or from a future that a corrected clock took back

    async def rules(self, url: str) -> Rules | Later:
        """The rules for a URL's site, fetched if need be. Callers for one site share one fetch.

        `Later` where a host that the file redirects to must be waited for.
        """
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
        await self.files.close()

    async def _learn(self, origin: str) -> Rules | Later:
        saved = None if origin in self._known else self.load(origin)
        if saved is not None:
            fetched_at, status, body = saved
            rules = self._judge(RobotsFile(fetched_at, status, body))
            if not rules.failures and rules.fetched_at <= self.now() < rules.retry_at:
                return self._remember(origin, rules)
        file = await self._get(origin + "/robots.txt")
        if isinstance(file, Later):
            return file
        self.save(origin, (file.fetched_at, file.status, file.body))
        before = self._known.get(origin)
        failures = before.failures + 1 if before else 1
        return self._remember(origin, self._judge(file, failures))

    def _judge(self, file: RobotsFile, failures: int = 1) -> Rules:
        """What an answer means (RFC 9309 2.3.1)."""
        at = file.fetched_at
        if file.failed:
            wait = min(self.back_off * 2.0 ** min(failures - 1, 20), self.max_age)
            cause = file.cause or str(file.status)
            return Rules(at, at + wait, None, self.token, cause, failures, file.detail, file.hopeless)
        text = decoded(file.body) if 200 <= file.status < 300 else ""
        return Rules(at, at + self.max_age, text, self.token)

    def _remember(self, origin: str, rules: Rules) -> Rules:
        self._known.pop(origin, None)
        while len(self._known) >= self.size:
            del self._known[next(iter(self._known))]
        self._known[origin] = rules
        return rules

    async def _get(self, url: str) -> RobotsFile | Later:
        """The file at the end of the redirects. Too many of them count as no file, and so does one to nowhere."""
        for _ in range(MAX_REDIRECTS + 1):
            target = canonical(url)
            if target is None:
                break
            file = await self.files.get(target, self.max_age, self.back_off)
            if isinstance(file, Later) or not 300 <= file.status < 400:
                return file
            url = file.location
            if not url:
                break
        return RobotsFile(self.now(), 404)
