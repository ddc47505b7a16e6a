"""When a crawl is over: rules that a person set, a network that is down, a disk that is full, nothing left to fetch."""

from collections.abc import Sequence
from pathlib import Path
from shutil import disk_usage

from analecta.crawl.control import EngineStatus
from analecta.model import Tally
from analecta.protocols import StopRule
from analecta.settings.schema import StopSettings

_OUTAGE = 15.0  # seconds in which requests got no answer

# --- Rules: each looks at the tally and the seconds since the start, and says why the crawl is over, or nothing ------


def pages(most: int) -> StopRule:
    """So many pages have been kept."""
    words = "1 page was asked for and kept" if most == 1 else f"{most:,} pages were asked for and kept"
    return lambda tally, _: words if tally.pages >= most else None


def minutes(most: float) -> StopRule:
    """So much time has passed since the start."""
    words = "1 minute is over" if most == 1 else f"{most:g} minutes are over"
    return lambda _, seconds: words if seconds >= 60 * most else None


def collections(each: int, topics: Sequence[int]) -> StopRule:
    """Every topic has so many pages (S7, S11)."""
    words = f"every topic has {each:,} page{'' if each == 1 else 's'}"
    return lambda tally, _: words if all(tally.topics.get(t, 0) >= each for t in topics) else None


def rules(settings: StopSettings, topics: Sequence[int]) -> list[StopRule]:
    """The rules that the settings ask for."""
    chosen = []
    if settings.pages:
        chosen.append(pages(settings.pages))
    if settings.minutes:
        chosen.append(minutes(settings.minutes))
    if settings.per_topic and topics:
        chosen.append(collections(settings.per_topic, topics))
    return chosen


# --- Disk and network ------------------------------------------------------------------------------------------------


def disk_is_short(folder: Path, reserve: int) -> str | None:
    """Whether less than the reserve is free where the library lies (F03)."""
    free = disk_usage(folder).free
    if free >= reserve:
        return None
    wanted = f"{reserve / 1e6:,.0f} MB are to stay free (stop.free_disk)"
    return f"only {free / 1e6:.0f} MB are free on the disk of {folder}, and {wanted}: make room, or set that lower"


class Outage:
    """Sees when the network seems to be down; to go on would only count failures against hosts that are well."""

    def __init__(self, delay: float | None, now: float) -> None:
        """`delay`: seconds between two requests to one host."""
        self._patience = max(_OUTAGE, 2 * (delay or 0.0))
        self._answers = -1
        self._answered = now
        self._troubles = 0  # up to the last answer

    def step(self, now: float, tally: Tally, statuses: Sequence[EngineStatus]) -> str:
        """Why the crawl should end, if it should."""
        if tally.answers != self._answers:
            self._answers, self._answered, self._troubles = tally.answers, now, tally.troubles
        since = tally.troubles - self._troubles
        silent = sum(status.silent for status in statuses)
        waiting = any(status.queued for status in statuses)
        down = min(silent, since) >= 3 or (not tally.answers and since >= 5)
        if waiting and down and now - self._answered > self._patience:
            return "no host has answered for a while: the network seems to be down; crawl again when it is back"
        return ""


# --- The end of work -------------------------------------------------------------------------------------------------


class EndOfWork:
    """Sees when nothing is left to fetch, or nothing but what belongs to hosts that must be waited for."""

    def __init__(self, idle: float) -> None:
        """`idle`: for how many seconds nothing may happen."""
        self.idle = idle
        self._quiet: tuple[int, ...] = ()  # the counts that were first seen when nothing seemed left
        self._serials: tuple[int, ...] = ()  # and the statuses that told them
        self._stuck_since: float | None = None  # since when only hosts in trouble are left

    def is_stuck(self, now: float, statuses: Sequence[EngineStatus]) -> bool:
        """Whether for so long as nothing may happen, nothing was left but what belongs to hosts in trouble."""
        settled = all(s.stuck and not s.pending and not s.unread for s in statuses)
        if not settled or not any(s.queued for s in statuses):
            self._stuck_since = None
            return False
        if self._stuck_since is None:
            self._stuck_since = now
        return now - self._stuck_since > self.idle

    def is_reached(self, statuses: Sequence[EngineStatus], waited_for: bool) -> bool:
        """Queues and outboxes empty and all link batches received, seen twice; or only hosts with a long wait left.

        Not while something else is `waited_for`, such as a model.
        """
        under_way = any(s.in_flight or s.pending or s.unread for s in statuses)
        soon = any(s.queued and s.wait <= self.idle for s in statuses)
        if waited_for or under_way or soon or not all_received(statuses):
            self._quiet = ()
            return False
        counts = tuple(n for s in statuses for n in (s.sent, s.received, s.queued, s.tally.answers))
        serials = tuple(s.serial for s in statuses)
        if self._quiet != counts:
            self._quiet, self._serials = counts, serials
            return False
        return all(new > old for new, old in zip(serials, self._serials, strict=True))


def all_received(statuses: Sequence[EngineStatus]) -> bool:
    """Whether every link batch that a partition sent has been taken in by another."""
    return sum(s.sent for s in statuses) == sum(s.received for s in statuses)


def left_over(statuses: Sequence[EngineStatus], where: str) -> str:
    """What is left, in words."""
    queued = sum(s.queued for s in statuses)
    left = "1 URL is left" if queued == 1 else f"{queued:,} URLs are left"
    hosts = ", ".join(sorted({s.next_host for s in statuses if s.queued and s.next_host}))
    named = f" ({hosts} first)" if hosts else ""
    return f"{left} {where}{named}; crawl again later"
