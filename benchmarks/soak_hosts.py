"""The hosts of the hostile mixture: half of them honest, the others with what the open web does to crawlers."""

import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from http import HTTPStatus
from random import Random
from typing import NamedTuple

from soak_pages import OTHERS, TOPICS, Articles, document, nouns, number, prose

HONEST = "honest"
TRAPS = ("calendar", "facets", "repeating", "session", "words")  # each with FEW real articles
BAD_ROBOTS = ("robots-error", "robots-silent", "robots-away")
HOSTILE = (
    *TRAPS, *BAD_ROBOTS, "mirror", "bomb", "drip", "reset", "loop", "storm-told", "storm-untold", "flaky", "heavy",
    "headers", "types",
)  # fmt: skip
MANY, FEW = 4000, 40
ROBOTS_HOST = "robots-for-all.test"
HTML = "Content-Type: text/html; charset=utf-8"
BOMB, HEAVY = 20_000_000, 2_000_000


class Reply(NamedTuple):
    """An answer: pieces of bytes, each after some seconds; then the connection is kept, closed or reset."""

    status: int
    pieces: Iterable[tuple[float, bytes]]
    end: str = "keep"


class Host(NamedTuple):
    """A host of the mixture. `delay` is what it is owed between two requests: ours, or what its robots.txt asks."""

    name: str
    kind: str
    topic: str
    latency: float
    delay: float


def plan(count: int, seed: int, delay: float) -> list[Host]:
    """The hosts, the same for the same seed: every second one honest, the others of each hostile kind in turn."""
    kinds = [HONEST if i % 2 == 0 else HOSTILE[i // 2 % len(HOSTILE)] for i in range(count)]
    rng = Random(seed)
    rng.shuffle(kinds)
    hosts = []
    for i, kind in enumerate(kinds):
        patient = kind == HONEST and rng.random() < 0.1
        topic = rng.choice(TOPICS if rng.random() < 0.6 else OTHERS)
        latency = round(rng.choice((0.0, 0.02, 0.05, 0.1, 0.3)), 3)
        hosts.append(Host(f"site-{i:03d}.test", kind, topic, latency, max(delay, 3.0) if patient else delay))
    return hosts


def whole(status: int, body: bytes, *fields: str, wait: float = 0.0, end: str = "keep") -> Reply:
    """An answer in one piece."""
    lines = "".join(f"{field}\r\n" for field in fields)
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
    return Reply(status, [(wait, head.encode() + body)], end)


class HostileWeb:
    """Answers for all hosts; the same seed gives the same web (a flaky host fails by how often it was asked)."""

    def __init__(self, count: int, seed: int, delay: float) -> None:
        self.seed = seed
        self.hosts = {host.name: host for host in plan(count, seed, delay)}
        self._names = list(self.hosts)
        self._asked: Counter[str] = Counter()
        behaviours: dict[str, Callable[[Host, str], Reply]] = {
            "drip": self._drip, "reset": self._reset, "loop": self._loop, "flaky": self._flaky, "bomb": self._bomb,
            "heavy": self._heavy, "headers": self._headers, "types": self._types, "storm-told": self._storm,
            "storm-untold": self._storm,
        }  # fmt: skip
        self._behaviours = behaviours | dict.fromkeys(TRAPS, self._trap)

    def prepare(self) -> None:
        """Make ahead what takes long, so that no answer waits for it."""
        for host in self.hosts.values():
            articles_of(self.seed, host).body(0)
        bomb()
        heavy()

    def answer(self, name: str, path: str) -> Reply:
        """What a host answers."""
        host = self.hosts.get(name)
        if host is None:
            return whole(200, b"User-agent: *\nAllow: /\n", "Content-Type: text/plain")
        if path == "/robots.txt":
            return self._robots(host)
        return self._behaviours.get(host.kind, self._page)(host, path)

    def _robots(self, host: Host) -> Reply:
        if host.kind == "robots-error":
            return whole(500, b"")
        if host.kind == "robots-silent":
            return Reply(0, [(3600.0, b"")], "close")
        if host.kind == "robots-away":
            return whole(302, b"", f"Location: http://{ROBOTS_HOST}/robots.txt")
        slow = f"Crawl-delay: {host.delay:g}\n" if host.kind == HONEST and host.delay >= 3 else ""
        return whole(200, f"User-agent: *\n{slow}Disallow: /private/\n".encode(), "Content-Type: text/plain")

    def _page(self, host: Host, path: str, *more: str) -> Reply:
        """An article of the host, with further links inside it and one to another host."""
        articles = articles_of(self.seed, host)
        n = articles.find(path)
        if n is None:
            return whole(404, b"<h1>Nothing here</h1>", HTML, wait=host.latency)
        links = [(href, href.strip("/")) for href in more]
        other = self._names[number(self.seed, host.name, n, "other") % len(self._names)]
        body = articles.body(n, [*links, (f"http://{other}/", f"Friends at {other}")])
        return whole(200, body, HTML, wait=host.latency)

    def _trap(self, host: Host, path: str) -> Reply:
        if not is_trap(host.kind, path):
            return self._page(host, path, ENTRY[host.kind])
        words = prose(host.topic, number(host.name, path), 2) if host.kind in ("words", "facets") else "<p>Nothing.</p>"
        links = [(href, href.strip("/").rpartition("/")[2]) for href in FURTHER[host.kind](path)]
        body = document(f"{host.name} {path[-30:]}", words, [*links, ("/", "Home")])
        return whole(200, body, HTML, wait=host.latency)

    def _bomb(self, host: Host, path: str) -> Reply:
        if path.startswith("/archive/"):
            return whole(200, bomb(), HTML, "Content-Encoding: gzip")
        return self._page(host, path, f"/archive/{self._nth(host, path) // 12}.html")

    def _heavy(self, host: Host, path: str) -> Reply:
        if path.startswith("/report/"):
            return whole(200, f"<title>{host.name} {path}</title>".encode() + heavy(), HTML)
        return self._page(host, path, f"/report/{self._nth(host, path) // 12 % 25}.html")

    def _drip(self, host: Host, path: str) -> Reply:
        if not path.startswith("/slow/"):
            return self._page(host, path, f"/slow/{self._nth(host, path) // 4}.html")
        head = f"HTTP/1.1 200 OK\r\n{HTML}\r\n\r\n<title>{path}</title>".encode()
        return Reply(200, endless(head, b"<p>slow ", 2.0), "close")

    def _reset(self, host: Host, path: str) -> Reply:
        if not path.startswith("/broken/"):
            return self._page(host, path, f"/broken/{self._nth(host, path) // 2}.html")
        head = f"HTTP/1.1 200 OK\r\n{HTML}\r\nContent-Length: 5000\r\n\r\n<p>half".encode()
        return Reply(200, [(0.0, head if number(path) % 2 else b"")], "reset")

    def _loop(self, host: Host, path: str) -> Reply:
        if not path.startswith("/go/"):
            return self._page(host, path, "/go/a", f"/go/{self._nth(host, path)}")
        step = path.removeprefix("/go/")
        to = {"a": "/go/b", "b": "/go/a"}.get(step) or f"/go/{int(step) + 100_000 if step.isdigit() else 'a'}"
        return whole(302, b"", f"Location: {to}")

    def _storm(self, host: Host, path: str) -> Reply:
        if self._count(host.name) < 3:
            return self._page(host, path)
        return whole(429, b"", "Retry-After: 5") if host.kind == "storm-told" else whole(503, b"")

    def _flaky(self, host: Host, path: str) -> Reply:
        """One in five fails, and asking again may help: an error, a reset or half a page."""
        draw = number(self.seed, host.name, path, self._count(host.name + path)) % 15
        if draw == 0:
            return whole(500, b"")
        if draw in (1, 2):
            head = f"HTTP/1.1 200 OK\r\n{HTML}\r\nContent-Length: 5000\r\n\r\n<p>half".encode()
            return Reply(200, [(host.latency, head if draw == 1 else b"")], "reset")
        return self._page(host, path)

    def _headers(self, host: Host, path: str) -> Reply:
        if not path.startswith("/forever/"):
            return self._page(host, path, f"/forever/{self._nth(host, path) // 4}.html")
        return Reply(200, endless(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 8000 + b"\r\n", 0.01), "close")

    def _types(self, host: Host, path: str) -> Reply:
        if not path.startswith("/files/"):
            n = self._nth(host, path)
            return self._page(host, path, f"/files/{n}.html", f"/files/{n}.pdf")
        kind = ("image/png", "text/html; charset=klingon", "application/pdf", "", "video/mp4")[number(path) % 5]
        body = Random(number(path)).randbytes(20_000) if number(path) % 2 else prose(host.topic, number(path)).encode()
        return whole(200, body, *([f"Content-Type: {kind}"] if kind else []))

    def _nth(self, host: Host, path: str) -> int:
        return articles_of(self.seed, host).find(path) or 0

    def _count(self, what: str) -> int:
        self._asked[what] += 1
        return self._asked[what]


@cache
def articles_of(seed: int, host: Host) -> Articles:
    """The articles of a host; all mirrors have those of one."""
    name = "mirror" if host.kind == "mirror" else host.name
    topic = TOPICS[0] if host.kind == "mirror" else host.topic
    return Articles(seed, name, topic, FEW if host.kind in TRAPS else 400 if host.kind == "mirror" else MANY)


def is_trap(kind: str, path: str) -> bool:
    """Whether this is one of the endless pages of a trap."""
    return kind in TRAPS and path.startswith(f"/{ENTRY[kind].split('/')[1]}/")


def endless(first: bytes, piece: bytes, every: float) -> Iterator[tuple[float, bytes]]:
    """`first`, then the same piece for ever."""
    yield 0.0, first
    while True:
        yield every, piece


@cache
def bomb() -> bytes:
    """Some 20 KB that inflate to 20 MB of HTML."""
    return gzip.compress(b"<p>boom " * (BOMB // 8), 9, mtime=0)


@cache
def heavy() -> bytes:
    """2 MB of HTML that is slow to read: deep, with many attributes and links."""
    row = b"".join(b'<td class="c%d" style="x:%d"><b><i><a href="/x/%d">%d</a>' % (i, i, i % 50, i) for i in range(100))
    return (b"<table><tr>" + row) * (HEAVY // (len(row) + 11))


ENTRY = {
    "calendar": "/events/2024/05/",
    "facets": "/shop/?",
    "repeating": "/docs/",
    "session": "/forum/?",
    "words": "/tags/",
}


def _calendar(path: str) -> list[str]:
    year, month = (int(part) for part in path.split("/")[2:4])
    months = [year * 12 + month - 1 + step for step in (1, -1, 12, -12)]
    return [f"/events/{m // 12}/{m % 12 + 1:02d}/" for m in months]


def _facets(path: str) -> list[str]:
    chosen = path.partition("?")[2]
    names = ("colour", "size", "sort", "page")
    return [f"/shop/?{chosen}{'&' if chosen else ''}{name}={number(chosen) % 1000}" for name in names]


def _words(path: str) -> list[str]:
    names = nouns(TOPICS[0])
    return [f"{path}{names[number(path, i) % len(names)]}/" for i in range(4)]


FURTHER: dict[str, Callable[[str], list[str]]] = {
    "calendar": _calendar,
    "facets": _facets,
    "repeating": lambda path: [path + part for part in ("a/b/", "b/a/")],
    "session": lambda path: [f"/forum/?sid={number(path, i):016x}" for i in range(4)],
    "words": _words,
}
