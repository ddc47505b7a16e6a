"""The frontier: gives out the best URL whose host may be asked now.

Each host has a heap of its queued URLs. A host that may be asked stands in `_ready` under the priority of its
best URL; one that must wait stands in `_waiting` under the time it may be asked again; one with all its requests
under way stands nowhere until one ends. Entries go stale rather than being searched for: a host's `ticket` says
which entry is the true one.

Memory is bounded: a host keeps only its best URLs hot, the others are cold rows of the ledger (SQLite), and every
hot URL of a host is at least as good as every cold one, so that the order is exact all the same.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import ceil

import numpy as np

from analecta.frontier.hosts import Domain, Entry, Host
from analecta.frontier.ledger import Ledger, Row
from analecta.frontier.lines import Lines
from analecta.frontier.politeness import Manners
from analecta.frontier.sieve import Sieve
from analecta.model import Candidate, Lease, State, Target

NEVER = float("inf")
_SLACK = 1.1  # a queue may outgrow its cap by a tenth before it is cut back: cutting scans the table


class Frontier:
    """Every URL once; `push` what was found, `pop` what to fetch, `close` what was fetched."""

    def __init__(
        self,
        ledger: Ledger,
        manners: Manners,
        *,
        now: float = 0.0,
        next_n: int = 1,
        hot: int = 50_000,
        cap: int = 0,
        spread: int = 0,
        domain_of: Callable[[str], str] = str,
        within: Callable[[str], bool] | None = None,
        left: Callable[[str], int] | None = None,
    ) -> None:
        """`cap` bounds the queue of each topic (0: no bound); `spread`: so many picks from other hosts come between.

        Only hosts that are `within` are asked, if that is said; what is queued for others waits. `left` tells how many
        pages of a host may still be kept, where that is bounded.
        """
        self.ledger = ledger
        self.manners = manners
        self.hot = hot
        self.cap = cap
        self.spread = spread
        self.sieve = Sieve()
        self._shunned = Sieve()  # URLs that were only ever met where they are not to be followed
        self.hosts: dict[str, Host] = {}
        self.floor = -NEVER  # nothing below it is given out
        self.silent: set[str] = set()  # hosts that had answered before and do not now
        self.settled: Counter[tuple[State, str]] = Counter()  # URLs that were settled unasked, and why
        self.lines: Lines | None = None  # in a crawl in order: all times here are counted ones
        self._domains: dict[str, Domain] = {}
        self._domain_of = domain_of
        self._within = within
        self._left = left
        self._inside: set[Host] = set()  # hosts that are within, where only those are asked
        self._now = now
        self._next_n = next_n
        self._live: dict[int, float] = {}  # hot URLs: id -> priority; heap entries that disagree are stale
        self._queued: Counter[int] = Counter()  # by topic, hot and cold
        self._ready: list[tuple[float, int, int, Host]] = []
        self._waiting: list[tuple[float, int, int, Host]] = []
        self._resting: deque[tuple[int, Host]] = deque()  # with the number of the pick
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
        rows: list[Row] = []
        for candidate in candidates:
            n = self._number()
            host = self._host(candidate.target.host)
            if host.bad:
                state, reason = host.fate
                rows.append((n, candidate, state, False, reason))
                self.settled[host.fate] += 1
                continue
            self._queued[candidate.topic] += 1
            cold = host.cold_best is not None and candidate.priority <= host.cold_best
            rows.append((n, candidate, State.QUEUED, cold, ""))
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
        self.ledger.add([(self._number(), c, State.REFUSED, False, reason) for c, reason in candidates])

    def raise_priority(self, targets: Iterable[Target], priority: float) -> None:
        """Give hot queued URLs a better priority where it is better: a better page links to them now."""
        better = {t.id: t.host for t in targets if self._live.get(t.id, NEVER) < priority}
        for id, n in self.ledger.reprioritise(better, priority):
            self._enter(self._host(better[id]), priority, n, id)

    def rescore(self, worth: Mapping[int, float], most: float = 1.0) -> None:
        """Give hot queued URLs new priorities: those of at most `most`, seeds and probes keep theirs.

        The ledger is not told (it would cost more than all else): it learns a priority when a URL is leased or spilt.
        """
        live = self._live
        for host in self.hosts.values():
            if not host.heap:
                continue
            heap = [(-worth.get(id, -key) if -key <= most else key, n, id) for key, n, id in self._hot(host)]
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
        host = self._host(lease.host)
        self.ledger.settle(lease.id, State.QUEUED, reason, detail, tries=lease.tries if asked else lease.tries - 1)
        self._queued[lease.topic] += 1
        if host.bad:
            self.give_up(lease.host, *host.fate, host.bad, also=[lease.id])
        elif host.cold_best is not None and lease.priority < host.cold_best:
            self.ledger.spill([(lease.priority, lease.id)])
        else:
            self._enter(host, lease.priority, lease.n, lease.id)

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
            self._host(name).cold_best = best
        for priority, n, id, name in hot:
            self._host(name).heap.append((-priority, n, id))
            self._live[id] = priority
        for name, delay, wait in patience:
            host = self._host(name)
            host.delay = max(host.delay, delay)
            host.next = max(host.next, self._now + wait)
        for host in self.hosts.values():
            host.next = max(host.next, self._now + host.delay)
            heapify(host.heap)
            self._place(host)

    def count_time(self, lines: Lines) -> None:
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

    def close(self, lease: Lease, now: float, ended: Callable[[Host], None]) -> None:
        """A fetch is over; `ended` tells the host's manners how (answered, pressed, failed or dropped)."""
        self._now = max(self._now, now)
        host = self._host(lease.host)
        ended(host)
        self.silent.discard(host.name)
        if host.known and host.strikes:
            self.silent.add(host.name)
        domain = host.domain
        domain.flying -= 1
        parked, domain.parked = domain.parked, None
        for other in parked or ():
            self._place(other)
        self._place(host)
        if host.bad:
            self.give_up(host.name, *host.fate, host.bad)

    def give_up(self, name: str, state: State, reason: str, detail: str = "", also: Sequence[int] = ()) -> None:
        """Settle all that is queued for a host, and take nothing more for it in this run."""
        host = self._host(name)
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
        host = self._host(name)
        host.held = True
        self._place(host)

    def slow_down(self, name: str, delay: float) -> None:
        """Honour a Crawl-delay as a minimum."""
        host = self._host(name)
        if delay > host.delay:
            host.delay = delay
            host.next = max(host.next, self._now + delay)
            self._place(host)

    def forget_delay(self, name: str) -> None:
        """Its robots.txt asks for no Crawl-delay any more."""
        self._host(name).delay = self.manners.delay

    def wait(self, name: str) -> float:
        """Seconds for which a host must still be left alone."""
        host = self.hosts.get(name)
        return max(0.0, host.next - self._now) if host else 0.0

    def reserve(self, name: str, now: float, longest: float = 5.0) -> float | None:
        """Take a turn of a host outside the queue, for robots.txt and where it leads: seconds to wait for it.

        None where it would take `longest` more than the host's delay: no turn is taken then.
        """
        host = self._host(name)
        if host.turn_given or not host.delay:
            host.turn_given = False
            return 0.0
        if self.lines is not None:
            return self.lines.reserve(name, host.delay)
        wait = max(0.0, host.next - now)
        if wait > host.delay + longest:
            return None
        host.next = now + wait + host.delay
        self._place(host)
        return wait

    def next_due(self) -> float | None:
        """When the next host may be asked by the clock, if some must still wait; None where nothing waits for time."""
        due = self.first_due()
        return due if due is None or self.lines is None else self.lines.by_clock(due)

    def first_due(self) -> float | None:
        """The same by the time that the frontier goes by."""
        while self._waiting and self._waiting[0][3].ticket != self._waiting[0][2]:
            heappop(self._waiting)
        return self._waiting[0][0] if self._waiting else None

    def in_turn(self, floor: float) -> bool:
        """Whether a URL of at least this priority waits for its host's delay alone, not for a host in trouble."""
        waiting = [(due, host) for due, _, ticket, host in self._waiting if host.ticket == ticket and host.heap]
        return any(
            -host.heap[0][0] >= floor and not host.strikes and due - self._now <= ceil(host.delay)
            for due, host in waiting
        )

    def next_host(self) -> str:
        """The host that may be asked then; "" where nothing waits for time."""
        return "" if self.first_due() is None else self._waiting[0][3].name

    def count_above(self, priority: float) -> int:
        """How many hot URLs wait with at least this priority; walks through them all."""
        if self._within is None:
            return sum(value >= priority for value in self._live.values())
        return sum(-key >= priority for host in self._inside for key, _, _ in self._hot(host))

    # --- how --------------------------------------------------------------------------------------------------

    def _number(self) -> int:
        self._next_n += 1
        return self._next_n - 1

    def _host(self, name: str) -> Host:
        host = self.hosts.get(name)
        if host is None:
            domain = self._domains.setdefault(self._domain_of(name), Domain())
            host = self.hosts[name] = Host(name, domain, self.manners, self._now)
            if self._within is not None:
                host.outside = not self._within(name)
                if not host.outside:
                    self._inside.add(host)
        return host

    def _enter(self, host: Host, priority: float, n: int, id: int) -> None:
        """Put a hot URL into its host's heap; the host is placed anew if this is now its best."""
        entry = (-priority, n, id)
        best = host.heap[0] if host.heap else None
        self._live[id] = priority
        heappush(host.heap, entry)
        if best is None or entry < best:
            self._place(host)

    def _hot(self, host: Host) -> Iterable[Entry]:
        """The entries of a host that are not stale, each once: what went up and came back stands in its heap twice."""
        live = self._live.get
        return {entry[2]: entry for entry in host.heap if live(entry[2]) == -entry[0]}.values()

    def _best(self, host: Host) -> Entry | None:
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

    def _place(self, host: Host) -> None:
        """Let the host stand where it belongs now; earlier entries of it become stale."""
        self._tickets += 1
        host.ticket = self._tickets
        if host.outside or not self._free(host) or (best := self._best(host)) is None:
            return
        if host.next > self._now:
            heappush(self._waiting, (host.next, self._tickets, self._tickets, host))
        elif self._rests(host):
            return  # `_resting` has it
        elif self._domain_full(host):
            host.domain.parked = [*(host.domain.parked or ()), host]
        else:
            heappush(self._ready, (best[0], best[1], self._tickets, host))

    def _pick(self) -> Host | None:
        """The host whose best URL is the best of all that may be asked now."""
        while self._waiting and self._waiting[0][0] <= self._now:
            _, _, ticket, host = heappop(self._waiting)
            if host.ticket == ticket:
                self._place(host)
        while self._resting and self._resting[0][0] <= self._picks - self.spread:
            number, host = self._resting.popleft()
            if host.picked == number:
                self._place(host)
        while self._ready:
            priority, n, ticket, host = heappop(self._ready)
            if host.ticket != ticket:
                continue
            best = self._best(host)
            if best and best[:2] == (priority, n) and self._free(host) and not self._domain_full(host):
                return host
            self._place(host)
        return self._least_resting()

    def _take(self, host: Host) -> int:
        _, _, id = heappop(host.heap)
        del self._live[id]
        host.asked(self._now)
        host.domain.flying += 1
        self._picks += 1
        host.picked = self._picks
        if self.spread:
            self._resting.append((self._picks, host))
        self._place(host)
        return id

    def _rests(self, host: Host) -> bool:
        """Whether the host was picked so lately that others come first (P5)."""
        return bool(self.spread) and host.picked > self._picks - self.spread

    def _least_resting(self) -> Host | None:
        """Where only resting hosts may be asked, the best of those after all."""
        able = [
            host
            for host in dict.fromkeys(host for _, host in self._resting)
            if self._free(host) and host.next <= self._now and not self._domain_full(host) and self._best(host)
        ]
        return min(able, key=lambda host: host.heap[0], default=None)

    def _free(self, host: Host) -> bool:
        """Whether another request to the host may be under way; never more than pages of it that may still come."""
        return host.free() and (not host.flying or self._left is None or host.flying < self._left(host.name))

    def _domain_full(self, host: Host) -> bool:
        return 0 < self.manners.per_domain <= host.domain.flying

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
                host.cold_best = max(-cold[0][0], NEVER * -1 if host.cold_best is None else host.cold_best)

    def _cut(self) -> None:
        """Cut topics whose queue has outgrown the cap: the best stay."""
        for topic, count in list(self._queued.items()):
            if count > self.cap * _SLACK:
                ids = self.ledger.worst(topic, count - self.cap)
                self._settle(ids, State.REFUSED, "queue-full")

    def _settle(self, ids: Sequence[int], state: State, reason: str, detail: str = "") -> None:
        """Settle queued URLs that will not be asked for."""
        for id in ids:
            self._live.pop(id, None)
        for topic, count in self.ledger.settle_queued(ids, state, reason, detail).items():
            self._queued[topic] -= count
            self.settled[state, reason] += count

    def _sweep(self) -> None:
        """Forget hosts about which there is nothing to remember."""
        for name, host in list(self.hosts.items()):
            idle = not host.flying and not host.heap and host.cold_best is None and not self._rests(host)
            if idle and not host.bad and not host.strikes and host.next <= self._now:
                del self.hosts[name]
                self._inside.discard(host)
        self._sweep_at = max(10_000, 2 * len(self.hosts))
