"""Keeps the index in step with the library, and remembers what it was made of."""

import contextlib
import time
from collections.abc import Callable, Container, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec
import numpy as np
import tantivy
import xxhash

from analecta.communities.view import CommunityIndex, index_communities
from analecta.errors import LibraryBusy, ResourceError
from analecta.files import whole_folder
from analecta.model import NO_TOPIC
from analecta.search import communities, ranking
from analecta.search.communities import CommunityWords, key
from analecta.search.index import WORDS, create, document, reopen, schema
from analecta.search.ranking import PageScores, ScoreRow, page_scores
from analecta.store.change_watch import one_writer
from analecta.store.checksums import log_path
from analecta.store.library import LibraryFolder
from analecta.store.rows import PageRow
from analecta.store.snapshot import Snapshot
from analecta.store.sqlite import full_disk

# --- Whether an index is whole and of now: of what it was made, and what it is made up of, written beside it ---------
# What is written down comes last, and is taken away before the index is changed: an index without it was not finished.

NAME = "kept.json"
_VERSION = f"5 tantivy {version('tantivy')}"  # raise it when pages are indexed otherwise
_RACY = 1.0  # seconds: a file written so lately may be written again without looking changed

Stamps = dict[str, tuple[int, int]]  # size and time of files by name
Hashes = dict[str, tuple[int, int, int]]  # and a hash of what is in them


class IndexManifest(msgspec.Struct, frozen=True):
    """What is written down of an index."""

    version: str
    source: Stamps | None  # of what it was made; None where its files were too young to be trusted
    index: Hashes
    pages: int
    stale: int  # pages that were changed or deleted since all was made; BM25 still counts their words
    at: float
    took: float


def folder_of(library: LibraryFolder) -> Path:
    """Where the index of a library is."""
    return library.derived("index")


def read_kept(library: LibraryFolder) -> IndexManifest | None:
    """What is known of the index; None where there is none, or it was not finished."""
    with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.decode((folder_of(library) / NAME).read_bytes(), type=IndexManifest)
    return None


def wrong(library: LibraryFolder) -> str:
    """Why the index cannot be used as it is; "" where it can."""
    folder = folder_of(library)
    if not (folder / WORDS).is_dir():
        return "there was none"
    if (kept := read_kept(library)) is None:
        return "it was not finished"
    if kept.version != _VERSION:
        return "it was of another version"
    return "" if _whole(folder, kept.index) else "it was damaged"


def _whole(folder: Path, index: Hashes) -> bool:
    """Whether all files are as they were; what was only copied or touched is, so what is in it is looked at."""
    now = stamps([folder / name for name in index], folder)
    return all(now.get(name) == was[:2] or _hash(folder / name) == was[2] for name, was in index.items())


def changed_files(library: LibraryFolder) -> list[str]:
    """The files of the index that are not as they were written; what is in them is looked at."""
    folder = folder_of(library)
    if not (folder / WORDS).is_dir():
        return []
    if (kept := read_kept(library)) is None:
        return [NAME]
    return [name for name, (*_, hashed) in kept.index.items() if _hash(folder / name) != hashed]


def source_of(library: LibraryFolder) -> Stamps:
    """Of what an index would be made now; settings say what sites and communities are."""
    written_to = [path for file in library.databases for path in (file, log_path(file))]
    return stamps([*written_to, library.settings_path], library.folder)


def keep(
    folder: Path, source: Stamps, pages: int, stale: int, began: float, ended: float, known: Hashes | None = None
) -> None:
    """Write down what the index is: from now on it counts. What `known` tells of a file is not found out again."""
    fresh = any(at / 1e9 > began - _RACY for _, at in source.values())
    part = folder / f".{NAME}.part"
    parts = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]
    index: Hashes = {}
    for name, stamp in stamps([path for path in parts if path.name not in (NAME, part.name)], folder).items():
        before = (known or {}).get(name, (0, 0, 0))
        index[name] = (*stamp, before[2] if before[:2] == stamp else _hash(folder / name))
    kept = IndexManifest(_VERSION, None if fresh else source, index, pages, stale, ended, ended - began)
    part.write_bytes(msgspec.json.encode(kept))
    part.replace(folder / NAME)


def stamps(paths: Sequence[Path], folder: Path) -> Stamps:
    """Size and time of those that are there; an empty log is as good as none."""
    found = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            stat = path.stat()
            if stat.st_size or not path.name.endswith("-wal"):
                found[str(path.relative_to(folder))] = (stat.st_size, stat.st_mtime_ns)
    return found


def _hash(path: Path) -> int:
    """Of what is in a file; -1 where there is none."""
    if not path.is_file():
        return -1
    hashed = xxhash.xxh3_64()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            hashed.update(piece)
    return hashed.intdigest()


# --- Keeps the index in step with the library: what is new, changed or no longer to be shown -------------------------
# The index is made from the SQLite files and the settings alone and can be deleted at any time. It is made anew where
# it is missing, damaged, of another version, or where an update of it was cut short (F45); and where many pages
# changed, for that is no more work, and BM25 would go on counting the words of what was deleted. A new index takes the
# old one's place when it is whole, and readers go on with the old one until then: they never wait.

MANY = 0.05  # share of pages changed or deleted since all was made from which on all is made anew
SHARE = 10  # looks at a library that is being written take at most one part in so many of the time
_MEMORY = 256_000_000  # bytes of postings that are held before they are written
_FEW = 1000  # pages for which one thread is enough


class IndexUpdate(msgspec.Struct, frozen=True):
    """What a look at the library brought."""

    pages: int  # in the index now
    changed: int  # new or changed
    deleted: int
    rebuilt: str = ""  # why all was made anew, where it was
    seconds: float = 0.0


def sync(
    library: LibraryFolder,
    rebuild: bool = False,
    doing: Callable[[str], None] = lambda what: None,
    now: Callable[[], float] = time.time,
) -> IndexUpdate:
    """Bring the index up to date, communities included. Busy where another process is at it."""
    wait = read_kept(library) is None and not (folder_of(library) / WORDS).exists()  # there is nothing to ask yet
    busy = f"the index of {library.folder} is being brought up to date by another process"
    with one_writer(library.derived("index.lock"), busy, wait):
        began, source = now(), source_of(library)
        why = "as asked" if rebuild else wrong(library)
        kept = None if why else read_kept(library)
        if kept and kept.source == source:
            return IndexUpdate(kept.pages, 0, 0)
        with library.snapshot() as snapshot:
            doing("Reading what is in the library")
            work = _LibraryPages(snapshot, index_communities(library), doing)
            old = ranking.load(folder_of(library) / ranking.NAME) if kept else None
            changes = _changes(old, work.stand, kept.stale if kept else 0)
            if kept and changes.stale > MANY * len(work.stand.ids):
                why = "much has changed"
            with _written(library):
                if why or not kept:
                    with whole_folder(folder_of(library), lambda _: True) as folder:
                        work.write(folder)
                        keep(folder, source, len(work.stand.ids), 0, began, now())
                else:
                    (folder_of(library) / NAME).unlink()  # it does not count until it is kept again
                    work.write(folder_of(library), changes)
                    keep(folder_of(library), source, len(work.stand.ids), changes.stale, began, now(), kept.index)
        return IndexUpdate(len(work.stand.ids), len(changes.changed), len(changes.deleted), why, now() - began)


def in_step(library: LibraryFolder, doing: Callable[[str], None] = lambda what: None) -> None:
    """See to it that the index is of now; of a moment ago where the library is being written or the index made.

    On a full disk what there is must do.
    """
    kept = None if wrong(library) else read_kept(library)
    if kept and full_disk(library.folder):
        return
    if kept is None or not kept.at <= time.time() < kept.at + SHARE * kept.took:
        with contextlib.suppress(LibraryBusy):
            sync(library, doing=doing)


@contextlib.contextmanager
def _written(library: LibraryFolder) -> Iterator[None]:
    """What the index cannot write is the disk's fault."""
    try:
        yield
    except ValueError as error:  # tantivy has no other
        words = full_disk(library.folder) or error
        raise ResourceError(f"the search index of {library.folder} cannot be written: {words}") from error


class _Changes(msgspec.Struct, frozen=True):
    """The ids of pages that are new or changed, of those that are gone; and how many the index has outdated by now."""

    changed: set[int]
    deleted: list[int]
    stale: int


def _changes(old: PageScores | None, new: PageScores, stale: int) -> _Changes:
    if old is None:
        return _Changes(set(new.ids.tolist()), [], 0)
    at = old.places(new.ids.tolist())
    known = at >= 0
    altered = known & (old.digests[at] != new.digests) if len(old.ids) else known
    deleted = np.setdiff1d(old.ids, new.ids).tolist()
    return _Changes(set(new.ids[altered | ~known].tolist()), deleted, stale + int(altered.sum()) + len(deleted))


class _LibraryPages:
    """The pages of a library and what is known of them; all but their texts are looked at."""

    def __init__(self, snapshot: Snapshot, at_home: CommunityIndex, doing: Callable[[str], None]) -> None:
        self.snapshot, self.homes, self.doing, self.said = snapshot, at_home, doing, CommunityWords()
        self.texts = snapshot.anchor_texts(snapshot.shown_ids())
        self.stand = page_scores(self._rows(), snapshot)

    def _rows(self) -> Iterator[ScoreRow]:
        for item in self.snapshot.shown_pages(off_topic=True):
            called, community = self.texts.get(item.id, ()), key(self.homes.of(item.url, item.host))
            if community and item.topic != NO_TOPIC:  # what a community is about, pages on no topic do not say
                self.said.add(community, item.title, called)
            yield item.id, _digest(item, called, community), item.topic, item.confidence, item.topics

    def write(self, folder: Path, changes: _Changes | None = None) -> None:
        """Make a new index in an empty folder, or change what has changed in one; communities are new every time."""
        if changes is None:
            self._write(create(folder / WORDS, schema()), None, [])
            create(folder / communities.FOLDER, communities.schema())
        elif changes.changed or changes.deleted:
            self._write(reopen(folder / WORDS), changes.changed, [*changes.changed, *changes.deleted])
        communities.rewrite(folder, self.homes.communities, self.said)
        self.stand.save(folder / ranking.NAME)

    def _write(self, index: tantivy.Index, wanted: Container[int] | None, outdated: Sequence[int]) -> None:
        """Take out what is outdated, put in what is wanted (None for all), and make it true at once."""
        writer = index.writer(_MEMORY, 2 if len(self.stand.ids) > _FEW else 1)
        for id in outdated:
            writer.delete_documents_by_term("id", id)
        for n, item in enumerate(self.snapshot.shown_pages(off_topic=True)):
            if n % 1000 == 0:
                self.doing(f"Indexing page {n:,} of {len(self.stand.ids):,}")
            if wanted is None or item.id in wanted:
                writer.add_document(self._document(item))
        writer.commit()
        writer.wait_merging_threads()

    def _document(self, item: PageRow) -> tantivy.Document:
        headings, text = self.snapshot.headings_and_text(item)
        community = key(self.homes.of(item.url, item.host))
        return document(item, headings, text, self.texts.get(item.id, ()), community)


def _digest(item: PageRow, called: Sequence[str], community: str) -> int:
    """Differs where the document would: the text is covered by the body's digest and by how many words were read."""
    topics = [number for number, _ in item.topics]
    made_of = (item.url, item.title, item.topic, topics, item.mime, item.lang, item.date, item.words, item.digest)
    return xxhash.xxh3_64_intdigest(msgspec.msgpack.encode((*made_of, called, community))) >> 1  # signed elsewhere
