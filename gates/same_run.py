"""Versions of Analecta that run beside each other, the webs they crawl, and how their outputs are compared."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecordType

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ANALECTA_DATA", ROOT.parent / "shared" / "data")) / "debdocs.warc.gz"

# What is shown says when it was made: time stands still while outputs are compared, and chance is the same.
_STILL = """
import datetime, itertools, time, uuid

try:
    import tantivy  # it asks for the real classes, at its import alone
except ImportError:
    pass

_NOW, _numbers = 1_900_000_000.0, itertools.count(1)
time.time = lambda: _NOW
time.time_ns = lambda: int(_NOW * 1e9)
uuid.uuid4 = lambda: uuid.UUID(int=next(_numbers), version=4)


class _Type(type(datetime.datetime)):
    def __instancecheck__(cls, value):
        return isinstance(value, _Real)


_Real = datetime.datetime


class datetime_(_Real, metaclass=_Type):
    def __new__(cls, *values, **named):
        return _Real(*values, **named)

    @classmethod
    def now(cls, tz=None):
        return _Real.fromtimestamp(_NOW, tz)

    @classmethod
    def utcnow(cls):
        return _Real.utcfromtimestamp(_NOW)


datetime.datetime = datetime_
"""


class Result(NamedTuple):
    """What came of a command."""

    code: int
    output: bytes
    errors: str
    cpu: float  # seconds, with all child processes

    def problem(self) -> str:
        """What went wrong, in words; "" where nothing did."""
        return "" if self.code == 0 else f"exit code {self.code}: {self.errors[-300:] or self.output[-300:]!r}"


class Version(NamedTuple):
    """The code of one version."""

    name: str
    tree: Path

    def start(self, *arguments: object, still: bool = False, cwd: Path | None = None) -> subprocess.Popen[bytes]:
        """A command under way; with `still` time does not pass for it."""
        paths = [str(self.tree)]
        if still:
            paths.insert(0, _still_folder())
        env = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "100", "PYTHONHASHSEED": "0", "TZ": "UTC"}
        env["PYTHONSAFEPATH"] = "1"  # else the code of the folder that this is run in would come first
        command = [sys.executable, "-m", "analecta", *map(str, arguments)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=env, cwd=cwd)

    def run(self, *arguments: object, check: bool = True, still: bool = False, cwd: Path | None = None) -> Result:
        """A command and what came of it."""
        before = os.times()
        process = self.start(*arguments, still=still, cwd=cwd)
        output, errors = process.communicate()
        after = os.times()
        if check and process.returncode:
            raise subprocess.CalledProcessError(process.returncode, process.args, output, errors.decode())
        cpu = sum(after[2:4]) - sum(before[2:4])
        return Result(process.returncode, output, errors.decode(errors="replace"), cpu)

    def json(self, *arguments: object) -> Any:
        """What a command prints with --json."""
        return json.loads(self.run(*arguments, "--json").output)


_still: tempfile.TemporaryDirectory[str] | None = None


def _still_folder() -> str:
    """A folder whose sitecustomize stops the clock of each Python that has it on its path."""
    global _still
    if _still is None:
        _still = tempfile.TemporaryDirectory(prefix="same-still-")
        (Path(_still.name) / "sitecustomize.py").write_text(_STILL)
    return _still.name


@contextlib.contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """The files of a commit, in a worktree that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="same-tree-") as folder:
        git = ["git", "-C", str(ROOT), "worktree"]
        tree = Path(folder) / "tree"
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


class Web(NamedTuple):
    """A web that `analecta replay` serves, with pages to begin at by topic."""

    name: str
    address: str
    seeds: Mapping[str, Sequence[str]]


@contextlib.contextmanager
def served(version: Version, name: str, size: int, folder: Path) -> Iterator[Web]:
    """A web while the block lasts. The pocket web is served as a crawl has archived it.

    Some of its hosts answer each n-th request badly: no two crawls would see the same web.
    """
    if name == "debdocs":
        with _replayed(version, DATA) as address:
            yield Web(name, address, _debdocs_seeds())
        return
    with _replayed(version, f"{name}:{size}") as address:
        seeds = _listed(address)
        if name != "pocket":
            yield Web(name, address, seeds)
            return
        copy = folder / f"web-{name}-{size}"
        if not copy.exists():
            _archive(version, copy, address, seeds, size)
    with _replayed(version, copy / "archive") as address:
        yield Web(name, address, seeds)


@contextlib.contextmanager
def _replayed(version: Version, what: object) -> Iterator[str]:
    process = version.start("replay", what, "--port", "0")
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        found = re.search(r"127\.0\.0\.1:\d+", line)
        if found is None:
            raise SystemExit(f"{what} is not served: {line}")
        yield found[0]
    finally:
        process.kill()
        process.communicate()


def _archive(version: Version, copy: Path, address: str, seeds: Mapping[str, Sequence[str]], pages: int) -> None:
    """Crawl nearly all of a web."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    listed = copy.with_suffix(".txt")
    listed.write_text("\n".join(url for urls in seeds.values() for url in urls))
    version.run("new", copy, "--seeds", listed, "--recipe", "breadth-first")
    version.run("crawl", copy, "--connect-to", address, "--delay", 0, "--pages", pages)


def _listed(address: str) -> dict[str, list[str]]:
    """By topic, from the list of its pages that a made-up web gives."""
    with urllib.request.urlopen(f"http://{address}/") as answer:
        rows = [line.split("\t") for line in answer.read().decode().splitlines()]
    found: dict[str, list[str]] = {}
    for url, topic, *_ in rows:
        found.setdefault(topic, []).append(url)
    return found


def _debdocs_seeds() -> dict[str, list[str]]:
    """The page with the shortest address of each host (not all have a front page), by the host's coarse topic."""
    shortest: dict[str, str] = {}
    with DATA.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=False):
            url = record.headers["WARC-Target-URI"]
            host = url.split("/")[2]
            shortest[host] = min(shortest.get(host, url), url, key=lambda one: (len(one), one))
    found: dict[str, list[str]] = {}
    for line in (DATA.parent / "debdocs.hosts.tsv").read_text().splitlines():
        host, topic, *_ = line.split("\t")
        if host in shortest:
            found.setdefault(topic, []).append(shortest[host].replace("https://", "http://", 1))
    return found


# --- comparing -------------------------------------------------------------------------------------------------------


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Where two collections of outputs differ, by name; files of archives are compared one by one."""
    for name in sorted(old.keys() | new.keys()):
        if name not in new or name not in old:
            yield f"{name}: only the {'old' if name in old else 'new'} version has it"
        elif old[name] != new[name]:
            yield f"{name}: {_first_difference(name, old[name], new[name])}"


def _first_difference(name: str, old: Any, new: Any) -> str:
    if isinstance(old, bytes) and isinstance(new, bytes):
        if name.endswith((".html", ".htm")) and dom(old) == dom(new):
            return "other bytes, the same DOM"
        old, new = old.split(b"\n"), new.split(b"\n")
    if isinstance(old, list) and isinstance(new, list):
        for i, (before, after) in enumerate(zip(old, new, strict=False)):
            if before != after:
                return f"line {i}: {_around(before, after)}"
        return f"{len(old)} and {len(new)} lines"
    return _around(old, new)


def _around(old: Any, new: Any) -> str:
    """Both, from a little before the place where they begin to differ."""
    before, after = repr(old), repr(new)
    place = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    start = max(0, place - 60)
    return f"{before[start : place + 120]} -> {after[start : place + 120]}"


class _Dom(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.events: list[Any] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.events.append((tag, sorted(attrs, key=str)))

    def handle_endtag(self, tag: str) -> None:
        self.events.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        if text := " ".join(data.split()):
            self.events.append(text)


def dom(html: bytes) -> list[Any]:
    """Names, attributes and texts of a page."""
    parser = _Dom()
    parser.feed(html.decode(errors="replace"))
    return parser.events


def unpacked(name: str, raw: bytes) -> dict[str, bytes]:
    """The files of an archive by their names; of anything else, itself."""
    if not zipfile.is_zipfile(io.BytesIO(raw)):
        return {name: raw}
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {f"{name}!{one}": archive.read(one) for one in archive.namelist()}
