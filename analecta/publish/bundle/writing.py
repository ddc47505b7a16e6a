"""A bundle is written: one zip file, with the same bytes whenever it is made of the same library."""

import hashlib
import json
import platform
import re
import sqlite3
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import msgspec

from analecta.errors import Busy
from analecta.publish.bundle.decisions import decisions, waited
from analecta.publish.bundle.manifest import (
    ARCHIVE,
    DECISIONS,
    FILES,
    FORMAT,
    MANIFEST,
    MODELS,
    README,
    RESOLVED,
    RUNS,
    SETTINGS,
    TOPICS,
    VERSION,
    VERSIONS,
    Entry,
    Manifest,
    Run,
    allowed,
    order_digest,
)
from analecta.publish.whole import whole_file
from analecta.settings import Settings, load
from analecta.store.library import Library

_BLOCK = 1 << 20
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file knows
_ABOUT = """# A crawl, to be repeated

This is what is needed to repeat the crawl of a library made with Analecta {version}, and to check what comes of it:
settings, topics, examples, models, what each run was asked, what became of each URL, and digests of all of it.

    analecta repeat THIS.zip NEW-LIBRARY{archive}

crawls the archived web again, on your machine and without a network, and compares the pages and their order.

| File | |
|---|---|
| `manifest.json` | every file here and every WARC file of the library, with size and SHA-256; the digest of the order |
| `settings/` | `analecta.toml` as it was written, and all settings as they came to be (`resolved.json`) |
| `files/` | files of the library that are examples of its topics |
| `runs.jsonl` | each crawl: what was asked, the settings it had, how it ended |
| `decisions.jsonl` | each URL: state, reason, topic, confidence, and its place in the order of pages |
| `models/`, `models.json` | what the judge had learnt, named by content; numbers only, no code |
| `versions.json` | Analecta, Python, libraries and machine |
| `topics.json` | the topics by number |
| `archive/` | the WARC files, if they are in here |
"""


def write_bundle(library: Library, path: Path, archive: bool = False) -> Manifest:
    """Write all that is needed to repeat what a library holds; with `archive` also the web that it saw."""
    if holder := library.holder():
        raise Busy(f"{library.folder} is in use by {holder}: bundle it when the crawl is over")
    with whole_file(path) as out, zipfile.ZipFile(out, "w") as file:
        return _Writer(file).write(library, archive)


def library_files(library: Library, settings: Settings) -> list[Path]:
    """The files of a library that show what is meant, and what was read of papers; none from outside its folder."""
    folder = library.folder.resolve()
    named = [folder / name for topic in settings.topics for name in topic.examples]
    named += [folder / name for name in settings.others.examples]
    found = {path.resolve() for path in (*named, *(folder / "topics").rglob("*")) if path.is_file()}
    inside = (path.relative_to(folder) for path in found if path.is_relative_to(folder))
    return sorted(path for path in inside if allowed(FILES + path.as_posix()))


def versions() -> dict[str, object]:
    """What the crawl was made with: a library of another version may parse or judge otherwise."""
    wanted = [re.split(r"[ ;<>=!~\[]", line)[0] for line in requires("analecta") or () if "extra ==" not in line]
    return {
        "analecta": version("analecta"),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": {name: _version(name) for name in sorted(wanted, key=str.casefold)},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


class _Writer:
    """Adds files one after the other and remembers their digests."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self.file = file
        self.entries: list[Entry] = []

    def write(self, library: Library, archive: bool) -> Manifest:
        settings = load(library.settings_path)
        order = self._decisions(library)
        self._text(README, _ABOUT.format(version=version("analecta"), archive="" if archive else " --archive PATH"))
        self._stream(SETTINGS, [library.settings_path.read_bytes()])
        self._json(RESOLVED, settings)
        self._json(VERSIONS, versions())
        self._json(TOPICS, library.topic_names())
        self._json(MODELS, _models(library))
        self._stream(RUNS, (msgspec.json.encode(run) + b"\n" for run in runs(library)))
        for path in library_files(library, settings):
            self._stream(FILES + path.as_posix(), _blocks(library.folder / path))
        for path in sorted(library.models.glob("*")):
            if allowed(name := f"models/{path.name}"):
                self._stream(name, _blocks(path))
        warcs = [self._warc(path, archive) for path in sorted(library.archive.glob("*.warc.gz"))]
        found = Manifest(
            FORMAT,
            VERSION,
            version("analecta"),
            library.folder.resolve().name,
            library.partitions,
            waited(library),
            len(order),
            order_digest(order),
            sorted(self.entries, key=lambda entry: entry.name),
            warcs,
            archive,
        )
        self._stream(MANIFEST, [msgspec.json.format(msgspec.json.encode(found), indent=1)])
        return found

    def _decisions(self, library: Library) -> list[str]:
        """Write them; the URLs of the pages in order."""
        pages: list[tuple[int, str]] = []

        def lines() -> Iterator[bytes]:
            for one in decisions(library):
                if one.order:
                    pages.append((one.order, one.url))
                yield msgspec.json.encode(one) + b"\n"

        self._stream(DECISIONS, lines())
        return [url for _, url in sorted(pages)]

    def _warc(self, path: Path, inside: bool) -> Entry:
        """A WARC file: compressed already, so it is stored as it is, if at all."""
        if inside:
            return self._stream(ARCHIVE + path.name, _blocks(path), zipfile.ZIP_STORED)
        found, size = hashlib.sha256(), 0
        for block in _blocks(path):
            found.update(block)
            size += len(block)
        return Entry(ARCHIVE + path.name, size, found.hexdigest())

    def _text(self, name: str, text: str) -> None:
        self._stream(name, [text.encode()])

    def _json(self, name: str, value: object) -> None:
        self._stream(name, [msgspec.json.format(msgspec.json.encode(value), indent=1)])

    def _stream(self, name: str, blocks: Iterable[bytes], how: int = zipfile.ZIP_DEFLATED) -> Entry:
        info = zipfile.ZipInfo(name, _LONG_AGO)
        info.compress_type, info.external_attr, info.create_system = how, 0o100644 << 16, 3
        found, size = hashlib.sha256(), 0
        with self.file.open(info, "w", force_zip64=True) as out:
            for block in blocks:
                found.update(block)
                size += len(block)
                out.write(block)
        entry = Entry(name, size, found.hexdigest())
        self.entries.append(entry)
        return entry


def runs(library: Library) -> list[Run]:
    """Every crawl of a library, with what was asked."""
    with library.database(readonly=True) as db:
        rows = db.execute("SELECT n, began, ended, coalesce(reason, ''), asked, tally FROM runs ORDER BY n").fetchall()
    return [
        Run(n, at, end, why, json.loads(asked), json.loads(tally or "{}")) for n, at, end, why, asked, tally in rows
    ]


def _models(library: Library) -> list[dict[str, object]]:
    with library.database(readonly=True) as db:
        rows = db.execute("SELECT hash, kind, about FROM models ORDER BY made_at, hash").fetchall()
    return [dict(zip(("hash", "kind", "about"), row, strict=True)) for row in rows]


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block
