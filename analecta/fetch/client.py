"""The HTTP client as settings describe it: for a crawl, for search engines, and for an address that a person named."""

import re

from analecta.fetch.budget import Budget
from analecta.fetch.dns import Resolver
from analecta.fetch.guard import Guard
from analecta.fetch.http import Http
from analecta.fetch.identity import user_agent
from analecta.settings.schema import TYPES, FetchSettings

_LOOPBACK = ("127.0.0.0/8", "::1/128")
_LOCALHOST = re.compile(r"(?i)^(https?://)localhost(?=[:/])")


def http_client(
    f: FetchSettings, contact: str, parallel: int, types: bool = False, budget: Budget | None = None
) -> Http:
    """A client for the web; with `types`, some kinds of things are limited in size or not wanted (B2)."""
    return _client(f, contact, parallel, Guard(f.allow), f.connect_to or None, types, budget)


def client_for(f: FetchSettings, contact: str, local: bool) -> Http:
    """A client for single questions; `local`: a person named this machine, so it may be asked, and directly."""
    guard = Guard((*f.allow, *_LOOPBACK) if local else f.allow)
    return _client(f, contact, 1, guard, None if local else f.connect_to or None)


def by_number(url: str) -> str:
    """A URL on this machine by its address: of the name localhost name servers do not know."""
    return _LOCALHOST.sub(r"\g<1>127.0.0.1", url)


def _client(
    f: FetchSettings,
    contact: str,
    parallel: int,
    guard: Guard,
    connect_to: str | None,
    types: bool = False,
    budget: Budget | None = None,
) -> Http:
    return Http(
        user_agent(contact),
        contact if "@" in contact else "",
        resolver=Resolver(guard, f.dns),
        guard=guard,
        connect_to=connect_to,
        allow_bad_tls=f.allow_bad_tls,
        connect_timeout=f.connect_timeout,
        first_byte_timeout=f.first_byte_timeout,
        deadline=f.deadline,
        max_wire=f.max_wire,
        max_body=f.max_body,
        types=TYPES | f.types if types else {},
        parallel=parallel,
        budget=budget,
    )
