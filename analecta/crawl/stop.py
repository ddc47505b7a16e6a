"""Stop rules: each looks at the tally and says why the crawl is over, or nothing."""

from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import disk_usage

from analecta.model import Tally
from analecta.protocols import StopRule
from analecta.settings.schema import StopSettings


def pages(most: int) -> StopRule:
    """So many pages have been kept."""
    words = "1 page was asked for and kept" if most == 1 else f"{most:,} pages were asked for and kept"
    return lambda tally: words if tally.pages >= most else None


def minutes(most: float, clock: Callable[[], float]) -> StopRule:
    """So much time has passed since the start."""
    end = clock() + 60 * most
    words = "1 minute is over" if most == 1 else f"{most:g} minutes are over"
    return lambda _: words if clock() >= end else None


def collections(each: int, topics: Sequence[int]) -> StopRule:
    """Every topic has so many pages (S7, S11)."""

    words = f"every topic has {each:,} page{'' if each == 1 else 's'}"

    def full(tally: Tally) -> str | None:
        return words if all(tally.topics.get(t, 0) >= each for t in topics) else None

    return full


def rules(settings: StopSettings, topics: Sequence[int], clock: Callable[[], float]) -> list[StopRule]:
    """The rules that the settings ask for."""
    chosen = []
    if settings.pages:
        chosen.append(pages(settings.pages))
    if settings.minutes:
        chosen.append(minutes(settings.minutes, clock))
    if settings.per_topic and topics:
        chosen.append(collections(settings.per_topic, topics))
    return chosen


def disk_is_short(folder: Path, reserve: int) -> str | None:
    """Whether less than the reserve is free where the library lies (F03)."""
    free = disk_usage(folder).free
    if free >= reserve:
        return None
    wanted = f"{reserve / 1e6:,.0f} MB are to stay free (stop.free_disk)"
    return f"only {free / 1e6:.0f} MB are free on the disk of {folder}, and {wanted}: make room, or set that lower"
