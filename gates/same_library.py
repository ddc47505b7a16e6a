"""Libraries for comparing two versions: how they are made, what is in them, and all that can be read of them."""

import contextlib
import hashlib
import os
import re
import signal
import sqlite3
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gates.same_run import Version, Web, served, unpacked

Dump = dict[str, Any]

_URLS = "SELECT url, state, reason, round(priority, 9), parent, depth FROM urls ORDER BY n"
_PAGES = """SELECT u.url, p.topic, round(p.confidence, 9), p.model, p.duplicate_of, p.title, p.words
  FROM pages p JOIN urls u ON u.id = p.id ORDER BY p.seq"""
_SEEDS = 4
_SECONDS = re.compile(rb'(?<="seconds":) ?[\d.]+|(?<=\()[\d.]+(?= s\))')  # in JSON, and as "(0.5 s)"
_OAI = (
    "verb=Identify",
    "verb=ListMetadataFormats",
    "verb=ListSets",
    "verb=ListIdentifiers&metadataPrefix=oai_dc",
    "verb=ListRecords&metadataPrefix=oai_dc",
    "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:nowhere:1",
    "verb=Nothing",
)


def new_library(version: Version, library: Path, web: Web, recipe: str) -> None:
    """A library about up to three topics of a web; one of communities begins at sites."""
    library.parent.mkdir(parents=True, exist_ok=True)
    seeds = library.parent / f"{library.name}-seeds.txt"
    if recipe == "communities":
        urls = [url for some in web.seeds.values() for url in some][::10]
        seeds.write_text("\n".join(urls))
        version.run("new", library, "--seeds", seeds, "--recipe", recipe)
        return
    for n, (topic, urls) in enumerate(list(web.seeds.items())[:3]):
        seeds.write_text("\n".join(urls[:_SEEDS]))
        if n == 0:
            version.run("new", library, "--seeds", seeds, "--topic", topic, "--recipe", recipe)
        else:
            version.run("add", library, "--seeds", seeds, "--topic", topic)


def crawl(version: Version, library: Path, web: Web, pages: int, workers: int = 1, killed: float = 0.0) -> float:
    """Crawl so many pages, in a repeatable order with one worker; or to the end (0), in any. The CPU it took.

    With `killed` it is killed after so many seconds.
    """
    options = ["--connect-to", web.address, "--workers", workers, "--delay", 0, "--json"]
    options += ["--pages", pages] if pages else []
    options += ["--seed", 1] if workers == 1 and pages else []
    if not killed:
        return version.run("crawl", library, *options).cpu
    process = version.start("crawl", library, *options)
    time.sleep(killed)
    for child in _children(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    process.kill()
    process.communicate()
    return 0.0


def _children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            number, parent = stat.parent.name, stat.read_text().rpartition(")")[2].split()[1]
            if int(parent) == pid:
                found += [int(number), *_children(int(number))]
    return found


def dump(library: Path) -> Dump:
    """What a crawl left: URLs and pages in their order, and its models."""
    found: Dump = {"urls": [], "pages": []}
    for shard in sorted(library.glob("shards/p*.db")):
        with contextlib.closing(sqlite3.connect(f"file:{shard}?mode=ro", uri=True)) as db:
            found["urls"] += db.execute(_URLS).fetchall()
            found["pages"] += db.execute(_PAGES).fetchall()
    for model in sorted(library.glob("models/*")):
        found[f"model {model.name}"] = hashlib.sha256(model.read_bytes()).hexdigest()
    return found


# --- reading ---------------------------------------------------------------------------------------------------------


def reading_libraries(version: Version, folder: Path, quick: bool) -> Iterator[Path]:
    """Two libraries: one of two partitions with marks, clusters and a second run; and one of communities."""
    with served(version, "pocket", 200 if quick else 500, folder) as web:
        library = folder / "two"
        new_library(version, library, web, "adaptive")
        crawl(version, library, web, 100 if quick else 250, workers=2)
        urls = [row[0] for row in dump(library)["pages"] if row[1] >= 0]
        version.run("feedback", library, urls[-1], "--good")
        version.run("feedback", library, urls[-2], "--bad")
        version.run("retrain", library)
        crawl(version, library, web, 30, workers=2)
        version.run("analyse", library)
    yield library
    if not quick:
        with served(version, "villages", 150, folder) as web:
            library = folder / "villages"
            new_library(version, library, web, "communities")
            crawl(version, library, web, 0)
        yield library


def read_all(version: Version, place: Path, library: str) -> dict[str, bytes]:
    """The output of every command that shows or writes something, by its name."""
    found: dict[str, bytes] = {}

    def note(name: str, raw: bytes) -> None:
        for part, content in unpacked(name, raw).items():
            found[part] = _SECONDS.sub(b"0", content.replace(str(place).encode(), b"PLACE"))

    rows = dump(place / library)
    shown = [row[0] for row in rows["pages"] if row[1] >= 0][:3]
    waiting = [row[0] for row in rows["urls"] if row[1] == 0][:2]
    refused = [row[0] for row in rows["urls"] if row[2]][:3]
    commands: list[tuple[object, ...]] = [
        ("status",), ("health",), ("communities",), ("sites",), ("topics", "list"), ("feedback", "--list"),
        ("collection", "--top", 10), ("collection", "--examples"), ("analyse",), ("retrain", "--dry-run"), ("verify",),
        ("search", "the"), ("search", "the", "--all", "--sort", "date"), ("search", "the", "--inside"),
        *(("explain", url) for url in [*shown, *waiting, *refused, "http://nowhere.test/"]),
    ]  # fmt: skip
    for command, *rest in commands:
        if command == "topics":
            arguments: tuple[object, ...] = ("topics", *rest, library)
        else:
            arguments = (command, library, *rest)
        for form in ((), ("--json",)):
            name = " ".join(map(str, (command, *rest, *form)))
            done = version.run(*arguments, *form, check=False, still=True, cwd=place)
            note(name, done.output)
            note(f"{name}, errors", done.errors.encode() + f"exit code {done.code}".encode())
    for what, formats in (
        ("pages", "jsonl csv parquet"), ("links", "jsonl csv parquet"), ("refusals", "jsonl csv"),
        ("history", "jsonl csv"), ("collection", "jsonl csv parquet bibtex ris"), ("corpus", "parquet jsonl"),
        ("graph", "gexf graphml"), ("archive", "wacz cdxj"),
    ):  # fmt: skip
        for form in formats.split():
            _export(version, place, library, what, form)
    written = {
        "site": ("publish", library, "-o", "site", "--base-url", "https://site.test/"),
        "map.html": ("map", library, "-o", "map.html"),
        "collection.html": ("collection", library, "-o", "collection.html"),
        "health.html": ("health", library, "-o", "health.html"),
        "sites.gexf": ("communities", library, "-o", "sites.gexf"),
        "bundle.zip": ("bundle", library, "-o", "bundle.zip"),
    }
    for name, arguments in written.items():
        done = version.run(*arguments, check=False, still=True, cwd=place)
        note(f"{name}, said", done.output + done.errors.encode())
    for path in sorted(place.rglob("*")):
        inside = path.relative_to(place)
        if path.is_file() and inside.parts[0] != library:
            note(str(inside), path.read_bytes())
    for question, answer in _oai_answers(version, place, library):
        note(f"oai {question}", answer)
    for arguments in (("--help",), ("recipes",), ("recipes", "--json"), ("recipes", "adaptive")):
        note(" ".join(arguments), version.run(*arguments).output)
    return found


def _export(version: Version, place: Path, library: str, what: str, form: str) -> None:
    folder = place / "exports"
    folder.mkdir(exist_ok=True)
    target = folder / (f"{what}-{form}" if what == "corpus" else f"{what}.{form}")
    done = version.run(
        "export", library, what, "--format", form, "-o", target.relative_to(place), check=False, still=True, cwd=place
    )
    (folder / f"{what}.{form}.said").write_bytes(done.output + done.errors.encode())


def _oai_answers(version: Version, place: Path, library: str) -> Iterator[tuple[str, bytes]]:
    options = ("--port", 0, "--admin-email", "a@b.test", "--json")
    process = version.start("serve-oai", library, *options, still=True, cwd=place)
    try:
        assert process.stdout is not None
        address = _address(process.stdout.readline().decode())
        for question in _OAI:
            with urllib.request.urlopen(f"{address}?{question}") as answer:
                yield question, answer.read().replace(address.encode(), b"ADDRESS")
    finally:
        process.terminate()
        process.communicate()


def _address(line: str) -> str:
    """Where a server says that it listens."""
    found = re.search(r"http://127\.0\.0\.1:\d+[^\"\s]*", line)
    if found is None:
        raise SystemExit(f"no server: {line}")
    return found[0]
