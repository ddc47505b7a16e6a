"""The frontier: gives out the best URL whose host may be asked now.

Each host has a heap of its queued URLs. A host that may be asked stands in `_ready` under the priority of its
best URL; one that must wait stands in `_waiting` under the time it may be asked again; one with all its requests
under way, or with one that was picked and has not left yet, stands nowhere; one whose IP address is busy waits there.
Entries go stale rather than being searched for: a host's `ticket` says which entry is the true one.

Memory is bounded: a host keeps only its best URLs hot, the others are cold rows of the ledger (SQLite), and every
hot URL of a host is at least as good as every cold one, so that the order is exact all the same.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import ceil

import msgspec
import numpy as np

from analecta.frontier.clock import CountedClock
from analecta.frontier.hosts import Domain, Entry, HostQueue, IpAddress, IpLimits, Politeness
from analecta.frontier.seen import SeenSet
from analecta.model import Candidate, Lease, UrlRef, UrlState
from analecta.protocols import FrontierBackend, NewUrl

NEVER = float("inf")
_SOON = 0.05  # seconds after which to look again whether a request has left or ended
_LOOK_AGAIN = 1.0  # seconds after which an address offers itself to the next of its hosts
_LONGEST_LINE = 5.0  # seconds, besides a host's delay, that a request may stand in line for its turn
_SLACK = 1.1  # a queue may outgrow its cap by a tenth before it is cut back: cutting scans the table


class FrontierLimits(msgspec.Struct, frozen=True):
    """How much is held, and how hosts take turns."""

    hot: int = 50_000  # URLs in memory
    cap: int = 0  # the longest queue of a topic; 0: no bound
    spread: int = 0  # picks from other hosts that come between two of one host


class Frontier:
    """Every URL once; `push` what was found, `pop` what to fetch, `close` what was fetched."""

    def __init__(
        self,
        ledger: FrontierBackend,
        manners: Politeness,
        limits: FrontierLimits = FrontierLimits(),
        *,
        now: float = 0.0,
        domain_of: Callable[[str], str] = str,
        within: Callable[[str], bool] | None = None,
        left: Callable[[str], int] | None = None,
    ) -> None:
        """Only hosts that are `within` are asked, if that is said; what is queued for others waits.

        `left` tells how many pages of a host may still be kept, where that is bounded.
        """
        self.ledger = ledger
        self.manners = manners
        self.hot, self.cap, self.spread = limits.hot, limits.cap, limits.spread
        self.sieve = SeenSet()
        self._shunned = SeenSet()  # URLs that were only ever met where they are not to be followed
        self.hosts: dict[str, HostQueue] = {}
        self.floor = -NEVER  # nothing below it is given out
        self.silent: set[str] = set()  # hosts that had answered before and do not now
        self.settled: Counter[tuple[UrlState, str]] = Counter()  # URLs that were settled unasked, and why
        self.lines: CountedClock | None = None  # in a crawl in order: all times here are counted ones
        self.domains: dict[str, Domain] = {}
        self._domain_of = domain_of
        self._within = within
        self._left = left
        self.addresses: IpLimits | None = None  # where what is asked of one IP address is limited
        self._unsent: set[int] = set()  # requests that were picked and have not left, by id or key
        self._landed: set[int] = set()  # requests that are answered and not taken in
        self._slots: dict[int, IpAddress] = {}  # where requests under way go, by id or key
        self._alarms: list[tuple[float, int, IpAddress]] = []  # addresses that hosts wait for, by time
        self._side_key = 1 << 64  # keys of turns outside the queue; ids are below
        self._hope: HostQueue | None = None  # a host that was last seen to be in order and to have URLs
        self._inside: set[HostQueue] = set()  # hosts that are within, where only those are asked
        self._open: set[HostQueue] = set()  # hosts with URLs that are not demoted
        self._now = now
        self._next_n = ledger.last_n() + 1
        self._live: dict[int, float] = {}  # hot URLs: id -> priority; heap entries that disagree are stale
        self._queued: Counter[int] = Counter()  # by topic, hot and cold
        self._ready: list[tuple[float, int, int, HostQueue]] = []
        self._waiting: list[tuple[float, int, int, HostQueue]] = []
        self._resting: deque[tuple[int, HostQueue]] = deque()  # with the number of the pick
        self._tickets = 0
        self._picks = 0
        self._sweep_at = 10_000

    def __len__(self) -> int:
        """URLs that wait to be fetched; where only some hosts are asked, those in memory and one for all cold ones."""
        if self._within is None:
            return self._queued.total()
        return sum(len(host.heap) + (host.cold_best is not None) for host in self._inside)

    @property
    def queued(self) -> dict[int, int]:
        """URLs that wait, by topic."""
        return +self._queued

    # --- in ---------------------------------------------------------------------------------------------------

    def fresh(self, ids: Sequence[int]) -> list[int]:
        """Positions of ids never seen before; they count as seen from now on."""
        if not ids:
            return []
        return [int(i) for i in self.sieve.add_new(np.array(ids, np.int64))]

    def unwelcome(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those of some refused candidates of which nothing was known yet; they do not count as seen."""
        ids = np.array([candidate.target.id for candidate in candidates], np.int64)
        new = self._shunned.add_new(ids)
        return [candidates[i] for i in new[~self.sieve.contains(ids[new])]]

    def push(self, candidates: Iterable[Candidate]) -> None:
        """Queue new URLs (their ids must have come through `fresh`)."""
        rows: list[NewUrl] = []
        for candidate in candidates:
            n = self._number()
            host = self.host(candidate.target.host)
            if host.bad:
                state, reason = host.fate
                rows.append((n, candidate, state, False, reason))
                self.settled[host.fate] += 1
                continue
            self._queued[candidate.topic] += 1
            cold = host.cold_best is not None and candidate.priority <= host.cold_best
            rows.append((n, candidate, UrlState.QUEUED, cold, candidate.demoted))
            if not cold:
                self._enter(host, candidate.priority, n, candidate.target.id)
        self.ledger.add(rows)
        if len(self._live) > self.hot:
            self._spill()
        if self.cap:
            self._cut()
        if len(self.hosts) > self._sweep_at:
            self._sweep()

    def refuse(self, candidates: Iterable[tuple[Candidate, str]]) -> None:
        """Write down URLs that will never be fetched, with the reason."""
        self.ledger.add([(self._number(), c, UrlState.REFUSED, False, reason) for c, reason in candidates])

    def raise_priority(self, targets: Iterable[UrlRef], priority: float) -> None:
        """Give hot queued URLs a better priority where it is better: a better page links to them now."""
        better = {t.id: t.host for t in targets if 0 <= self._live.get(t.id, NEVER) < priority}
        for id, n in self.ledger.reprioritise(better, priority):
            self._enter(self.host(better[id]), priority, n, id)

    def rescore(self, worth: Mapping[int, float]) -> None:
        """Give hot queued URLs new priorities: seeds and probes, above 1, and demoted ones keep theirs.

        The ledger is not told (it would cost more than all else): it learns a priority when a URL is leased or spilt.
        """
        live = self._live
        for host in self.hosts.values():
            if not host.heap:
                continue
            heap = [(-worth.get(id, -key) if 0 <= -key <= 1.0 else key, n, id) for key, n, id in self._hot(host)]
            live.update((id, -key) for key, _, id in heap)
            if host.cold_best is not None:
                heap = self._chill(heap, host.cold_best)
            heapify(heap)
            host.heap = heap
            self._place(host)

    def rescore_cold(self, worth: Mapping[int, float]) -> None:
        """Give cold URLs new priorities; a `rescore` must follow, which sees to it that the best are hot."""
        self.ledger.set_priorities((priority, id) for id, priority in worth.items())
        for host in self.hosts.values():
            if host.cold_best is not None:
                host.cold_best = self.ledger.cold_best(host.name)

    def _chill(self, heap: list[Entry], cold_best: float) -> list[Entry]:
        """Send those that are now worse than the best cold URL of their host to the ledger; the others."""
        cold = [entry for entry in heap if -entry[0] < cold_best]
        for entry in cold:
            self._live.pop(entry[2])
        self.ledger.spill((-entry[0], entry[2]) for entry in cold)
        return [entry for entry in heap if -entry[0] >= cold_best]

    def priorities(self) -> Iterable[tuple[float, int]]:
        """(priority, id) of all hot URLs, for the ledger."""
        return ((priority, id) for id, priority in self._live.items())

    def requeue(self, lease: Lease, reason: str, detail: str = "", asked: bool = True) -> None:
        """Put a leased URL back, to be asked again when its host may be; a try in which it was `asked` counts."""
        host = self.host(lease.host)
        self.ledger.settle(lease.id, UrlState.QUEUED, reason, detail, tries=lease.tries if asked else lease.tries - 1)
        self._queued[lease.topic] += 1
        if host.bad:
            self.give_up(lease.host, *host.fate, host.bad, also=[lease.id])
        elif host.cold_best is not None and lease.priority < host.cold_best:
            self.ledger.spill([(lease.priority, lease.id)])
        else:
            self._enter(host, lease.priority, lease.n, lease.id)

    def demote(self, lease: Lease, now: float, priority: float, reason: str) -> None:
        """Send a URL that was just given out behind all others; its host's turn is not used up."""
        self.close(lease, now, lambda host: host.dropped(now))
        lease.priority = priority
        self.ledger.reprioritise([lease.id], priority)
        self.requeue(lease, reason, asked=False)

    def promote(self, targets: Iterable[UrlRef], priority: float) -> None:
        """Give demoted URLs a priority like any other."""
        hosts = {target.id: target.host for target in targets}
        for id, n in self.ledger.promote(hosts, priority):
            host = self.host(hosts[id])
            if host.cold_best is not None and priority < host.cold_best:
                self.ledger.spill([(priority, id)])
            else:
                self._enter(host, priority, n, id)

    def has_open(self, now: float, patience: float) -> bool:
        """Whether a URL that is not demoted waits on a host that need not be waited for longer than `patience`."""
        return any(host.next - now <= patience and self._is_open(host) for host in self._open)

    def best_demoted(self, now: float, patience: float) -> float:
        """The best priority below 0 of what waits on hosts that need not be waited for longer than `patience`."""
        tops = (-host.heap[0][0] for host in self.hosts.values() if host.heap and host.next - now <= patience)
        return max((top for top in tops if top < 0), default=-NEVER)

    def restore(
        self,
        hot: Iterable[tuple[float, int, int, str]],
        cold: Iterable[tuple[str, float]],
        queued: dict[int, int],
        patience: Iterable[tuple[str, float, float]] = (),
    ) -> None:
        """Take up again what the ledger holds at start: hot rows, hosts with cold ones, queued URLs by topic.

        Every host may have been asked a moment ago, before we were stopped: each is given its delay, and what it
        asked for in `patience` (name, delay, seconds to wait).
        """
        self._queued = Counter(queued)
        for name, best in cold:
            self.host(name).cold_best = best
        for priority, n, id, name in hot:
            self.host(name).heap.append((-priority, n, id))
            self._live[id] = priority
        for name, delay, wait in patience:
            host = self.host(name)
            host.delay = max(host.delay, delay)
            host.next = max(host.next, self._now + wait)
        for host in self.hosts.values():
            host.next = max(host.next, self._now + host.delay)
            heapify(host.heap)
            self._place(host)

    def count_time(self, lines: CountedClock) -> None:
        """Begin to go by counted time; what hosts must be waited for is rounded up to seconds."""
        self.lines, start, self._now = lines, self._now, lines.now
        for host in self.hosts.values():
            if host.next > start:
                lines.join(host.name, host.next).members = 0
            host.next = self._now + ceil(round(max(0.0, host.next - start), 3))
            host.struck_until = self._now
            self._place(host)

    # --- out --------------------------------------------------------------------------------------------------

    def pop(self, count: int, now: float, floor: float = -NEVER) -> list[Lease]:
        """Up to `count` URLs to fetch now: each the best of those whose host may be asked, none below `floor`."""
        self._now = max(self._now, now)
        floor = max(floor, self.floor)
        ids: list[int] = []
        priorities: list[float] = []
        while len(ids) < count and (host := self._pick()) is not None:
            if -host.heap[0][0] < floor:
                self._place(host)
                rested = self._least_resting()
                if rested is None or -rested.heap[0][0] < floor:
                    break
                host = rested
            priorities.append(-host.heap[0][0])
            ids.append(self._take(host))
        leases = self.ledger.lease(ids, priorities) if ids else []
        for lease in leases:
            self._queued[lease.topic] -= 1
        return leases

    def sent(self, key: int, name: str, now: float) -> bool:
        """A request leaves, by the id of its lease or the key of its turn: the delay runs from here.

        False where it may not: while its connection was made, another answer of the host has ended.
        """
        if key not in self._unsent:
            return True
        host = self.host(name)
        if host.delay and host.next > now:
            return False
        self._unsent.discard(key)
        self._now = max(self._now, now)
        host.left(now)
        if address := self._slots.get(key):
            address.left(now)
            self._wake(address)
        if host.delay:
            self._place(host)
        return True

    def land(self, key: int, name: str, now: float) -> None:
        """The answer to a request has ended: the delay runs from here, not from when it is taken in.

        A heavy page is parsed first, and its host need not wait for that.
        """
        host = self.host(name)
        if host.delay and self.lines is None:
            self._landed.add(key)
            host.landed += 1
            host.put_off(now + host.delay)
            self._place(host)

    def close(self, lease: Lease, now: float, ended: Callable[[HostQueue], str | None]) -> None:
        """A fetch is over; `ended` tells the host's manners how (answered, pressed, failed or dropped)."""
        host = self.host(lease.host)
        domain = host.domain
        domain.in_flight -= 1
        parked, domain.parked = domain.parked, ()
        self._over(lease.id, host, now, ended, parked)

    def _over(
        self,
        key: int,
        host: HostQueue,
        now: float,
        ended: Callable[[HostQueue], str | None],
        parked: Iterable[HostQueue] = (),
    ) -> None:
        self._now = max(self._now, now)
        left = self._release(key, host)
        if reason := ended(host):
            host.fate = (UrlState.FAILED, reason)
        if left and host.delay:
            host.put_off(self._now + host.delay)
        self.silent.discard(host.name)
        if host.known and host.strikes:
            self.silent.add(host.name)
        for other in parked:
            self._place(other)
        self._place(host)
        if host.bad:
            self.give_up(host.name, *host.fate, host.bad)

    def _release(self, key: int, host: HostQueue) -> bool:
        """Free the places of a request that is over; whether it had left. One that had not has used no turn."""
        left = key not in self._unsent
        self._unsent.discard(key)
        host.unsent -= not left
        host.landed -= key in self._landed
        self._landed.discard(key)
        address = self._slots.pop(key, None)
        if address is not None:
            address.in_flight -= 1
            address.unsent -= not left
            self._wake(address)
        return left

    def give_up(self, name: str, state: UrlState, reason: str, detail: str = "", also: Sequence[int] = ()) -> None:
        """Settle all that is queued for a host, and take nothing more for it in this run."""
        host = self.host(name)
        if not host.bad:
            host.bad, host.fate = detail or reason, (state, reason)
        ids = [id for _, _, id in self._hot(host)]
        while rows := self.ledger.warm(name, 1000):
            ids += [row[2] for row in rows]
        host.heap, host.cold_best = [], None
        self._settle([*ids, *also], state, reason, detail)
        self._place(host)

    def hold(self, name: str) -> None:
        """Give a host no further turn until the fetch under way is over: it is being asked for its robots.txt."""
        host = self.host(name)
        host.held = True
        self._place(host)

    def slow_down(self, name: str, delay: float) -> None:
        """Honour a Crawl-delay as a minimum."""
        host = self.host(name)
        if delay > host.delay:
            host.delay = delay
            host.next = max(host.next, self._now + delay)
            self._place(host)

    def forget_delay(self, name: str) -> None:
        """Its robots.txt asks for no Crawl-delay any more."""
        self.host(name).delay = self.manners.delay

    def wait(self, name: str) -> float:
        """Seconds for which a host must still be left alone."""
        host = self.hosts.get(name)
        return max(0.0, host.next - self._now) if host else 0.0

    # --- turns outside the queue, for robots.txt files and where they lead --------------------------------------

    def claim(self, name: str, now: float) -> float:
        """Stand in line for a turn of a host, before its queue: 0.0.

        Where that would take 5 s more than the host's delay: seconds after which to come again.
        """
        host = self.host(name)
        wait = max(0.0, host.next - now) + host.claims * host.delay
        if wait > host.delay + _LONGEST_LINE:
            host.later = max(host.later, now + wait - _LONGEST_LINE) + host.delay
            return host.later - now
        host.claims += 1
        self._place(host)
        return 0.0

    def unclaim(self, name: str) -> None:
        """Stand in line no longer."""
        host = self.host(name)
        host.claims -= 1
        self._place(host)

    def turn_wait(self, name: str, now: float, ip: str = "") -> float:
        """Seconds after which to ask again whether it is a claim's turn; 0.0 where it is."""
        host = self.host(name)
        busy = host.unsent > 0 or host.full(besides=host.learning)
        wait = max(host.next - now if host.delay else 0.0, _SOON if host.delay and busy else 0.0)
        if self.addresses is not None and ip:
            host.address = address = self.addresses.at(ip)
            wait = max(wait, address.next - now, 0.0 if address.open() else _SOON)
        return wait

    def take_turn(self, name: str) -> int:
        """Use a turn of a host; its key, for `sent` and `end_turn`."""
        host = self.host(name)
        self._side_key += 1
        self._occupy(self._side_key, host)
        self._place(host)
        return self._side_key

    def end_turn(self, key: int, name: str, now: float, ended: Callable[[HostQueue], str | None]) -> None:
        """A request outside the queue is over; `ended` as for `close`."""
        self._over(key, self.host(name), now, ended)

    # --- addresses ----------------------------------------------------------------------------------------------

    def locate(self, lease: Lease, ip: str, now: float) -> bool:
        """A host that is about to be asked is at this address: whether it may be asked there now."""
        if self.addresses is None:
            return True
        self._now = max(self._now, now)
        address = self.host(lease.host).address = self.addresses.at(ip)
        held = self._slots.get(lease.id)
        if held is address:
            return True
        if held is not None:
            del self._slots[lease.id]
            held.in_flight -= 1
            held.unsent -= 1
            self._wake(held)
        if not address.free(self._now):
            return False
        address.take()
        self._slots[lease.id] = address
        return True

    def _address_free(self, host: HostQueue) -> bool:
        if self.addresses is not None and host.address is None and (ip := self.addresses.known(host.name)):
            host.address = self.addresses.at(ip)
        return host.address is None or host.address.free(self._now)

    def _wake(self, address: IpAddress) -> None:
        """Let the best host that waits for an address stand in the queue again, once the address may be asked."""
        if address.free(self._now):
            while address.parked:
                _, _, ticket, host = heappop(address.parked)
                if host.ticket == ticket and self._place(host):
                    break
            self._set_alarm(address, self._now + _LOOK_AGAIN)
        elif address.open():
            self._set_alarm(address, address.next)

    def _set_alarm(self, address: IpAddress, due: float) -> None:
        if address.parked and (due < address.alarm or address.alarm <= self._now):  # else one is set that is earlier
            address.alarm = due
            self._tickets += 1
            heappush(self._alarms, (due, self._tickets, address))

    # --- what waits for time ------------------------------------------------------------------------------------

    def next_due(self) -> float | None:
        """When the next host may be asked by the clock, if some must still wait; None where nothing waits for time."""
        due = self.first_due()
        return due if due is None or self.lines is None else self.lines.by_clock(due)

    def first_due(self) -> float | None:
        """The same by the time that the frontier goes by."""
        while self._waiting and self._waiting[0][3].ticket != self._waiting[0][2]:
            heappop(self._waiting)
        while self._alarms and not self._alarms[0][2].parked:
            heappop(self._alarms)
        heads = [heap[0][0] for heap in (self._waiting, self._alarms) if heap]
        return min(heads, default=None)

    def in_turn(self, floor: float) -> bool:
        """Whether a URL of at least this priority waits for its host's delay alone, not for a host in trouble."""
        waiting = [(due, host) for due, _, ticket, host in self._waiting if host.ticket == ticket and host.heap]
        parked = {address: None for _, _, address in self._alarms}
        waiting += [(self._now, host) for at in parked for _, _, ticket, host in at.parked if host.ticket == ticket]
        return any(
            -host.heap[0][0] >= floor and not host.strikes and due - self._now <= ceil(host.delay)
            for due, host in waiting
            if host.heap
        )

    def next_host(self) -> str:
        """The host that may be asked then; "" where nothing waits for time."""
        due = self.first_due()
        if due is None:
            return ""
        first = self._waiting[0] if self._waiting and self._waiting[0][0] == due else self._alarms[0][2].parked[0]
        return first[3].name

    def stuck(self) -> bool:
        """Whether nothing is left but what belongs to hosts in trouble."""
        if self._hope is None or not _in_order(self._hope):
            self._hope = next(filter(_in_order, self.hosts.values()), None)
        return self._hope is None

    def count_above(self, priority: float) -> int:
        """How many hot URLs wait with at least this priority; walks through them all."""
        if self._within is None:
            return sum(value >= priority for value in self._live.values())
        return sum(-key >= priority for host in self._inside for key, _, _ in self._hot(host))

    # --- how --------------------------------------------------------------------------------------------------

    def _number(self) -> int:
        self._next_n += 1
        return self._next_n - 1

    def host(self, name: str) -> HostQueue:
        """A host; one never heard of is made."""
        host = self.hosts.get(name)
        if host is None:
            domain = self.domains.setdefault(self._domain_of(name), Domain())
            host = self.hosts[name] = HostQueue(name, domain, self.manners, self._now)
            if self._within is not None:
                host.outside = not self._within(name)
                if not host.outside:
                    self._inside.add(host)
        return host

    def _enter(self, host: HostQueue, priority: float, n: int, id: int) -> None:
        """Put a hot URL into its host's heap; the host is placed anew if this is now its best."""
        entry = (-priority, n, id)
        best = host.heap[0] if host.heap else None
        self._live[id] = priority
        heappush(host.heap, entry)
        if best is None or entry < best:
            self._place(host)

    def _hot(self, host: HostQueue) -> Iterable[Entry]:
        """The entries of a host that are not stale, each once: what went up and came back stands in its heap twice."""
        live = self._live.get
        return {entry[2]: entry for entry in host.heap if live(entry[2]) == -entry[0]}.values()

    def _best(self, host: HostQueue) -> Entry | None:
        """The best entry of a host, after stale ones have been dropped and cold ones fetched if need be."""
        heap = host.heap
        while heap and self._live.get(heap[0][2]) != -heap[0][0]:
            heappop(heap)
        if not heap and host.cold_best is not None:
            for priority, n, id in self.ledger.warm(host.name, self._allowance()):
                heap.append((-priority, n, id))
                self._live[id] = priority
            heapify(heap)
            host.cold_best = self.ledger.cold_best(host.name)
        return heap[0] if heap else None

    def _place(self, host: HostQueue) -> bool:
        """Let the host stand where it belongs now; earlier entries of it become stale. Whether it may be asked now."""
        self._tickets += 1
        host.ticket = self._tickets
        if self._is_open(host):
            self._open.add(host)
        else:
            self._open.discard(host)
        if host.outside or not self._free(host) or (best := self._best(host)) is None:
            return False
        if host.next > self._now:
            heappush(self._waiting, (host.next, self._tickets, self._tickets, host))
        elif self._rests(host):
            return False  # `_resting` has it
        elif self._domain_full(host):
            host.domain.parked += (host,)
        elif not self._address_free(host):
            assert host.address is not None
            self._park(host.address, host, best)
        else:
            heappush(self._ready, (best[0], best[1], self._tickets, host))
            return True
        return False

    def _park(self, address: IpAddress, host: HostQueue, best: Entry) -> None:
        """Let the host wait for its address."""
        heappush(address.parked, (best[0], best[1], host.ticket, host))
        if address.open():
            self._set_alarm(address, address.next)

    def _is_open(self, host: HostQueue) -> bool:
        """Whether a host has URLs that are not demoted; entries that went stale may say so a while longer."""
        if host.outside:
            return False
        hot = bool(host.heap) and host.heap[0][0] <= 0
        return hot or (host.cold_best is not None and host.cold_best >= 0)

    def _pick(self) -> HostQueue | None:
        """The host whose best URL is the best of all that may be asked now."""
        while self._waiting and self._waiting[0][0] <= self._now:
            _, _, ticket, host = heappop(self._waiting)
            if host.ticket == ticket:
                self._place(host)
        while self._alarms and self._alarms[0][0] <= self._now:
            self._wake(heappop(self._alarms)[2])
        while self._resting and self._resting[0][0] <= self._picks - self.spread:
            number, host = self._resting.popleft()
            if host.picked == number:
                self._place(host)
        while self._ready:
            priority, n, ticket, host = heappop(self._ready)
            if host.ticket != ticket:
                continue
            best = self._best(host)
            able = self._free(host) and not self._domain_full(host) and self._address_free(host)
            if best and best[:2] == (priority, n) and able:
                return host
            self._place(host)
        return self._least_resting()

    def _take(self, host: HostQueue) -> int:
        _, _, id = heappop(host.heap)
        del self._live[id]
        self._occupy(id, host)
        host.domain.in_flight += 1
        self._picks += 1
        host.picked = self._picks
        if self.spread:
            self._resting.append((self._picks, host))
        self._place(host)
        return id

    def _occupy(self, key: int, host: HostQueue) -> None:
        """A request to a host is picked: it takes its places. In a crawl in order, lines know when it leaves."""
        host.asked()
        if self.lines is not None:
            host.left(self._now)
            return
        self._unsent.add(key)
        if host.address is not None:
            host.address.take()
            self._slots[key] = host.address

    def _rests(self, host: HostQueue) -> bool:
        """Whether the host was picked so lately that others come first (P5)."""
        return bool(self.spread) and host.picked > self._picks - self.spread

    def _least_resting(self) -> HostQueue | None:
        """Where only resting hosts may be asked, the best of those after all."""
        able = [
            host
            for host in dict.fromkeys(host for _, host in self._resting)
            if self._free(host)
            and host.next <= self._now
            and not self._domain_full(host)
            and self._address_free(host)
            and self._best(host)
        ]
        return min(able, key=lambda host: host.heap[0], default=None)

    def _free(self, host: HostQueue) -> bool:
        """Whether another request to the host may be under way; never more than pages of it that may still come."""
        return host.free() and (not host.in_flight or self._left is None or host.in_flight < self._left(host.name))

    def _domain_full(self, host: HostQueue) -> bool:
        return 0 < self.manners.per_domain <= host.domain.in_flight

    def _allowance(self) -> int:
        """How many URLs a host may keep hot when memory is short."""
        return max(1, self.hot // (2 * max(1, len(self.hosts))))

    def _spill(self) -> None:
        """Send the worse URLs of hosts with many to the ledger, down to half of what memory may hold."""
        allowance = self._allowance()
        for host in self.hosts.values():
            if len(host.heap) <= allowance:
                continue
            heap = sorted(self._hot(host))
            host.heap, cold = heap[:allowance], heap[allowance:]
            for entry in cold:
                self._live.pop(entry[2], None)
            self.ledger.spill((-entry[0], entry[2]) for entry in cold)
            if cold:
                host.cold_best = max(-cold[0][0], -NEVER if host.cold_best is None else host.cold_best)

    def _cut(self) -> None:
        """Cut topics whose queue has outgrown the cap: the best stay."""
        for topic, count in list(self._queued.items()):
            if count > self.cap * _SLACK:
                ids = self.ledger.worst(topic, count - self.cap)
                self._settle(ids, UrlState.REFUSED, "queue-full")

    def _settle(self, ids: Sequence[int], state: UrlState, reason: str, detail: str = "") -> None:
        """Settle queued URLs that will not be asked for."""
        for id in ids:
            self._live.pop(id, None)
        for topic, count in self.ledger.settle_queued(ids, state, reason, detail).items():
            self._queued[topic] -= count
            self.settled[state, reason] += count

    def _sweep(self) -> None:
        """Forget hosts about which there is nothing to remember, and domains and addresses with their last host."""
        for name, host in list(self.hosts.items()):
            idle = not host.in_flight and not host.heap and host.cold_best is None and not self._rests(host)
            if idle and not host.bad and not host.in_trouble and not host.claims and host.next <= self._now:
                del self.hosts[name]
                self._inside.discard(host)
                self._open.discard(host)
        used = {host.domain for host in self.hosts.values()}
        self.domains = {name: domain for name, domain in self.domains.items() if domain in used}
        if self.addresses is not None:
            self.addresses.keep_only({host.address for host in self.hosts.values()})
        self._sweep_at = max(10_000, 2 * len(self.hosts))


def _in_order(host: HostQueue) -> bool:
    """Whether a host has something to ask for, and the last time it answered."""
    has = host.in_flight or host.heap or host.cold_best is not None
    return bool(has) and not (host.in_trouble or host.bad or host.outside)
