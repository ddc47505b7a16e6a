"""Everything that is stored is judged again by a model (B18), and can be put back as it was."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

import msgspec
import zstandard

from analecta.errors import ResourceError
from analecta.frontier.policy import EXAMPLE_PRIORITY
from analecta.judge import JUDGES
from analecta.learning.examples import MarkedPage
from analecta.model import Verdict, of_hidden
from analecta.parse import DOCUMENTS
from analecta.signals import leave_stop_to_parent
from analecta.store.library import LibraryFolder
from analecta.store.pages import DocumentToJudge, PagesToJudge, PageToJudge, VerdictRow, put_verdicts
from analecta.store.schema import packed_topics, unpacked
from analecta.text.tokens import Words, excerpt, words

# --- verdicts --------------------------------------------------------------------------------------------------------
# The verdicts of all pages that are stored: kept beside the library so that they can be put back, and compared.


_ROWS_AT_ONCE = 2000  # rows of one transaction

Rows = list[list[VerdictRow]]  # by shard
_decode = msgspec.msgpack.Decoder(Rows).decode


class VerdictChange(msgspec.Struct, frozen=True):
    """A page whose topic is another now; a topic is -1 where it is of none."""

    id: int
    before: int
    sure_before: float
    after: int
    sure_after: float


def stored(library: LibraryFolder) -> Rows:
    """The verdicts as they stand."""
    with library.snapshot() as snapshot:
        return snapshot.verdicts()


def put_back(library: LibraryFolder, rows: Rows, model: str, doing: Callable[[int, int], None]) -> None:
    """Write verdicts over those of a model, a batch in one transaction; the caller holds the library."""
    done, pages = 0, sum(map(len, rows))
    with library.writers() as shards:
        for shard, own in zip(shards, rows, strict=True):
            for start in range(0, len(own), _ROWS_AT_ONCE):
                batch = own[start : start + _ROWS_AT_ONCE]
                put_verdicts(shard, batch, model)
                shard.commit()
                done += len(batch)
                doing(done, pages)


def save(path: Path, rows: Rows) -> None:
    """Keep verdicts in a file: all of it or nothing, also when the power fails."""
    path.parent.mkdir(exist_ok=True)
    partial = path.with_suffix(".partial")
    try:
        with partial.open("wb") as file:
            file.write(zstandard.compress(msgspec.msgpack.encode(rows)))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise ResourceError(f"the verdicts could not be kept in {path}: {error.strerror}") from error


def load(path: Path) -> Rows:
    """The verdicts that were kept."""
    try:
        return _decode(zstandard.decompress(path.read_bytes()))
    except (OSError, zstandard.ZstdError, msgspec.DecodeError) as error:
        raise ResourceError(f"the verdicts kept in {path} cannot be read: {error}") from error


def changes(library: LibraryFolder, before: Rows, after: Rows) -> list[VerdictChange]:
    """Pages that may be shown and are of another topic now, those first of which the judge is surest."""
    found = []
    with library.snapshot() as snapshot:
        for open_pages, old, new in zip(snapshot.open_pages(), before, after, strict=True):
            were = {row.seq: row for row in old if row.seq in open_pages}
            pairs = ((were[row.seq], row) for row in new if row.seq in were)
            found += [
                VerdictChange(row.id, was.topic, was.confidence or 0.0, row.topic, row.confidence or 0.0)
                for was, row in pairs
                if was.topic != row.topic
            ]
    return sorted(found, key=lambda one: (-max(one.sure_before, one.sure_after), one.id))


# --- reclassify ------------------------------------------------------------------------------------------------------
# Everything that is stored is judged again by a model (B18): texts are read, cut into words and judged in batches.
#
# Two processes judge; whoever asks writes what comes. Pages that this model has judged already are left out, so that
# what a kill leaves undone can be finished.


_BATCH = 500  # pages judged at a time, and written in one transaction
_ALONE = 4000  # up to so many pages this process judges by itself: others take a second to start


class TrainedModel(msgspec.Struct, frozen=True):
    """A trained judge on disk."""

    folder: str
    name: str
    kind: str


RowRange = tuple[Path, int, int]  # rows of one shard, from one number to another


def judged(
    shards: Sequence[Path],
    model: TrainedModel,
    said: Mapping[int, MarkedPage],
    jobs: int = 0,
    doing: Callable[[int, int], None] = lambda done, all: None,
    again: bool = False,
) -> Iterator[tuple[int, list[VerdictRow]]]:
    """What a model says of all pages that it has not judged yet: the number of the shard and rows, batch by batch.

    What a person has `said` has the last word; what was said before may have had it, so that all must be judged
    `again`. Without a number of `jobs`, as many as pay.
    """
    known = "" if again else model.name
    found = [_to_judge(path, known) for path in shards]
    parts = [(n, part) for n, (own, _) in enumerate(found) for part in own]
    pages = _BATCH * len(parts)
    desk = JudgeDesk(model, dict(said), known)
    # A judge that takes in what it sees must see it in order.
    alone = pages <= _ALONE or getattr(desk.judge, "live_idf", False)
    jobs = jobs or (1 if alone else min(len(parts), os.cpu_count() or 1))
    awaited = {page.parent for _, documents in found for page in documents}
    parents: dict[int, VerdictRow] = {}  # what is said of pages that link to documents
    with _judges(desk, jobs) as judge:
        for done, ((n, _), rows) in enumerate(zip(parts, judge([part for _, part in parts]), strict=True), 1):
            parents |= {row.id: row for row in rows if row.id in awaited}
            yield n, rows
            doing(min(done * _BATCH, pages), pages)
    for n, (_, documents) in enumerate(found):
        if rows := desk.documents(shards[n], documents, parents):
            yield n, rows


def _reading(path: Path) -> closing[PagesToJudge]:
    return closing(PagesToJudge(path, EXAMPLE_PRIORITY, DOCUMENTS))


def _to_judge(path: Path, known: str) -> tuple[list[RowRange], list[DocumentToJudge]]:
    """What the model `known` has not judged of a shard: ranges of rows, and the documents without a text in them."""
    with _reading(path) as shard:
        numbers, documents = shard.numbers(known), shard.documents(known)
    edges = [*range(0, len(numbers), _BATCH), len(numbers)]
    parts = [(path, numbers[i], numbers[j - 1]) for i, j in pairwise(edges)] if numbers else []
    return parts, documents


# --- the processes ---------------------------------------------------------------------------------------------------


class JudgeDesk:
    """Where pages are judged, in this process or another."""

    def __init__(self, model: TrainedModel, said: Mapping[int, MarkedPage], known: str) -> None:
        """`known` is the model whose verdicts stand."""
        self.model, self.said, self.known = model, said, known
        self.judge = JUDGES[model.kind].load(Path(model.folder), model.name)

    def rows(self, part: RowRange) -> list[VerdictRow]:
        """What the model says of the pages of a part."""
        path, first, last = part
        with _reading(path) as shard:
            pages = shard.pages(first, last, self.known)
            if not pages:
                return []
            anchors, around = self._views(shard, pages)
        verdicts = self.judge.judge_words(words([excerpt(page.text) for page in pages]), anchors, around)
        return [
            self._row(page, verdict, bool(page.closed or page.off_topic))
            for page, verdict in zip(pages, verdicts, strict=True)
        ]

    def documents(
        self, path: Path, documents: Sequence[DocumentToJudge], known: dict[int, VerdictRow]
    ) -> list[VerdictRow]:
        """Those without a text are what the page is that links to them (S10), as far as it is known.

        Where another partition has that page, they are what they were.
        """
        with _reading(path) as shard:
            for page in documents:
                row = known.get(page.parent)
                found = (row.topic, row.confidence, row.topics) if row else shard.verdict(page.parent)
                verdict = unpacked(*(found or (page.topic, page.confidence, page.topics)))
                known[page.id] = self._row(page, verdict, bool(page.closed))
        return [known[page.id] for page in documents]

    def _views(self, shard: PagesToJudge, pages: Sequence[PageToJudge]) -> tuple[Words | None, Words | None]:
        """What the judge looks at besides, as when the pages were kept (B6)."""
        needs = self.judge.needs
        anchors = words([page.anchor or "" for page in pages]) if "anchors" in needs else None
        if "neighbours" not in needs:
            return anchors, None
        return anchors, words([excerpt(shard.text(page.parent)) for page in pages])

    def _row(self, page: PageToJudge | DocumentToJudge, verdict: Verdict, hidden: bool) -> VerdictRow:
        """What is said of a page, which is on no topic if `hidden`; a person has the last word, but for its owner."""
        verdict = of_hidden(verdict, hidden)
        if not page.closed and (one := self.said.get(page.id)):
            verdict = one.corrected(verdict)
        return VerdictRow(page.seq, page.id, verdict.topic, verdict.confidence, packed_topics(verdict), self.model.name)


_desk: list[JudgeDesk] = []  # of a process that judges


@contextmanager
def _judges(desk: JudgeDesk, jobs: int) -> Iterator[Callable[[Sequence[RowRange]], Iterator[list[VerdictRow]]]]:
    """Judges parts, in their order, in so many processes."""
    if jobs == 1:
        yield lambda parts: map(desk.rows, parts)
        return
    # Not by fork: this process may have threads, and theirs would not go along.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, (desk.model, desk.said, desk.known))
    try:
        yield lambda parts: pool.map(_rows, parts)
    except BrokenProcessPool as error:
        raise ResourceError("a process that judged pages was killed: is there enough memory?") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(model: TrainedModel, said: Mapping[int, MarkedPage], known: str) -> None:
    leave_stop_to_parent(signal.SIGTERM)  # by which the pool may end it
    _desk.append(JudgeDesk(model, said, known))


def _rows(part: RowRange) -> list[VerdictRow]:
    return _desk[0].rows(part)
