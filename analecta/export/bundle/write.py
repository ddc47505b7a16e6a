"""A bundle is written: one zip file, with the same bytes whenever it is made of the same library."""

import contextlib
import hashlib
import json
import platform
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.resources import files
from pathlib import Path

import msgspec

from analecta.errors import LibraryBusy, UsageError
from analecta.export import bundle
from analecta.export.bundle import (
    BundleFile,
    BundleRun,
    Decision,
    Manifest,
    allowed,
    examples_of,
    in_the_way,
    order_digest,
)
from analecta.model import UrlState
from analecta.settings.load import load
from analecta.settings.schema import Settings
from analecta.store import sqlite_version
from analecta.store.library import LibraryFolder
from analecta.store.output import check_output, output

# --- What a crawl decided: of every URL what became of it and why, and the order in which pages were kept ------------


def decisions(library: LibraryFolder) -> Iterator[Decision]:
    """Every URL that was met, partition after partition, in the order of finding."""
    names = library.topic_names()
    with library.snapshot() as snapshot:
        places = {id: place for place, id in enumerate(snapshot.kept_ids(), 1)}
        for one in snapshot.decisions():
            on = names[one.topic] if 0 <= one.topic < len(names) else ""
            sure, place = round(one.confidence, 6), places.get(one.id, 0)
            yield Decision(one.url, UrlState(one.state).word, one.reason, on, sure, place, one.depth, one.model)


def in_order(found: Iterator[Decision]) -> list[Decision]:
    """The pages among them, in the order in which they were kept."""
    return sorted((one for one in found if one.order), key=lambda one: one.order)


# --- A bundle is written: one zip file, with the same bytes whenever it is made of the same library ------------------

_BLOCK = 1 << 20
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file knows


def write_bundle(library: LibraryFolder, path: Path, archive: bool = False, force: bool = False) -> Manifest:
    """Write all that is needed to repeat what a library holds; with `archive` also the web that it saw."""
    check_output(path, "bundle", force)
    if holder := library.holder():
        raise LibraryBusy(f"{library.folder} is in use by {holder}: bundle it when the crawl is over")
    settings, had = load(library.settings_path), runs(library)
    learnt = [name for run in had for name in _examples(run)]
    files = library_files(library, {*examples_of(settings), *learnt})
    gone = sorted({*learnt} - {*files})
    _check_files(library, files, gone)
    with output(path, "bundle", force) as out, zipfile.ZipFile(out, "w") as file:
        return _BundleWriter(file).write(library, settings, had, files, gone, archive)


def library_files(library: LibraryFolder, named: Iterable[str]) -> list[str]:
    """The files of a library that show what is meant, and what was read of papers; none from outside its folder."""
    kept = (path.relative_to(library.folder).as_posix() for path in (library.folder / "topics").rglob("*"))
    return sorted(name for name in {*named, *kept} if allowed(bundle.FILES + name) and _inside(library.folder, name))


def _inside(folder: Path, name: str) -> bool:
    """Whether it is a file of the folder, and one that may be given away, also where it is a link to another."""
    whole, path = folder.resolve(), (folder / name).resolve()
    return path.is_file() and path.is_relative_to(whole) and allowed(bundle.FILES + path.relative_to(whole).as_posix())


def _examples(run: BundleRun) -> list[str]:
    """The files that a run learnt from; none where its settings are of a version that is not known here."""
    with contextlib.suppress(KeyError, msgspec.ValidationError):
        return examples_of(msgspec.convert(run.asked["settings"], Settings))
    return []


def _check_files(library: LibraryFolder, files: Sequence[str], gone: Sequence[str]) -> None:
    """Say so where the bundle would be refused. A file that was deleted since is none to be refused for."""
    if name := next(
        (name for name in gone if not allowed(bundle.FILES + name) or (library.folder / name).exists()), ""
    ):
        raise UsageError(
            f"the library cannot be bundled: it learnt from {name!r}, which cannot be put in; copy that file into "
            f"{library.folder / 'topics'}, name it so in {library.settings_path}, and crawl into a new library"
        )
    if name := in_the_way(files):
        raise UsageError(
            f"the library cannot be bundled: {library.folder / name} has the name of another file but for its case, "
            f"which not every disk can tell apart; rename it, also in {library.settings_path}"
        )


def versions() -> dict[str, object]:
    """What the crawl was made with: a library of another version may parse or judge otherwise."""
    wanted = [re.split(r"[ ;<>=!~\[]", line)[0] for line in requires("analecta") or () if "extra ==" not in line]
    return {
        "analecta": version("analecta"),
        "python": platform.python_version(),
        "sqlite": sqlite_version,
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": {name: _version(name) for name in sorted(wanted, key=str.casefold)},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


class _BundleWriter:
    """Adds files one after the other and remembers their digests."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self.file = file
        self.entries: list[BundleFile] = []

    def write(
        self,
        library: LibraryFolder,
        settings: Settings,
        had: Sequence[BundleRun],
        examples: Sequence[str],
        gone: list[str],
        archive: bool,
    ) -> Manifest:
        order = self._decisions(library)
        with library.snapshot() as snapshot:
            waited = snapshot.hosts_waited_for()
        about = files("analecta.export.bundle").joinpath("about.md").read_text("utf-8")
        archives = "" if archive else " --archive PATH"
        self._stream(bundle.README, [about.format(version=version("analecta"), archive=archives).encode()])
        self._stream(bundle.SETTINGS, [library.settings_path.read_bytes()])
        self._json(bundle.RESOLVED, settings)
        self._json(bundle.VERSIONS, versions())
        self._json(bundle.TOPICS, library.topic_names())
        self._json(bundle.MODELS, _models(library))
        self._stream(bundle.RUNS, (msgspec.json.encode(run) + b"\n" for run in had))
        for name in examples:
            self._stream(bundle.FILES + name, _blocks(library.folder / name))
        for path in sorted(library.models.glob("*")):
            if allowed(name := f"models/{path.name}"):
                self._stream(name, _blocks(path))
        warcs = [self._warc(path, archive) for path in sorted(library.archive.glob("*.warc.gz"))]
        found = Manifest(
            bundle.FORMAT,
            bundle.VERSION,
            version("analecta"),
            library.folder.resolve().name,
            library.partitions,
            waited,
            len(order),
            order_digest(order),
            sorted(self.entries, key=lambda entry: entry.name),
            warcs,
            archive,
            gone,
        )
        self._stream(bundle.MANIFEST, [msgspec.json.format(msgspec.json.encode(found), indent=1)])
        return found

    def _decisions(self, library: LibraryFolder) -> list[str]:
        """Write them; the URLs of the pages in order."""
        pages: list[tuple[int, str]] = []

        def lines() -> Iterator[bytes]:
            for one in decisions(library):
                if one.order:
                    pages.append((one.order, one.url))
                yield msgspec.json.encode(one) + b"\n"

        self._stream(bundle.DECISIONS, lines())
        return [url for _, url in sorted(pages)]

    def _warc(self, path: Path, inside: bool) -> BundleFile:
        """A WARC file: compressed already, so it is stored as it is, if at all."""
        if inside:
            return self._stream(bundle.ARCHIVE + path.name, _blocks(path), zipfile.ZIP_STORED)
        return _copied(bundle.ARCHIVE + path.name, _blocks(path), lambda _: None)

    def _json(self, name: str, value: object) -> None:
        self._stream(name, [msgspec.json.format(msgspec.json.encode(value), indent=1)])

    def _stream(self, name: str, blocks: Iterable[bytes], how: int = zipfile.ZIP_DEFLATED) -> BundleFile:
        info = zipfile.ZipInfo(name, _LONG_AGO)
        info.compress_type, info.external_attr, info.create_system = how, 0o100644 << 16, 3
        with self.file.open(info, "w", force_zip64=True) as out:
            entry = _copied(name, blocks, out.write)
        self.entries.append(entry)
        return entry


def _copied(name: str, blocks: Iterable[bytes], write: Callable[[bytes], object]) -> BundleFile:
    """Write a file block by block; its size and digest."""
    found, size = hashlib.sha256(), 0
    for block in blocks:
        found.update(block)
        size += len(block)
        write(block)
    return BundleFile(name, size, found.hexdigest())


def runs(library: LibraryFolder) -> list[BundleRun]:
    """Every crawl of a library, with what was asked."""
    with library.snapshot() as snapshot:
        return [
            BundleRun(
                run.n, run.began, run.ended, run.reason or "", json.loads(run.asked), json.loads(run.tally or "{}")
            )
            for run in snapshot.runs()
        ]


def _models(library: LibraryFolder) -> list[dict[str, object]]:
    with library.snapshot() as snapshot:
        found = sorted(snapshot.models(), key=lambda one: (one.made_at, one.hash))
    return [{"hash": one.hash, "kind": one.kind, "about": one.about} for one in found]


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block
