"""The HTTP client as settings describe it, who it says it is, and one address asked for before there is a crawl."""

import asyncio
import re
from importlib.metadata import version

from analecta.errors import ResourceError, UsageError
from analecta.fetch.budget import MemoryBudget
from analecta.fetch.dns import Resolver
from analecta.fetch.guard import Guard
from analecta.fetch.http import Http
from analecta.fetch.transfer import FetchLimits
from analecta.model import FetchResult, NoResponse, Request, Response
from analecta.settings.schema import TYPES, FetchSettings
from analecta.urls import canonical, on_this_machine, origin

# --- Who asks: the name that site owners see with every request, and that their robots.txt may speak to --------------


TOKEN = "Analecta"  # the product token that robots.txt files may name


def software() -> str:
    """The program with its version."""
    return f"{TOKEN}/{version('analecta')}"


def user_agent(contact: str) -> str:
    """The program, and how to reach the person who runs it."""
    return software() + (f" (+{contact})" if contact else "")


# --- client ----------------------------------------------------------------------------------------------------------
# The HTTP client as settings describe it: for a crawl, for search engines, and for an address that a person named.


_LOOPBACK = ("127.0.0.0/8", "::1/128")
_LOCALHOST = re.compile(r"(?i)^(https?://)localhost(?=[:/])")


def http_client(
    f: FetchSettings,
    contact: str,
    parallel: int = 1,
    *,
    local: bool = False,
    types: bool = False,
    budget: MemoryBudget | None = None,
) -> Http:
    """A client for the web.

    `local`: a person named this machine, so it may be asked, and directly. With `types`, some kinds of things are
    limited in size or not wanted (B2).
    """
    guard = Guard((*f.allow, *_LOOPBACK) if local else f.allow)
    limits = FetchLimits(
        f.connect_timeout,
        f.first_byte_timeout,
        f.deadline,
        max_wire=f.max_wire,
        max_body=f.max_body,
        types=TYPES | f.types if types else {},
        allow_bad_tls=frozenset(f.allow_bad_tls),
    )
    return Http(
        user_agent(contact),
        limits,
        contact=contact if "@" in contact else "",
        resolver=Resolver(guard, f.dns),
        guard=guard,
        connect_to="" if local else f.connect_to,
        parallel=parallel,
        budget=budget,
    )


def by_number(url: str) -> str:
    """A URL on this machine by its address: of the name localhost name servers do not know."""
    return _LOCALHOST.sub(r"\g<1>127.0.0.1", url)


# --- one url ---------------------------------------------------------------------------------------------------------
# Asks for one address that a person named, before there is a crawl: through the same door, with the same manners.


_REDIRECTS = 5
_SECONDS = 120.0


def fetch_one(
    url: str, contact: str = "", fetch: FetchSettings = FetchSettings(), seconds: float = _SECONDS
) -> Response:
    """What is at an address, redirects followed, within so many seconds in all; one sentence where there is nothing."""
    here = canonical(url)
    if here is None:
        raise UsageError(f"{url} is no valid address")
    try:
        return asyncio.run(asyncio.wait_for(_follow(here.url, contact, fetch), seconds))
    except TimeoutError:
        raise ResourceError(f"{url} is too slow: it was not there after {seconds:g} s") from None


async def _follow(url: str, contact: str, fetch: FetchSettings) -> Response:
    at = url
    for _ in range(_REDIRECTS + 1):
        require_contact(at, contact, fetch)
        found = await _once(at, contact, fetch, origin(url))
        if isinstance(found, NoResponse):
            raise ResourceError(
                f"{at} does not answer: {found.reason}" + (f" ({found.detail})" if found.detail else "")
            )
        if found.status not in (301, 302, 303, 307, 308):
            return _whole(found, at)
        after = canonical(found.headers.get("location", ""), at)
        if after is None:
            break
        at = after.url
    raise ResourceError(f"{url} leads nowhere: its redirects do not end at a page")


def _whole(found: Response, at: str) -> Response:
    if not 200 <= found.status < 300:
        raise ResourceError(f"{at} answered with HTTP {found.status}: nothing can be read there")
    if found.truncated:
        raise ResourceError(f"{at} could not be read to its end ({found.truncated})")
    return found


def may_ask(url: str, contact: str, fetch: FetchSettings) -> bool:
    """Whether a URL may be asked for: on the open internet only with a contact."""
    fixed = fetch.connect_to.rpartition("//")[2].rstrip("/")
    return bool(contact) or on_this_machine(url) or on_this_machine(f"http://{fixed}/")


def require_contact(url: str, contact: str, fetch: FetchSettings, whom: str = "") -> None:
    """Refuse to ask for a URL (`whom`, to a person) that may not be asked for."""
    if not may_ask(url, contact, fetch):
        raise UsageError(
            f"who asks {whom or f'for {url}'} on the open internet must say who they are: "
            "set contact in analecta.toml; `analecta new` takes --contact you@example.org (or a URL)"
        )


async def _once(url: str, contact: str, f: FetchSettings, named: str) -> FetchResult:
    """One request. This machine is asked only where the person `named` it, port included, not where another led us."""
    client = http_client(f, contact, local=on_this_machine(url) and origin(url) == named)
    try:
        return await client(Request(by_number(url), ""))
    finally:
        await client.close()
