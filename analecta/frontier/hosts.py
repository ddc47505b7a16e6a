"""A host with its queue, and the domain that hosts share."""

from analecta.frontier.politeness import Manners, Turns
from analecta.model import State

Entry = tuple[float, int, int]  # (-priority, n, id)


class Host(Turns):
    """A host with its queue: `heap` in memory, and the best priority among its cold URLs."""

    __slots__ = ("cold_best", "domain", "fate", "heap", "name", "outside", "picked", "ticket")

    def __init__(self, name: str, domain: "Domain", manners: Manners, now: float) -> None:
        super().__init__(manners, now)
        self.name = name
        self.domain = domain
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
