"""Pages made from a seed, cheap enough to serve hundreds a second: sentences are written once and then only drawn."""

from collections.abc import Iterable, Sequence
from functools import cache
from random import Random

import xxhash

from analecta.testweb.sentences import fill, lexicon, sentences

TOPICS = ("beekeeping", "astronomy")  # what the library is about
OTHERS = ("chess", "bridges", "cycling")
POOL = 4000
BRANCHES = 8  # an article links to so many that nobody else links to
SENTENCES = 36


def number(*parts: object) -> int:
    """A number that looks random and is the same for the same parts."""
    return xxhash.xxh3_64_intdigest("\x1f".join(map(str, parts)).encode())


@cache
def pool(topic: str) -> tuple[str, ...]:
    """Sentences about a topic."""
    rng, patterns, forms = Random(number("pool", topic)), sentences(topic), lexicon(topic)
    return tuple(fill(rng.choice(patterns), forms, rng.random) for _ in range(POOL))


@cache
def nouns(topic: str) -> tuple[str, ...]:
    """Words for titles and addresses."""
    return tuple(word.replace(" ", "-").lower() for word in lexicon(topic)["n"])


def prose(topic: str, key: int, count: int = SENTENCES) -> str:
    """Paragraphs about a topic; each key has its own."""
    found, draw = pool(topic), Random(key).random
    text = [found[int(draw() * POOL)] for _ in range(count)]
    return "".join(f"<p>{' '.join(text[i : i + 6])}</p>\n" for i in range(0, count, 6))


def document(title: str, main: str, links: Iterable[tuple[str, str]]) -> bytes:
    """An HTML page."""
    listed = "".join(f'<li><a href="{href}">{words}</a></li>\n' for href, words in links)
    return (
        f"<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>{title}</title></head>\n"
        f"<body><h1>{title}</h1>\n{main}<ul>\n{listed}</ul></body></html>\n"
    ).encode()


class Articles:
    """A site's articles: a tree, so that each page leads to some that no page before it had."""

    def __init__(self, seed: int, host: str, topic: str, count: int) -> None:
        self.seed, self.host, self.topic, self.count = seed, host, topic, count

    def path(self, n: int) -> str:
        """The address of article `n`; article 0 is the home page."""
        if n == 0:
            return "/"
        names = nouns(self.topic)
        key = number(self.seed, self.host, n)
        return f"/{names[key % 7]}/{names[key // 7 % len(names)]}-{names[key // 1009 % len(names)]}-{n}.html"

    def find(self, path: str) -> int | None:
        """The article at an address."""
        if path == "/":
            return 0
        tail = path.rpartition("-")[2].removesuffix(".html")
        n = int(tail) if tail.isascii() and tail.isdigit() and len(tail) < 10 else 0
        return n if 0 < n < self.count and self.path(n) == path else None

    def body(self, n: int, more: Sequence[tuple[str, str]] = ()) -> bytes:
        """The page of article `n`, with further links."""
        first = n * BRANCHES + 1
        links = [(self.path(i), self.title(i)) for i in range(first, min(first + BRANCHES, self.count))]
        main = prose(self.topic, number(self.seed, self.host, n, "text"))
        return document(self.title(n), main, [*links, ("/", "Home"), *more])

    def title(self, n: int) -> str:
        """What an article is called."""
        return f"{self.host}: " + self.path(n).strip("/").replace("/", " ").replace("-", " ").removesuffix(".html")
