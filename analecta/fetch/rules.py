"""What one robots.txt says to us: which lines are ours, what they allow, and how slowly to go (RFC 9309)."""

import re
from collections.abc import Callable

from protego import Protego

from analecta import preferences

MAX_SIZE = 500 * 1024  # bytes that are parsed, RFC 9309 2.5
LONGEST_DELAY = 30.0  # seconds; a host that asks for more is set aside rather than hurried

_LINE = re.compile(r"\r\n|\r|\n")
_OTHER_BREAKS = dict.fromkeys(map(ord, "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), " ")
_AGENT = re.compile(r"user[- ]?agent\s*:?\s*(.*)", re.IGNORECASE)
_RULE = re.compile(r"(?:allow|di[a-z]{5,7})(?:[:\s]\s*(\S)?|$)", re.IGNORECASE)  # disallow may be misspelt
_SITE_WIDE = re.compile(r"site-?maps?\b|content-(?:usage|signal)\b", re.IGNORECASE)
_DELAY = re.compile(r"crawl[- ]delay[:\s]+([0-9]*[.,]?[0-9]+(?:e[0-9]+)?)", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z_-]+")


class Rules:
    """What one robots.txt means for us. `reason` says why, where `allowed` says no.

    `text` is None for a file that could not be had, for the reason `cause` (in words: `detail`), `failures` times in a
    row; it may be asked for again at `retry_at` on the wall clock, which is `hopeless` where that cannot change.
    """

    __slots__ = (
        "_match",
        "_open",
        "cause",
        "delay",
        "detail",
        "failures",
        "fetched_at",
        "hopeless",
        "reason",
        "reserved",
        "retry_at",
        "set_aside",
        "sitemaps",
    )

    def __init__(
        self,
        fetched_at: float,
        retry_at: float,
        text: str | None,
        token: str,
        cause: str = "",
        failures: int = 0,
        detail: str = "",
        hopeless: bool = False,
    ) -> None:
        self.fetched_at = fetched_at
        self.retry_at = retry_at
        self.cause = cause
        self.detail = detail
        self.hopeless = hopeless
        self.failures = failures
        self._open = text is not None
        self.reason = "robots" if text is not None else "robots-unreachable"
        self.delay: float | None = None
        self.set_aside = False
        self.sitemaps: tuple[str, ...] = ()
        self.reserved = ""
        self._match: Callable[[str, str], bool] | None = None
        if text:
            self._read(text, token)

    def _read(self, text: str, token: str) -> None:
        lines = [_plain_delay(line) for line in ours(text, token)]
        parsed = Protego.parse("\n".join(("User-agent: *", *lines)))
        self.reserved = preferences.of_lines(lines)
        self.sitemaps = tuple(parsed.sitemaps)
        delay = parsed.crawl_delay("*")
        self.set_aside = delay is not None and delay > LONGEST_DELAY
        self.delay = None if delay is None else min(delay, LONGEST_DELAY)
        if any(rule[1] for rule in map(_RULE.match, lines) if rule):  # "Disallow:" alone forbids nothing
            self._match = parsed.can_fetch

    def allowed(self, url: str) -> bool:
        """Whether we may fetch this URL, which must be of the site the rules are for."""
        if self._match is not None:
            return self._match(url, "*")
        return self._open or (url.endswith("/robots.txt") and url.count("/") == 3)


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
