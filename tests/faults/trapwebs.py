"""Webs of honest sites, crawler traps and honest sites that look like traps (served by ServerProcess).

Every page has a text of its own of about 90 words, on topic or not, unless the kind of trap says otherwise.
"""

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from analecta.testweb.server import ServedResponse

Answer = Callable[[str, str, Mapping[str, str]], ServedResponse]

_SYLLABLES = "ba be bi bo da de di do fa fe fi fo ga ge gi go ka ke ki ko la le li lo ma me mi mo".split()


def _words(topic: str) -> list[str]:
    pick = random.Random(topic)
    return ["".join(pick.choices(_SYLLABLES, k=3)) for _ in range(400)]


TOPIC, ELSE = _words("topic"), _words("else")


def text(key: str, on_topic: bool = True, count: int = 90) -> str:
    """Words of one topic, the same for the same key."""
    return " ".join(random.Random(key).choices(TOPIC if on_topic else ELSE, k=count))


def token(key: str) -> str:
    """A token as session numbers are."""
    return hashlib.md5(key.encode(), usedforsecurity=False).hexdigest()[:12]


def name(key: str) -> str:
    """A word that nothing but its key decides."""
    return "".join(random.Random(key).choices(_SYLLABLES, k=4))


# --- honest sites: path -> links, text on topic or not ----------------------------------------------------------------


def site(size: int) -> dict[str, list[str]]:
    """Articles below hubs, each with links to others."""
    pages = [f"/articles/{name(str(n))}-{n}" if n % 2 else f"/texts/{name(str(n))}{name(str(-n))}" for n in range(size)]
    hubs = [f"/list/{name(f'hub {n}')}" for n in range(max(1, size // 30))]
    web = {"/": hubs}
    for i, hub in enumerate(hubs):
        web[hub] = pages[i :: len(hubs)]
    for i, page in enumerate(pages):
        web[page] = ["/", pages[(i * 7 + 1) % size], pages[(i * 3 + 2) % size]]
    return web


def catalogue(size: int) -> dict[str, list[str]]:
    """Items by number, on list pages by number."""
    lists = [f"/shop/list?page={n}" for n in range(1, size // 20 + 1)]
    web = {"/": lists[:1]}
    for i, page in enumerate(lists):
        web[page] = [*lists[i + 1 : i + 2], *(f"/shop/item?id={n}" for n in range(i * 20, i * 20 + 20))]
    return web | {f"/shop/item?id={n}": [f"/shop/item?id={(n * 5 + 1) % size}"] for n in range(len(lists) * 20)}


def forum(size: int) -> dict[str, list[str]]:
    """One long thread, page after page."""
    return {"/": ["/thread?page=1"]} | {
        f"/thread?page={n}": [f"/thread?page={n + 1}"] * (n < size) + ["/"] for n in range(1, size + 1)
    }


def events(size: int) -> dict[str, list[str]]:
    """A calendar that ends, with something in every month."""
    months = [f"/events/{2020 + n // 12}/{n % 12 + 1:02d}" for n in range(size)]
    return {"/": [months[size // 2]]} | {
        month: [*months[max(0, i - 1) : i], *months[i + 1 : i + 2], "/"] for i, month in enumerate(months)
    }


def deep(size: int) -> dict[str, list[str]]:
    """Manuals in directories of directories."""
    web: dict[str, list[str]] = {"/": []}
    at = ["/"]
    for n in range(size):
        parent = at[n // 3]
        page = f"{parent}{name(f'dir {n}')}/"
        web[parent].append(page)
        web[page] = ["/"]
        at.append(page)
    return web


HONEST: dict[str, Callable[[int], dict[str, list[str]]]] = {
    "site": site,
    "catalogue": catalogue,
    "forum": forum,
    "events": events,
    "deep": deep,
}

# --- traps: (host, target) -> links, text -----------------------------------------------------------------------------


def _calendar(host: str, target: str) -> tuple[list[str], str]:
    """Months without end, all alike."""
    year, month = (int(part) for part in target.split("/")[2:4]) if target.count("/") > 2 else (2024, 1)
    months = [year * 12 + month - 1 + step for step in (1, -1, 12, -12)]
    words = f"{text(host, True, 40)} month {year} {month} no events"
    return [f"/cal/{m // 12}/{m % 12 + 1:02d}" for m in months], words


def _agenda(host: str, target: str) -> tuple[list[str], str]:
    """Months without end, each with other words that are on no topic."""
    links, _ = _calendar(host, target)
    return links, text(host + target, False, 60)


def _session(host: str, target: str) -> tuple[list[str], str]:
    """The same few pages under ever new tokens."""
    page = target.count("a") % 3
    return [f"/s/{token(f'{target} {i}')}/page{(page + i) % 3}" for i in range(4)], text(f"{host} {page}")


def _facets(host: str, target: str) -> tuple[list[str], str]:
    """A list filtered by ever more parameters."""
    chosen = target.partition("?")[2]
    further = [f"{one}={token(chosen + one)[:3]}" for one in ("colour", "size", "sort", "page", "brand")]
    return [f"/find?{chosen}{'&' * bool(chosen)}{part}" for part in further], text(f"{host} {len(chosen) // 30}", False)


def _paths(host: str, target: str) -> tuple[list[str], str]:
    """Directories in directories, without a digit."""
    return [f"{target.rstrip('/')}/{name(f'{target} {i}')}/" for i in range(3)], text(host + target, False)


def _tarpit(host: str, target: str) -> tuple[list[str], str]:
    """Made-up words under made-up names."""
    return [f"/{name(f'{target} {i}')}/{name(f'{i} {target}')}" for i in range(5)], text(host + target, False)


def _relative(host: str, target: str) -> tuple[list[str], str]:
    """Relative links that lead ever deeper."""
    return ["more/alpha.html", "more/beta.html", "less/gamma/"], text(f"{host} {target.rpartition('/')[2]}")


def _flood(host: str, target: str) -> tuple[list[str], str]:
    """Nearly the same page under ever new names."""
    return [f"/p/{name(f'{target} {i}')}" for i in range(4)], f"{text(host)} {name(target)}"


TRAPS: dict[str, Callable[[str, str], tuple[list[str], str]]] = {
    "calendar": _calendar,
    "agenda": _agenda,
    "session": _session,
    "facets": _facets,
    "paths": _paths,
    "tarpit": _tarpit,
    "relative": _relative,
    "flood": _flood,
}


class TrapWeb:
    """Hosts named KIND-N.test, mirrors mirror-N.test and sub-N.wild.test; `front.test` links to all that are honest."""

    def __init__(
        self,
        honest: Sequence[str] = ("site",),
        size: int = 120,
        traps: Sequence[str] = (),
        trap_hosts: int = 1,
        mirrors: int = 0,
        wild: bool = False,
        on_topic: bool = True,
    ) -> None:
        self.sites = {f"{kind}-{i}.test": HONEST[kind](size) for i, kind in enumerate(honest)}
        self.traps = {f"{kind}-{i}.trap{i}{kind}.test": kind for kind in traps for i in range(trap_hosts)}
        self.mirrors = mirrors
        self.wild = wild
        self.on_topic = on_topic

    @property
    def honest(self) -> set[str]:
        """The URLs of all honest pages."""
        return {f"http://{host}{path}" for host, web in self.sites.items() for path in web} | {"http://front.test/"}

    def answer(self, host: str, target: str, _headers: Mapping[str, str]) -> ServedResponse:
        """What a server says."""
        found = self._page(host, target)
        if target == "/robots.txt" or found is None:
            return ServedResponse(404)
        links, words = found
        anchors = " ".join(f'<a href="{link}">{name(link)}</a>' for link in links)
        body = f"<html><head><title>{name(words)}</title></head><body><p>{words}</p>{anchors}</body></html>"
        return ServedResponse(200, b"Content-Type: text/html\r\n", body.encode())

    def _page(self, host: str, target: str) -> tuple[list[str], str] | None:
        if host == "front.test":
            return [*self._fronts()], text("front")
        if host.startswith("mirror-"):
            links, words = self._page("site-0.test", target) or ([], "")
            return ([link for link in links if link.startswith("/")] + self._copies(target), words) if words else None
        if host.endswith(".wild.test"):
            return [f"http://{name(f'{host} {i}')}.wild.test/" for i in range(4)], text(host, False)
        if host in self.traps:
            return TRAPS[self.traps[host]](host, target)
        web = self.sites.get(host)
        if web is None:
            return None
        if target in web:
            further = [f"http://{trap}/" for trap in self.traps] + (self._copies(target) if self.mirrors else [])
            further += ["http://a.wild.test/"] if self.wild else []
            return [*web[target], *further], text(host + target, self.on_topic)
        return None

    def _copies(self, target: str) -> list[str]:
        return [f"http://mirror-{i}.copies{i}.test{target}" for i in range(self.mirrors)]

    def _fronts(self) -> Iterator[str]:
        for host in self.sites:
            yield f"http://{host}/"


def make(**arguments: object) -> Answer:
    """What a server of such a web answers."""
    return TrapWeb(**arguments).answer  # type: ignore[arg-type]
