"""Which network addresses may be dialled: the public internet, and what a person allowed by name.

`ipaddress.is_global` alone says yes to 64:ff9b::a9fe:a9fe, ::7f00:1, 224.0.0.1 and 168.63.129.16, so addresses
that carry another one inside are unwrapped first, and what must never be asked is listed here.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from analecta.errors import SettingsError

Address = IPv4Address | IPv6Address

# Where clouds answer questions about the machine that asks, credentials included.
_METADATA = ("169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192")
METADATA = frozenset(map(ip_address, (*_METADATA, "fd00:ec2::254", "fd20:ce::254")))

# Not public, whatever the standard library of the day thinks of them.
DENIED: tuple[IPv4Network | IPv6Network, ...] = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",
            "192.0.0.0/24",
            "192.88.99.0/24",
            "198.18.0.0/15",
            "224.0.0.0/3",
            "64:ff9b:1::/48",
            "100::/64",
            "2001:db8::/32",
            "3fff::/20",
            "5f00::/16",
            "fc00::/7",
            "fe80::/9",  # link-local, and the site-local fec0::/10 after it
            "ff00::/8",
        ),
    )
)

# Names that only a local network knows (RFC 6761, 6762, 8375, and what routers hand out).
_LOCAL_NAMES = (".localhost", ".local", ".internal", ".home.arpa", ".localdomain", ".lan")

_NAT64 = ip_network("64:ff9b::/96")
_LOCAL_NAT64 = ip_network("64:ff9b:1::/48")
_COMPATIBLE = ip_network("::/96")
_LOW = 0xFFFF_FFFF
_PORT = re.compile(r":[0-9]+$")


def unwrap(address: Address) -> list[Address]:
    """The address and every IPv4 address that it carries inside."""
    if isinstance(address, IPv4Address):
        return [address]
    inside = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64 or address in _LOCAL_NAT64 or address in _COMPATIBLE:
        inside.append(IPv4Address(int(address) & _LOW))
    return [address, *filter(None, inside)]


def _private(address: Address) -> str | None:
    """Why an address is not a public one, in a word or two."""
    kinds = {
        "metadata service": address in METADATA,
        "unspecified address": address.is_unspecified,
        "loopback address": address.is_loopback,
        "link-local address": address.is_link_local,
        "multicast address": address.is_multicast,
        "private or reserved address": address.is_private or address.is_reserved,
        "special-purpose address": any(address in net for net in DENIED if net.version == address.version),
    }
    return next((kind for kind, is_one in kinds.items() if is_one), None)


class Guard:
    """Says why an address may not be dialled; `allow` lists networks (CIDR) that a person allows all the same."""

    def __init__(self, allow: Sequence[str] = ()) -> None:
        try:
            self.allow = tuple(ip_network(net) for net in allow)
        except ValueError as error:
            raise SettingsError(f"not a network in CIDR form: {error}") from error

    def refusal(self, address: str) -> str | None:
        """A reason to refuse this address, or None if it may be dialled."""
        try:
            dialled = ip_address(address.partition("%")[0].strip("[]"))
        except ValueError:
            return f"{address!r} is no IP address"
        if any(dialled in net for net in self.allow if net.version == dialled.version):
            return None
        for inner in unwrap(dialled):
            # A wrapper for a public IPv4 address is as good as that address, though its own block is special.
            why = None if inner is dialled and _is_wrapper(dialled) else _private(inner)
            if why:
                return f"{address} is a {why}" if inner is dialled else f"{address} holds {inner}, a {why}"
        return None

    def host_refusal(self, host: str) -> str | None:
        """A reason not to take up a host that others named; a public name may still lead to a private address."""
        name = _PORT.sub("", host) if "]" in host or host.count(":") == 1 else host
        try:
            ip_address(name.strip("[]"))
        except ValueError:
            known = "." in name and not f".{name.rstrip('.')}".endswith(_LOCAL_NAMES)
            return None if known or self.allow else f"{name} is a name of a local network"
        return self.refusal(name)


def _is_wrapper(address: Address) -> bool:
    """Whether the address is only another way to write an IPv4 one (mapped) or to reach it (NAT64)."""
    return isinstance(address, IPv6Address) and (address.ipv4_mapped is not None or address in _NAT64)
