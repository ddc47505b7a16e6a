"""Asks for one address that a person named, before there is a crawl: through the same door, with the same manners."""

import asyncio

from analecta.errors import BadUse, Environment
from analecta.fetch.client import by_number, client_for
from analecta.model import Answer, Fetched, NoAnswer, Request
from analecta.settings.schema import FetchSettings
from analecta.urls import canonical, on_this_machine, origin

_REDIRECTS = 5
_SECONDS = 120.0


def ask(url: str, contact: str = "", fetch: FetchSettings = FetchSettings(), seconds: float = _SECONDS) -> Answer:
    """What is at an address, redirects followed, within so many seconds in all; one sentence where there is nothing."""
    here = canonical(url)
    if here is None:
        raise BadUse(f"{url} is no valid address")
    try:
        return asyncio.run(asyncio.wait_for(_follow(here.url, contact, fetch), seconds))
    except TimeoutError:
        raise Environment(f"{url} is too slow: it was not there after {seconds:g} s") from None


async def _follow(url: str, contact: str, fetch: FetchSettings) -> Answer:
    at = url
    for _ in range(_REDIRECTS + 1):
        _check_contact(at, contact, fetch)
        found = await _once(at, contact, fetch, origin(url))
        if isinstance(found, NoAnswer):
            raise Environment(f"{at} does not answer: {found.reason}" + (f" ({found.detail})" if found.detail else ""))
        if found.status not in (301, 302, 303, 307, 308):
            return _whole(found, at)
        after = canonical(found.headers.get("location", ""), at)
        if after is None:
            break
        at = after.url
    raise Environment(f"{url} leads nowhere: its redirects do not end at a page")


def _whole(found: Answer, at: str) -> Answer:
    if not 200 <= found.status < 300:
        raise Environment(f"{at} answered with HTTP {found.status}: nothing can be read there")
    if found.truncated:
        raise Environment(f"{at} could not be read to its end ({found.truncated})")
    return found


def _check_contact(url: str, contact: str, fetch: FetchSettings) -> None:
    fixed = fetch.connect_to.rpartition("//")[2].rstrip("/")
    if not (contact or on_this_machine(url) or on_this_machine(f"http://{fixed}/")):
        raise BadUse(
            f"who asks for {url} on the open internet must say who they are: "
            "set contact in analecta.toml; `analecta new` takes --contact you@example.org (or a URL)"
        )


async def _once(url: str, contact: str, f: FetchSettings, named: str) -> Fetched:
    """One request. This machine is asked only where the person `named` it, port included, not where another led us."""
    client = client_for(f, contact, on_this_machine(url) and origin(url) == named)
    try:
        return await client(Request(by_number(url), ""))
    finally:
        await client.close()
