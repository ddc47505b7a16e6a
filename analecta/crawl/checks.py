"""What must be right about the settings before anything is fetched."""

import re
import resource
from collections.abc import Iterable
from pathlib import Path

from analecta.errors import ResourceError, UsageError, suggest
from analecta.frontier.policy import PRIORITIES
from analecta.judge import JUDGES
from analecta.learning.examples import given_files
from analecta.settings.schema import Settings
from analecta.urls import is_loopback

_FILES = 64  # open files of a process besides its connections: databases, WARC files, pipes, libraries
_PORT = r"(?:6553[0-5]|655[0-2]\d|65[0-4]\d\d|6[0-4]\d{3}|[1-5]\d{4}|[1-9]\d{0,3})"
_ADDRESS = re.compile(rf"(?:https?://)?(?:\[[0-9a-fA-F:.]+\]|[\w.-]+):{_PORT}/?")


def check(settings: Settings, path: Path, contact: bool = True) -> None:
    """Say what is missing before anything is fetched; `path` is where a person would set it right.

    A `contact` is needed where sites are asked.
    """
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        raise UsageError(f"{str(path.parent)!r} is not written in UTF-8: rename the folder to crawl into it") from None
    given_files(settings, [topic.name for topic in settings.topics], path.parent)  # none is outside the library
    _check_kind("judge", settings.judge.kind, JUDGES, path)
    _check_kind("policy", settings.policy.kind, PRIORITIES, path)
    _check_kind("learning", settings.learning.kind, PRIORITIES, path)
    if settings.communities.grow and settings.crawl.ordered:
        raise UsageError(
            "communities grow as sites answer, which no seed can repeat: leave out --seed (crawl.ordered); "
            "which sites belong together does not depend on the order"
        )
    of_pages = settings.learning.pages or settings.policy.off_site != "no" or settings.policy.one_entry
    if of_pages and settings.policy.kind == "learned":
        raise UsageError(
            "learning.pages, policy.off_site and policy.one_entry say what links are worth by the page that they are "
            'on; policy.kind = "learned" values each by itself: take "best-first" with them'
        )
    if settings.fetch.connect_to and not _ADDRESS.fullmatch(settings.fetch.connect_to):
        raise UsageError(
            "connect_to wants HOST:PORT, such as 127.0.0.1:8080 (or https://HOST:PORT), "
            f"not {settings.fetch.connect_to!r}"
        )
    if contact and not settings.contact and not is_loopback(settings.fetch.connect_to):
        away = f"{settings.fetch.connect_to} is not on this machine, and " if settings.fetch.connect_to else ""
        raise UsageError(
            f'{away}who crawls the open internet must say who they are: set contact = "you@example.org" (or a URL) '
            f"in {path}; site owners see it with every request"
        )


def check_files(settings: Settings, partitions: int) -> None:
    """Say so where the system allows fewer open files than the connections and databases of a crawl need."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A partition has its connections; the coordinator a socket pair for any two partitions, and some files of each.
    needed = max(settings.fetch.parallel + _FILES, partitions * (partitions + 4) + _FILES)
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        less = f", or set fetch.parallel to {allowed - _FILES}" if allowed > _FILES else ""
        raise ResourceError(
            f"only {allowed} files may be open at a time, and this crawl needs {needed}: raise `ulimit -n`{less}"
        )


def _check_kind(table: str, kind: str, known: Iterable[str], path: Path) -> None:
    if kind not in known:
        raise UsageError(f"{path}: {table}.kind is {kind!r}{suggest(kind, list(known))}")
