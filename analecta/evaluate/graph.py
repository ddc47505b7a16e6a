"""The links of a web that stands still, as a crawl could follow them: what can be reached, and in which order at best.

Links lead through redirects to the pages they end at; what robots.txt forbids and nofollow links are not in it.
"""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np

from analecta.fetch.client import TOKEN
from analecta.fetch.robots import Rules, decoded, read_rules
from analecta.model import UrlRef
from analecta.parse import Parser
from analecta.testweb.webs import StillWeb
from analecta.urls import canonical

_HOPS = 10
_FAR = 1 << 30


class Node(msgspec.Struct):
    """An answer of the web: a page with the ids of its links, or a redirect with the id it leads to."""

    id: int
    url: str
    page: bool
    links: bytes  # ids, 8 bytes each


class PageGraph:
    """Pages by number, each with the numbers of the pages it links to."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        every = {node.id: node for node in nodes}
        pages = [node for node in every.values() if node.page]
        self.urls = [node.url for node in pages]
        self.hosts = [node.url.split("/", 3)[2] for node in pages]
        self.number = {node.id: n for n, node in enumerate(pages)}
        for node in every.values():
            if not node.page and (end := _end(node, every)) is not None:
                self.number.setdefault(node.id, self.number[end])
        self.links = [self._numbers(node.links) for node in pages]

    def __len__(self) -> int:
        return len(self.urls)

    def find(self, url: str) -> int | None:
        """The number of the page that a URL leads to."""
        target = canonical(url)
        return self.number.get(target.id) if target else None

    def _numbers(self, links: bytes) -> list[int]:
        ids = np.frombuffer(links, np.int64).tolist()
        return list(dict.fromkeys(self.number[id] for id in ids if id in self.number))

    def breadth_first(self, seeds: Sequence[int], most: int = _FAR) -> list[int]:
        """The pages in the order of their distance from the seeds."""
        order = list(dict.fromkeys(seeds))
        seen = set(order)
        for page in order:
            if len(order) >= most:
                break
            fresh = [link for link in self.links[page] if link not in seen]
            seen.update(fresh)
            order += fresh
        return order[:most]

    def oracle(self, seeds: Sequence[int], relevant: Collection[int], most: int = _FAR) -> list[int]:
        """The order of a crawler that knows where each link leads: to the nearest relevant page, all the time."""
        good, others = deque(dict.fromkeys(seeds)), dict[int, None]()  # known and not fetched yet, oldest first
        seen, left, order = set(seeds), set(relevant) - set(seeds), list[int]()
        while (good or others) and len(order) < most:
            page = good.popleft() if good else self._way(others, left) if left else next(iter(others))
            others.pop(page, None)
            order.append(page)
            for link in self.links[page]:
                if link not in seen:
                    seen.add(link)
                    if link in left:
                        left.discard(link)
                        good.append(link)
                    else:
                        others[link] = None
        return order

    def _way(self, known: Collection[int], wanted: Collection[int]) -> int:
        """The page among the known ones from which the shortest way leads to a wanted one."""
        start = dict(zip(known, known, strict=True))
        todo = deque(known)
        while todo:
            page = todo.popleft()
            for link in self.links[page]:
                if link in wanted:
                    return start[page]
                if link not in start:
                    start[link] = start[page]
                    todo.append(link)
        return next(iter(known))


def read_nodes(web: StillWeb, part: int = 0, parts: int = 1) -> list[Node]:
    """The nodes of every `parts`-th answer of a web, from `part` on."""
    rules: dict[str, Rules] = {}
    found: list[Node] = []
    with Parser() as parser:
        for answer in islice(web.pages(), part, None, parts):
            target = canonical(answer.url)
            if target is None or not _allowed(target, web, rules):
                continue
            if 300 <= answer.status < 400:
                to = canonical(answer.headers.get("location", "").strip(), answer.url)
                found.append(Node(target.id, target.url, False, _pack([to.id] if to else [])))
            elif 200 <= answer.status < 300 and not target.url.endswith("/robots.txt"):
                page = parser.page(answer, target)
                open_links = [] if page.nofollow else [link.target.id for link in page.links if not link.nofollow]
                found.append(Node(target.id, target.url, True, _pack(open_links)))
    return found


def _allowed(target: UrlRef, web: StillWeb, rules: dict[str, Rules]) -> bool:
    if target.host not in rules:
        answer = web.get(f"http://{target.host}/robots.txt")
        text = decoded(answer.body) if 200 <= answer.status < 300 else ""
        rules[target.host] = Rules(cause="no answer") if answer.status >= 500 else read_rules(text, TOKEN)
    return rules[target.host].allowed(target.url)


def _pack(ids: Sequence[int]) -> bytes:
    return np.array(ids, np.int64).tobytes()


def _end(node: Node, every: dict[int, Node]) -> int | None:
    """The page at the end of a chain of redirects."""
    for _ in range(_HOPS):
        following = np.frombuffer(node.links, np.int64).tolist()
        if not following or following[0] not in every:
            return None
        node = every[following[0]]
        if node.page:
            return node.id
    return None


def load_nodes(path: Path) -> list[Node] | None:
    """The nodes that were saved, if they were."""
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=list[Node])
    except (OSError, msgspec.MsgspecError):
        return None


def save_nodes(path: Path, nodes: Sequence[Node]) -> None:
    """Keep the nodes: parsing a web takes longer than reading them."""
    path.write_bytes(msgspec.msgpack.encode(nodes))
