"""Robots files: what they say (RFC 9309), where they are, and what a site allows."""

import asyncio
import re
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from protego import Protego

from analecta import preferences
from analecta.model import NoResponse, Request, Response, UrlRef
from analecta.protocols import FetchFunction
from analecta.urls import canonical

# --- rules -----------------------------------------------------------------------------------------------------------
# What one robots.txt says to us: which lines are ours, what they allow, and how slowly to go (RFC 9309).


MAX_SIZE = 500 * 1024  # bytes that are parsed, RFC 9309 2.5
LONGEST_DELAY = 30.0  # seconds; a host that asks for more is set aside rather than hurried

_LINE = re.compile(r"\r\n|\r|\n")
_OTHER_BREAKS = dict.fromkeys(map(ord, "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), " ")
_AGENT = re.compile(r"user[- ]?agent\s*:?\s*(.*)", re.IGNORECASE)
_RULE = re.compile(r"(?:allow|di[a-z]{5,7})(?:[:\s]\s*(\S)?|$)", re.IGNORECASE)  # disallow may be misspelt
_SITE_WIDE = re.compile(r"site-?maps?\b|content-(?:usage|signal)\b", re.IGNORECASE)
_DELAY = re.compile(r"crawl[- ]delay[:\s]+([0-9]*[.,]?[0-9]+(?:e[0-9]+)?)", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z_-]+")


class Rules(msgspec.Struct, frozen=True):
    """What one robots.txt means for us.

    A file that could not be had has a `cause` (in words: `detail`), `failures` times in a row: nothing is allowed then.
    It may be asked for again at `retry_at` on the wall clock, which is `hopeless` where that cannot change.
    """

    fetched_at: float = 0.0
    retry_at: float = 0.0
    cause: str = ""
    detail: str = ""
    hopeless: bool = False
    failures: int = 0
    delay: float | None = None
    set_aside: bool = False
    sitemaps: tuple[str, ...] = ()
    reserved: str = ""
    match: Callable[[str, str], bool] | None = None  # None where the file forbids nothing

    @property
    def reason(self) -> str:
        """Why, where `allowed` says no."""
        return "robots-unreachable" if self.cause else "robots"

    def allowed(self, url: str) -> bool:
        """Whether we may fetch this URL, which must be of the site the rules are for."""
        if self.match is not None:
            return self.match(url, "*")
        return not self.cause or (url.endswith("/robots.txt") and url.count("/") == 3)


def read_rules(text: str, token: str, fetched_at: float = 0.0, retry_at: float = 0.0) -> Rules:
    """The rules of a robots.txt for the product token that is ours."""
    if not text:
        return Rules(fetched_at, retry_at)
    lines = [_plain_delay(line) for line in ours(text, token)]
    parsed = Protego.parse("\n".join(("User-agent: *", *lines)))
    delay = parsed.crawl_delay("*")
    return Rules(
        fetched_at,
        retry_at,
        delay=None if delay is None else min(delay, LONGEST_DELAY),
        set_aside=delay is not None and delay > LONGEST_DELAY,
        sitemaps=tuple(parsed.sitemaps),
        reserved=preferences.of_lines(lines),
        # "Disallow:" alone forbids nothing.
        match=parsed.can_fetch if any(rule[1] for rule in map(_RULE.match, lines) if rule) else None,
    )


def ours(text: str, token: str) -> list[str]:
    """The lines of a robots.txt that are for us: of all groups that name our product token, else of those for `*`.

    Only a rule ends the list of names a group starts with: a Crawl-delay or Sitemap between two does not.
    """
    token = token.lower()
    mine: list[str] = []
    everyone: list[str] = []
    site_wide: list[str] = []  # sitemaps, and preferences before the first group
    names: set[str] = set()
    group: list[str] = []
    in_rules = named = False

    def close() -> None:
        if token in names:
            mine.extend(group)
        if "*" in names:
            everyone.extend(group)

    for raw in _LINE.split(text.translate(_OTHER_BREAKS)):
        line = raw.partition("#")[0].strip()
        agent = _AGENT.match(line)
        if agent is not None:
            if in_rules:
                close()
                names, group, in_rules = set(), [], False
            names.add(_product(agent[1]))
            named = named or token in names
        elif _SITE_WIDE.match(line) and (not names or line[0] in "sS"):
            site_wide.append(line)
        elif line and names:
            group.append(line)
            in_rules = in_rules or _RULE.match(line) is not None
    close()
    return site_wide + (mine if named else everyone)


def _plain_delay(line: str) -> str:
    """A Crawl-delay by the number that it begins with ("10s", "1,5"); any other line as it is."""
    found = _DELAY.match(line)
    return f"Crawl-delay: {found[1].replace(',', '.')}" if found else line


def _product(value: str) -> str:
    """The product token of a User-agent line: "ExampleBot/1.0" means ExampleBot."""
    if value.startswith("*"):
        return "*"
    found = _TOKEN.match(value)
    return found[0].lower() if found else ""


def decoded(body: bytes) -> str:
    """The text of a robots.txt, whatever it is written in; cut after the last whole line that is within the limit."""
    if len(body) > MAX_SIZE:
        body = body[:MAX_SIZE]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1] or body
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("latin-1").removeprefix("ï»¿")


# --- What a site's robots.txt allows, exactly by RFC 9309; protego matches the paths ---------------------------------
# No file (4xx) allows everything; a file that cannot be had (5xx, 429, no answer) allows nothing until it can: it is
# asked for again after a while, and at once by a new run, for a person may have set right what was wrong. Answers are
# good for a day at most. One file for each scheme, host and port; where many redirect to one, it is fetched once for
# all of them, and shared while it is good.


Saved = tuple[float, int, bytes]  # when it was fetched (wall clock), status (0 = no answer), body
Asked = TypeVar("Asked")

DAY = 86_400.0
MAX_REDIRECTS = 5
_MOST = 50_000  # sites whose rules are held in memory
_ROOM = 8_000_000  # bytes of files that are kept for others that redirect there


class HostNotDue(msgspec.Struct, frozen=True):
    """The host of a robots file cannot be asked now: come again after so many seconds."""

    wait: float


class RobotsFile(msgspec.Struct, frozen=True):
    """What came of asking for one URL. `status` is 0 where there was no whole answer, for the reason `cause`."""

    fetched_at: float
    status: int
    body: bytes = b""
    location: str = ""  # where a redirect leads; "" where that is nowhere
    cause: str = ""
    detail: str = ""
    hopeless: bool = False  # asking again would be in vain

    @property
    def failed(self) -> bool:
        """Whether this is no answer to go by (RFC 9309 2.3.1.4)."""
        return self.status in (0, 429) or self.status >= 500


@dataclass(eq=False)
class Robots:
    """Robots files through a cache. `keep` gets every answer; `load` and `save` make the cache outlive the process.

    A file is good for `max_age` seconds, a failure for `back_off`, which doubles with each further one of a site.
    """

    fetch: FetchFunction
    token: str
    now: Callable[[], float] = time.time
    keep: Callable[[Response], object] = lambda _: None
    load: Callable[[str], Saved | None] = lambda _: None
    save: Callable[[str, Saved], None] = lambda _origin, _saved: None
    max_age: float = DAY
    back_off: float = 60.0

    def __post_init__(self) -> None:
        self._known: dict[str, Rules] = {}  # by site
        self._files: dict[str, RobotsFile] = {}  # by URL
        self._size = 0
        self._asking: dict[str, asyncio.Task[Any]] = {}  # by site or URL

    def peek(self, url: str) -> Rules | None:
        """The rules for a URL's site if they are in memory and still good."""
        rules = self._known.get(url[: url.find("/", 8)])
        if rules is not None and rules.fetched_at <= self.now() < rules.retry_at:
            return rules
        return None  # unknown, too old, or from a future that a corrected clock took back

    async def rules(self, url: str) -> Rules | HostNotDue:
        """The rules for a URL's site, fetched if need be. Callers for one site share one fetch.

        `HostNotDue` where a host that the file redirects to must be waited for.
        """
        known = self.peek(url)
        if known is not None:
            return known
        origin = url[: url.find("/", 8)]
        return await self._shared(origin, lambda: self._learn(origin))

    async def close(self) -> None:
        """Give up the fetches under way."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _shared(self, what: str, ask: Callable[[], Coroutine[Any, Any, Asked]]) -> Asked:
        """What is asked for once, for all who want it meanwhile."""
        task = self._asking.get(what)
        if task is None:
            task = self._asking[what] = asyncio.create_task(ask())
            task.add_done_callback(lambda _: self._asking.pop(what, None))
        return await asyncio.shield(task)

    # --- rules of a site -------------------------------------------------------------------------------------------

    async def _learn(self, origin: str) -> Rules | HostNotDue:
        saved = None if origin in self._known else self.load(origin)
        if saved is not None:
            rules = self._judge(RobotsFile(*saved))
            if not rules.failures and rules.fetched_at <= self.now() < rules.retry_at:
                return self._remember(origin, rules)
        file = await self._follow(origin + "/robots.txt")
        if isinstance(file, HostNotDue):
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
            return Rules(at, at + wait, file.cause or str(file.status), file.detail, file.hopeless, failures)
        text = decoded(file.body) if 200 <= file.status < 300 else ""
        return read_rules(text, self.token, at, at + self.max_age)

    def _remember(self, origin: str, rules: Rules) -> Rules:
        self._known.pop(origin, None)
        while len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[origin] = rules
        return rules

    async def _follow(self, url: str) -> RobotsFile | HostNotDue:
        """The file at the end of the redirects. Too many of them count as no file, and so does one to nowhere."""
        for _ in range(MAX_REDIRECTS + 1):
            target = canonical(url)
            if target is None:
                break
            file = await self._file(target)
            if isinstance(file, HostNotDue) or not 300 <= file.status < 400:
                return file
            url = file.location
            if not url:
                break
        return RobotsFile(self.now(), 404)

    # --- files -----------------------------------------------------------------------------------------------------

    async def _file(self, target: UrlRef) -> RobotsFile | HostNotDue:
        """The file at a URL; callers for one URL share one fetch."""
        kept = self._files.get(target.url)
        if kept is not None:
            if kept.fetched_at <= self.now() < kept.fetched_at + (self.back_off if kept.failed else self.max_age):
                return kept
            self._drop(target.url)
        return await self._shared(target.url, lambda: self._ask(target))

    async def _ask(self, target: UrlRef) -> RobotsFile | HostNotDue:
        got = await self.fetch(Request(target.url, target.host))
        if isinstance(got, NoResponse):
            if got.reason == "turn":
                return HostNotDue(got.wait)
            file = RobotsFile(self.now(), 0, cause=got.reason, detail=got.detail, hopeless=not got.retry)
        else:
            self.keep(got)
            if got.truncated in ("time", "disconnect"):
                file = RobotsFile(self.now(), 0, cause=got.truncated)
            elif 300 <= got.status < 400:
                hop = canonical(got.headers["location"], target.url) if "location" in got.headers else None
                file = RobotsFile(self.now(), got.status, location=hop.url if hop else "")
            else:
                file = RobotsFile(self.now(), got.status, got.body[: MAX_SIZE + 1])
        if file.cause != "closed":
            self._drop(target.url)
            self._files[target.url] = file
            self._size += _size(target.url, file)
        while self._size > _ROOM:
            self._drop(next(iter(self._files)))
        return file

    def _drop(self, url: str) -> None:
        file = self._files.pop(url, None)
        if file is not None:
            self._size -= _size(url, file)


def _size(url: str, file: RobotsFile) -> int:
    return 500 + len(url) + len(file.body) + len(file.location)
