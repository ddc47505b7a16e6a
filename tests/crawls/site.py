"""Small made-up sites for whole-crawl tests: a hostile server whose pages are HTML unless told otherwise."""

from collections.abc import Mapping

from tests.crawls.driver import page_text
from tests.hostile import Behaviour, HostileServer, answer

# Words that make each page differ from all others, so that no two count as near-duplicates.
_WORDS = "amber birch cobalt dune ember fjord grove heron iris jade kelp lark moss nectar opal pine quartz reed".split()


def prose(seed: str, count: int = 60) -> str:
    """Some words, the same for the same seed and unlike those for another."""
    return " ".join(f"{_WORDS[(i * 7 + ord(seed[i % len(seed)])) % len(_WORDS)]}{seed}{i}" for i in range(count))


def html(path: str, *links: str, head: str = "", words: str = "", **headers: str) -> Behaviour:
    """A page with words of its own and links."""
    name = "".join(filter(str.isalnum, path)) or "home"
    body = page_text(*links, title=f"Page {path}", words=words or prose(name), head=head)
    return answer(body, **({"content_type": "text/html; charset=utf-8"} | headers))


def robots(*lines: str) -> Behaviour:
    """A robots.txt."""
    return answer("\n".join(lines).encode() + b"\n", content_type="text/plain")


def site(pages: Mapping[str, Behaviour], links: Mapping[str, tuple[str, ...]] | None = None) -> HostileServer:
    """A server with these behaviours, and a page for each key of `links`."""
    return HostileServer({**{path: html(path, *out) for path, out in (links or {}).items()}, **pages})
