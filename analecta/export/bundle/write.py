"""A bundle is written: one zip file, with the same bytes whenever it is made of the same library."""

import contextlib
import json
import platform
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.resources import files
from pathlib import Path

import msgspec

from analecta.errors import LibraryBusy, UsageError
from analecta.export import bundle
from analecta.export.bundle import BundleFile, BundleRun, Decision, Manifest, allowed, examples_of
from analecta.export.zip_members import LONG_AGO, zip_member
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
        for id, url, state, reason, topic, confidence, depth, model in snapshot.decisions():
            on = names[topic] if 0 <= topic < len(names) else ""
            sure, place = round(confidence, 6), places.get(id, 0)
            yield Decision(url, UrlState(state).word, reason, on, sure, place, depth, model)


def in_order(found: Iterator[Decision]) -> list[Decision]:
    """The pages among them, in the order in which they were kept."""
    return sorted((one for one in found if one.order), key=lambda one: one.order)


# --- A bundle is written: one zip file, with the same bytes whenever it is made of the same library ------------------

_BLOCK = 1 << 20


def write_bundle(library: LibraryFolder, path: Path, archive: bool = False, force: bool = False) -> Manifest:
    """Write all that is needed to repeat what a library holds; with `archive` also the web that it saw."""
    check_output(path, "bundle", force)
    if holder := library.holder():
        raise LibraryBusy(f"{library.folder} is in use by {holder}: bundle it when the crawl is over")
    settings, had = load(library.settings_path), runs(library)
    learnt = [name for run in had for name in _examples(run)]
    examples = library_files(library, {*examples_of(settings), *learnt})
    gone = sorted({*learnt} - {*examples})
    _check_files(library, examples, gone)
    with output(path, "bundle", force) as out, zipfile.ZipFile(out, "w") as file:
        made = _BundleWriter(file)
        order = made.add_decisions(library)
        made.add_settings(library, settings, archive)
        made.add(bundle.RUNS, (msgspec.json.encode(run) + b"\n" for run in had))
        for name in examples:
            made.add(bundle.FILES + name, _blocks(library.folder / name))
        for model in sorted(library.models.glob("*")):
            if allowed(name := f"models/{model.name}"):
                made.add(name, _blocks(model))
        warcs = [made.add_warc(warc, archive) for warc in sorted(library.archive.glob("*.warc.gz"))]
        with library.snapshot() as snapshot:
            waited = snapshot.hosts_waited_for()
        found = Manifest(
            bundle.FORMAT,
            bundle.VERSION,
            version("analecta"),
            library.folder.resolve().name,
            library.partitions,
            waited,
            len(order),
            bundle.order_digest(order),
            sorted(made.entries, key=lambda entry: entry.name),
            warcs,
            archive,
            gone,
        )
        made.add_json(bundle.MANIFEST, found)
        return found


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
    if name := bundle.in_the_way(files):
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

    def add_settings(self, library: LibraryFolder, settings: Settings, archive: bool) -> None:
        """Add what the crawl was made with, and what a person has to know."""
        about = files("analecta.export.bundle").joinpath("about.md").read_text("utf-8")
        archives = "" if archive else " --archive PATH"
        self.add(bundle.README, [about.format(version=version("analecta"), archive=archives).encode()])
        self.add(bundle.SETTINGS, [library.settings_path.read_bytes()])
        self.add_json(bundle.RESOLVED, settings)
        self.add_json(bundle.VERSIONS, versions())
        self.add_json(bundle.TOPICS, library.topic_names())
        self.add_json(bundle.MODELS, _models(library))

    def add_decisions(self, library: LibraryFolder) -> list[str]:
        """Add what became of each URL; the URLs of the pages in order."""
        pages: list[tuple[int, str]] = []

        def lines() -> Iterator[bytes]:
            for one in decisions(library):
                if one.order:
                    pages.append((one.order, one.url))
                yield msgspec.json.encode(one) + b"\n"

        self.add(bundle.DECISIONS, lines())
        return [url for _, url in sorted(pages)]

    def add_warc(self, path: Path, inside: bool) -> BundleFile:
        """A WARC file: compressed already, so it is stored as it is, if at all."""
        name = bundle.ARCHIVE + path.name
        if inside:
            return self.add(name, _blocks(path), zipfile.ZIP_STORED)
        return BundleFile(name, path.stat().st_size, bundle.file_digest(path))

    def add_json(self, name: str, value: object) -> None:
        """Add a value as JSON for people."""
        self.add(name, [msgspec.json.format(msgspec.json.encode(value), indent=1)])

    def add(self, name: str, blocks: Iterable[bytes], how: int = zipfile.ZIP_DEFLATED) -> BundleFile:
        """Add a file of these blocks."""
        with zip_member(self.file, name, LONG_AGO, how, 0o100644) as out:
            for block in blocks:
                out.write(block)
        entry = BundleFile(name, out.length, out.sha256)
        self.entries.append(entry)
        return entry


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
