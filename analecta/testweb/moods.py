"""Moods of hosts: slow, busy, abrupt, strict. Decides what to do with an answer; the server does it."""

from collections.abc import Callable, Mapping

import msgspec


class Mood(msgspec.Struct, frozen=True):
    """How a host behaves. Counting requests, not chance, decides, so that a second try finds it in a better mood."""

    delay: float = 0.0  # seconds before each answer
    busy_every: int = 0  # each n-th request gets a 503 with Retry-After
    cut_every: int = 0  # each n-th answer ends half way
    per_second: int = 0  # more requests within a second get a 429
    retry_after: int = 1


class Deed(msgspec.Struct, frozen=True):
    """What to do with an answer: wait, put another status in its place (0: as it is), cut it."""

    delay: float = 0.0
    status: int = 0
    retry_after: int = 0
    cut: bool = False


NAMED = {
    "slow": Mood(delay=0.25),
    "busy": Mood(busy_every=5),
    "cutting": Mood(cut_every=6),
    "limited": Mood(per_second=5),
}


class Moods:
    """Remembers what each host was asked, and says how it takes the next request."""

    def __init__(
        self,
        moods: Mapping[str, Mood],
        draw: Callable[[], float],
        now: Callable[[], float],
        *,
        delay: float = 0.0,
        error_rate: float = 0.0,
    ) -> None:
        self.moods, self.draw, self.now = moods, draw, now
        self.delay, self.error_rate = delay, error_rate
        self._asked: dict[str, int] = {}
        self._second: dict[str, tuple[int, int]] = {}
        self.even = not moods and not delay and not error_rate

    def next(self, host: str, target: str) -> Deed:
        """How `host` takes a request for `target`; its robots.txt is always answered."""
        mood = self.moods.get(host, Mood())
        delay = self.delay + mood.delay
        if target == "/robots.txt":
            return Deed(delay)
        if self.error_rate and self.draw() < self.error_rate:
            # Half of the errors are a 503, a quarter a 500, a quarter a broken answer.
            chance = self.draw()
            return Deed(delay, 503, 1) if chance < 0.5 else Deed(delay, 500 if chance < 0.75 else 0, cut=chance >= 0.75)
        asked = self._asked[host] = self._asked.get(host, 0) + 1
        if mood.busy_every and asked % mood.busy_every == 0:
            return Deed(delay, 503, mood.retry_after)
        if mood.per_second and self._in_this_second(host) > mood.per_second:
            return Deed(delay, 429, mood.retry_after)
        return Deed(delay, cut=bool(mood.cut_every) and asked % mood.cut_every == 0)

    def _in_this_second(self, host: str) -> int:
        second = int(self.now())
        before, count = self._second.get(host, (second, 0))
        self._second[host] = (second, count + 1 if before == second else 1)
        return self._second[host][1]
