"""What a soak run must hold, from the server's log and from samples of the processes."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from processes import Usage
from soak_hosts import HONEST, TRAPS, Host, articles_of, is_trap
from soak_web import Request

# `end` is read before the last bytes leave and `arrival` after a request came, so that a gap after an answer is never
# measured too short; a millisecond is for rounding. That a client left, or that the first of two requests under way
# arrived, may be read late: by `slack`, and by the time until the kernel lets the server run.
AFTER_END, AFTER_ARRIVAL, AFTER_LEAVING = 0.001, 0.005, 0.05


class Line(NamedTuple):
    """A line of the result. One without a limit only tells; one that is a rate is not asserted in the short form."""

    name: str
    value: float | str
    limit: str
    holds: bool
    rate: bool = False


class Sample(NamedTuple):
    """How things stood at a moment."""

    at: float
    usage: Usage
    urls: int


def by_host(requests: Iterable[Request]) -> dict[str, list[Request]]:
    """The requests to each host, in the order in which they came."""
    found: dict[str, list[Request]] = defaultdict(list)
    for request in requests:
        found[request.host].append(request)
    return found


def share(requests: Sequence[Request], delay: float, until: float) -> float:
    """How much of what is allowed a host got: one request per response time + delay since its first request."""
    used = sum(min(request.end, until) - request.arrival + delay for request in requests if request.arrival < until)
    return used / max(until - requests[0].arrival, 1e-9)


def early(requests: Mapping[str, Sequence[Request]], delays: Mapping[str, float], base: float) -> tuple[list[str], int]:
    """Requests that came too soon after the end of an answer, told in words; and after another one's arrival."""
    after_end, after_arrival = [], 0
    for host, asked in requests.items():
        for i, request in enumerate(asked[1:], 1):
            # Its robots.txt, which comes first, tells of a longer delay.
            delay = delays.get(host, base) if i > 1 else base
            ended = [other for other in asked[max(0, i - 8) : i] if other.end <= request.arrival]
            last = max(ended, key=lambda other: other.end, default=None)
            if last and request.arrival - last.end < delay - (AFTER_LEAVING if last.how == "gone" else AFTER_END):
                after_end.append(f"{host}{request.path} {1000 * (request.arrival - last.end):.0f} ms after {last.path}")
            elif request.arrival - asked[i - 1].arrival < delay - AFTER_ARRIVAL - asked[i - 1].slack:
                after_arrival += 1
    return after_end, after_arrival


def repeats(requests: Iterable[Request], within: float = 1.0) -> list[str]:
    """URLs that were asked for again within a second."""
    last: dict[str, float] = {}
    found = []
    for request in requests:
        url = request.host + request.path
        if request.arrival - last.get(url, -1e9) < within:
            found.append(f"{url} after {1000 * (request.arrival - last[url]):.0f} ms")
        last[url] = request.arrival
    return found


def traffic(
    requests: Sequence[Request], hosts: Mapping[str, Host], seed: int, base: float, until: float
) -> Iterator[Line]:
    """What the log says: fair shares, manners, and where the requests went."""
    asked = by_host(requests)
    honest = [host for host in hosts.values() if host.kind == HONEST]
    shares = {host.name: share(asked[host.name], host.delay, until) for host in honest if host.name in asked}
    low = sorted(name for name, value in shares.items() if value < 0.9)
    yield Line("requests", len(requests), "", True)
    yield Line("honest hosts asked", len(shares), f"= {len(honest)}", len(shares) == len(honest))
    yield Line("lowest share of an honest host", min(shares.values(), default=0.0), ">= 0.9", not low, rate=True)
    yield Line("median share", statistics.median(shares.values() or [0.0]), "", True, rate=True)
    yield Line("honest hosts below 0.9", len(low), "= 0", not low, rate=True)
    soon, close = early(asked, {host.name: host.delay for host in hosts.values()}, base)
    yield Line("early requests, after an answer", some(soon), "= 0", not soon)
    yield Line("early requests, after another", close, "= 0", not close, rate=True)
    again = repeats(requests)
    yield Line("same URL within a second", some(again), "= 0", not again)
    kinds = Counter(_class(request, hosts) for request in requests)
    total = max(len(requests), 1)
    yield Line("share of traps", kinds["trap"] / total, "<= 0.05", kinds["trap"] <= 0.05 * total)
    yield Line("share of mirrors", kinds["mirror"] / total, "", True)
    yield from _left_behind(asked, hosts, seed, until)


def _left_behind(
    asked: Mapping[str, Sequence[Request]], hosts: Mapping[str, Host], seed: int, until: float
) -> Iterator[Line]:
    """Whether hosts with traps, with flaws or with a robots.txt elsewhere were given up."""
    began = min((requests[0].arrival for requests in asked.values()), default=0.0)
    late = until - (until - began) / 4
    flaky = [host.name for host in hosts.values() if host.kind == "flaky"]
    silent = [name for name in flaky if not any(r.arrival > late for r in asked.get(name, ()))]
    yield Line("flaky hosts silent in the last quarter", len(silent), "= 0", not silent, rate=True)
    away = [host.name for host in hosts.values() if host.kind == "robots-away"]
    lost = [name for name in away if not any(r.path != "/robots.txt" for r in asked.get(name, ()))]
    yield Line("hosts lost whose robots.txt is elsewhere", len(lost), "= 0", not lost, rate=True)
    pages = []
    for host in hosts.values():
        if host.kind in TRAPS:
            known = articles_of(seed, host)
            pages.append(len({r.path for r in asked.get(host.name, ()) if known.find(r.path) is not None}))
    # At one request a second 40 articles take 40 s; a short run may not come so far.
    fewest = min(pages, default=0)
    yield Line("fewest of 40 articles, hosts with traps", fewest, ">= 30", fewest >= 30, rate=True)


def _class(request: Request, hosts: Mapping[str, Host]) -> str:
    host = hosts.get(request.host)
    if host is None or request.path == "/robots.txt":
        return "robots"
    return "trap" if is_trap(host.kind, request.path) else host.kind


def resources(samples: Sequence[Sample], room: float) -> Iterator[Line]:
    """Memory and open files; `room` is added, in MB, to what memory may grow in the second half."""
    most = max(sample.usage.rss for sample in samples) / 1e6
    yield Line("memory of all processes, most (MB)", most, "<= 900", most <= 900)
    yield Line("largest process, most (MB)", max(sample.usage.largest for sample in samples) / 1e6, "", True)
    half, end = _around(samples, 0.5), _around(samples, 0.95)
    urls = end[0].urls - half[0].urls
    grown = (_median(end, "rss") - _median(half, "rss")) / 1e6
    allowed = 20 + room + 40 * urls / 1e6
    yield Line("URLs known", end[-1].urls, "", True)
    yield Line("memory grown in the second half (MB)", grown, f"<= {allowed:.1f}", grown <= allowed)
    before, after = _median(half, "files"), _median(end, "files")
    flat = after <= 1.2 * before + 16
    yield Line("open files, at half time and at the end", f"{before:.0f}, {after:.0f}", "flat", flat, rate=True)


def _around(samples: Sequence[Sample], place: float) -> Sequence[Sample]:
    """A tenth of the samples, around a place in time."""
    low, high = int(len(samples) * (place - 0.05)), int(len(samples) * (place + 0.05))
    return samples[low : max(high, low + 1)]


def _median(samples: Sequence[Sample], what: str) -> float:
    return float(statistics.median(getattr(sample.usage, what) for sample in samples))


def some(found: Sequence[str]) -> str:
    """How many, and the first of them."""
    return f"{len(found)} ({found[0]})" if found else "0"
