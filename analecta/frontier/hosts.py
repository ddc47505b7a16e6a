"""A host with its queue, and the domain and the address that hosts share."""

from analecta.frontier.politeness import Manners, Turns
from analecta.model import State

Entry = tuple[float, int, int]  # (-priority, n, id)


class Host(Turns):
    """A host with its queue: `heap` in memory, and the best priority among its cold URLs."""

    __slots__ = ("address", "cold_best", "domain", "fate", "heap", "name", "outside", "picked", "ticket")

    def __init__(self, name: str, domain: "Domain", manners: Manners, now: float) -> None:
        super().__init__(manners, now)
        self.name = name
        self.domain = domain
        self.address: IpAddress | None = None  # as far as it is known
        self.heap: list[Entry] = []
        self.cold_best: float | None = None
        self.fate = (State.FAILED, "bad-host")  # what becomes of its URLs if it is given up
        self.ticket = 0
        self.picked = -(1 << 60)  # the number of the last pick that came from here
        self.outside = False  # it is not asked in this crawl: its URLs wait for another


class Domain:
    """Hosts that share a registrable domain share a limit on requests under way (B16)."""

    __slots__ = ("flying", "parked")

    def __init__(self) -> None:
        self.flying = 0
        self.parked: list[Host] | None = None  # hosts that wait for it; most domains never have any


class IpAddress:
    """Hosts at one IP address share a limit on requests under way, and a gap between two."""

    __slots__ = ("alarm", "flying", "next", "parked", "unsent")

    def __init__(self) -> None:
        self.flying = 0
        self.unsent = 0  # of those under way, how many have not left yet
        self.next = 0.0  # the earliest time of the next request
        self.alarm = 0.0  # when the frontier is going to look at it again
        self.parked: list[tuple[float, int, int, Host]] = []  # a heap of hosts that wait for it, with their tickets


class IpLimits:
    """The IP addresses that are asked: at most `most` requests under way to each (0: any number), and `gap` seconds
    between two."""

    def __init__(self, most: int, gap: float) -> None:
        self.most = most
        self.gap = gap
        self._known: dict[str, IpAddress] = {}

    def at(self, ip: str) -> IpAddress:
        """The address with this number."""
        return self._known.setdefault(ip, IpAddress())

    def open(self, address: IpAddress) -> bool:
        """Whether another request may be under way to it."""
        return (not self.most or address.flying < self.most) and not (self.gap and address.unsent)

    def free(self, address: IpAddress, now: float) -> bool:
        """Whether it may be asked now."""
        return address.next <= now and self.open(address)

    def take(self, address: IpAddress) -> None:
        """A request was picked; it has not left yet."""
        address.flying += 1
        address.unsent += 1

    def left(self, address: IpAddress, now: float) -> None:
        """The request leaves: the gap runs from here."""
        address.unsent -= 1
        address.next = max(address.next, now + self.gap)

    def keep_only(self, used: set[IpAddress | None]) -> None:
        """Drop addresses that no host is known to have."""
        self._known = {ip: address for ip, address in self._known.items() if address.flying or address in used}
