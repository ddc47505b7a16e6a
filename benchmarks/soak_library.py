"""Whether the library that a soak run leaves is whole, and what kills did to it."""

import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from soak_checks import Line, some
from soak_hosts import HONEST, Host
from soak_web import Request

from analecta.model import UrlState

SETTLED = 5.0  # seconds after which an answer must have been recorded
LATE = 1.0  # seconds in which the server may still answer those that were killed


def known_urls(library: Path) -> int:
    """How many URLs the library knows; cheap, and works while a crawl runs."""
    return _total(library, "SELECT max(n) FROM urls")


def page_count(library: Path) -> int:
    """How many pages were recorded, as cheaply."""
    return _total(library, "SELECT max(seq) FROM pages")


def _total(library: Path, query: str) -> int:
    try:
        return sum(count or 0 for (count,) in _rows(library, query))
    except sqlite3.OperationalError:  # it has not got its tables yet
        return 0


def recorded(library: Path) -> Counter[str]:
    """How often each URL was recorded as a page."""
    return Counter(url for (url,) in _rows(library, "SELECT u.url FROM pages p JOIN urls u ON u.id = p.id"))


def _rows(library: Path, query: str) -> Iterator[tuple[Any, ...]]:
    for path in sorted(library.glob("shards/p*.db")):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)) as db:
            yield from db.execute(query).fetchall()


def whole_library(library: Path) -> Iterator[Line]:
    """States, pages, databases and WARC files."""
    states = Counter(state for (state,) in _rows(library, "SELECT state FROM urls"))
    wrong = sum(count for state, count in states.items() if state not in set(UrlState) or state == UrlState.LEASED)
    yield Line("URLs in no state of rest", wrong, "= 0", not wrong)
    urls = Counter(url for (url,) in _rows(library, "SELECT url FROM urls"))
    twice = [url for url, count in urls.items() if count > 1]
    yield Line("URLs in two states", some(twice), "= 0", not twice)
    doubled = [url for url, count in recorded(library).items() if count > 1]
    yield Line("pages recorded twice", some(doubled), "= 0", not doubled)
    missing = list(_rows(library, "SELECT url FROM urls WHERE state = 2 AND id NOT IN (SELECT id FROM pages)"))
    yield Line("done without a page", len(missing), "= 0", not missing)
    checks = [row[0] for row in _rows(library, "PRAGMA integrity_check")]
    yield Line("databases", ", ".join(sorted(set(map(str, checks)))), "ok", set(checks) == {"ok"})
    yield from _warcs(library)
    yield from _verified(library)


def _warcs(library: Path) -> Iterator[Line]:
    scripts, files = Path(sys.executable).parent, sorted(map(str, library.glob("archive/*.warc.gz")))
    commands = ([scripts / "warcio", "check"], [scripts / "fastwarc", "check", "-q"], ["gzip", "-t"])
    runs = [[*command, file] for command in commands for file in files]
    bad = sorted({Path(run[0]).name for run in runs if subprocess.run(run, capture_output=True).returncode})
    yield Line(f"{len(files)} WARC files, bad for", ", ".join(bad) or "none", "none", not bad)


def _verified(library: Path) -> Iterator[Line]:
    """What `analecta verify` says, where there is such a command."""
    command = [sys.executable, "-m", "analecta", "verify"]
    if subprocess.run([*command, "--help"], capture_output=True).returncode == 0:
        done = subprocess.run([*command, str(library)], capture_output=True, text=True)
        words = f"{done.returncode} {(done.stdout + done.stderr).strip()[-300:] if done.returncode else ''}"
        yield Line("analecta verify, exit code", words.strip(), "= 0", done.returncode == 0)


def survival(
    requests: Sequence[Request],
    hosts: Mapping[str, Host],
    library: Path,
    kills: Sequence[float],
    lost: set[str],
    in_flight: int,
    until: float,
) -> Iterator[Line]:
    """After kills: what was recorded stays, what was answered is recorded, and little is asked for again."""
    yield Line("kills", len(kills), "", True)
    yield Line("pages lost that were recorded", some(sorted(lost)), "= 0", not lost)
    served: dict[str, list[Request]] = defaultdict(list)
    for request in requests:
        honest = request.host in hosts and hosts[request.host].kind == HONEST
        if honest and request.path != "/robots.txt" and request.status == 200 and request.how == "kept":
            served[f"http://{request.host}{request.path}"].append(request)
    states = dict(_rows(library, "SELECT url, state FROM urls"))
    known = {UrlState.DONE, UrlState.ALIAS, UrlState.QUEUED}
    gone = [url for url in served if states.get(url) not in known]
    yield Line("pages answered, neither recorded nor queued", some(gone), "= 0", not gone)
    ends = [*kills, until]
    late = [
        url
        for url, asked in served.items()
        if states.get(url) == UrlState.QUEUED and any(_settled(r, ends) for r in asked)
    ]
    yield Line(f"pages answered {SETTLED:g} s before a kill, not recorded", some(late), "= 0", not late, rate=True)
    again = sum(len(asked) - 1 for asked in served.values())
    most = in_flight * len(kills)
    yield Line("honest pages asked for again", again, f"<= {most}", again <= most)
    untold = sum(1 for asked in served.values() for first in asked[:-1] if _settled(first, ends))
    yield Line(f"of these, answered {SETTLED:g} s before a kill", untold, "= 0", untold == 0, rate=True)


def _settled(request: Request, ends: Sequence[float]) -> bool:
    """Whether no kill came soon after an answer; nor just before it, when nobody was left to take it."""
    return not any(-LATE <= end - request.end < SETTLED for end in ends)
