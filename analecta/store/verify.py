"""What a check of a library looks at, and what it finds: databases, archive files, rows."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from isal import isal_zlib

from analecta.errors import ResourceError
from analecta.store.checksums import changed_pages
from analecta.store.schema import MetaKey, unpack_topics
from analecta.store.sqlite import connect
from analecta.store.warc import BAD_ZLIB
from analecta.store.warc_scan import ScannedRecord, read_records
from analecta.urls import partition_of, url_id

EXAMPLES = 5  # of each kind, by step


class Damage(msgspec.Struct, frozen=True):
    """Bytes of an archive file that cannot be read, or a page (its row) whose record is not what the row says."""

    file: str
    offset: int
    length: int = 0  # 0: the bytes are good, only the page's row is wrong
    page: int = 0


class FindingKind(msgspec.Struct):
    """Findings of one kind; `repair` says what `--repair` does, "" where nothing can be done."""

    count: int = 0
    repair: str = ""
    examples: list[str] = []


class CheckPart(msgspec.Struct):
    """What one step of the check found, and how far it came."""

    stamp: list[tuple[int, int]] = []  # size and time of its files
    done: bool = False
    place: int = 0  # where to go on
    kinds: dict[str, FindingKind] = {}
    notes: list[str] = []
    damages: list[Damage] = []
    checked: dict[str, int] = {}

    def find(self, kind: str, what: str, repair: str = "") -> None:
        """Note something that is wrong."""
        known = self.kinds.setdefault(kind, FindingKind(repair=repair))
        known.count += 1
        if len(known.examples) < EXAMPLES:
            known.examples.append(what)

    def note(self, what: str) -> None:
        """Note something that a person may want to know, and that is not wrong."""
        self.notes.append(what)

    def count(self, what: str, n: int = 1) -> None:
        """Count what was looked at."""
        self.checked[what] = self.checked.get(what, 0) + n


class VerifyReport(msgspec.Struct):
    """What a whole check found."""

    kinds: dict[str, FindingKind] = {}
    notes: list[str] = []
    checked: dict[str, int] = {}
    repaired: list[str] = []
    resumed: bool = False

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.kinds


def combined(parts: Iterable[CheckPart]) -> VerifyReport:
    """The findings of all steps together."""
    report = VerifyReport()
    for part in parts:
        for name, kind in part.kinds.items():
            known = report.kinds.setdefault(name, FindingKind(repair=kind.repair))
            known.count += kind.count
            known.examples = [*known.examples, *kind.examples][:EXAMPLES]
        report.notes += part.notes
        for what, n in part.checked.items():
            report.checked[what] = report.checked.get(what, 0) + n
    return report


# --- Checks of a SQLite file as such: its structure, its references, and its checksums where it is sealed ------------


DAMAGED, CHANGED = "database damaged", "database changed since it was sealed"
_MOST = 100  # complaints of SQLite about one file
_SALVAGE = "every readable row is copied into a new file; lost pages are read again from the archive"
_REINDEX = "indexes are rebuilt; damaged rows are queued or read again where they can be told"


def verify_database(path: Path, part: CheckPart) -> Iterator[int]:
    """Look at one file; yields now and then."""
    part.count("databases")
    try:
        with contextlib.closing(connect(path, readonly=True)) as db:
            yield 0
            for (words,) in db.execute(f"PRAGMA integrity_check({_MOST})"):
                if words != "ok":
                    part.find(DAMAGED, f"{path.name}: {words.splitlines()[0]}", _SALVAGE)
            yield 0
            for table, row, *_ in db.execute("PRAGMA foreign_key_check"):
                part.find(DAMAGED, f"{path.name}: row {row} of {table} refers to nothing", _SALVAGE)
            changed = changed_pages(path)
            if changed and DAMAGED not in part.kinds:
                for where in tables_of(db, changed):
                    part.find(CHANGED, f"{path.name}: {where}", _REINDEX)
    except (sqlite3.DatabaseError, ResourceError) as error:
        part.find(DAMAGED, f"{path.name}: {error}", _SALVAGE)


def is_sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with a file."""
    part = CheckPart()
    for _ in verify_database(path, part):
        pass
    return DAMAGED not in part.kinds


def tables_of(db: sqlite3.Connection, pages: list[int]) -> list[str]:
    """What pages of a database file hold, in words; where SQLite was built without dbstat, only their numbers."""
    found = []
    for page in pages:
        with contextlib.suppress(sqlite3.Error):
            rows = db.execute("SELECT name FROM dbstat WHERE pageno = ?", (page,)).fetchall()
            found.append(f"page {page} ({rows[0][0] if rows else 'free, holds nothing'})")
            continue
        found.append(f"page {page}")
    return found


# --- verify archive --------------------------------------------------------------------------------------------------
# Checks of an archive file: every record's digests, and that each page's record is where and what its row says.


RECORDS, PLACES = "archive records", "pages and their records"
_REFETCH = "the bytes are put into archive/quarantine and the page is queued to be fetched again"
_MISSING = "the pages whose records are lost are queued to be fetched again"
_PAGES = (
    "SELECT p.seq, u.url, p.offset, p.length, p.digest FROM pages p LEFT JOIN urls u ON u.id = p.id"
    " WHERE p.file = ? AND p.offset >= ? ORDER BY p.offset"
)
_KINDS = ("response", "revisit")


class _Row(msgspec.Struct, frozen=True):
    """A page as its row places it."""

    seq: int
    url: str | None
    offset: int
    length: int
    digest: str


def verify_file(
    db: sqlite3.Connection, archive: Path, n: int, name: str, running: bool, part: CheckPart
) -> Iterator[int]:
    """One file that a shard has committed; goes on at the part's place. `running`: a crawl may be writing to it."""
    path = archive / name
    committed = db.execute("SELECT length FROM files WHERE n = ?", (n,)).fetchone()[0]
    size = path.stat().st_size if path.exists() else -1
    if size < committed:
        what = "is missing" if size < 0 else f"has lost its last {committed - size} bytes"
        part.find(RECORDS, f"{name} {what}", _MISSING)
        part.damages.append(Damage(name, max(size, 0)))
    elif size > committed and not running:
        part.note(f"{name}: a crawl was killed and left {size - committed} bytes at its end; the next crawl moves them")
    rows = (_Row(*row) for row in db.execute(_PAGES, (n, part.place)))
    row = next(rows, None)
    for record in read_records(path, part.place, min(size, committed)) if size > 0 else ():
        part.count("records")
        if record.fault:
            part.find(RECORDS, f"{name} at byte {record.offset}: {record.fault}", _REFETCH)
        while row is not None and row.offset < record.offset + record.length:
            if words := _differs(row, record):
                _misplaced(part, name, row.offset, row.seq, row.url, words)
            row = next(rows, None)
        if record.fault:
            part.damages.append(Damage(name, record.offset, record.length))
        part.place = record.offset + record.length
        yield record.length
    while row is not None and size >= committed:
        _misplaced(part, name, row.offset, row.seq, row.url, f"its record is beyond the end of {name}")
        row = next(rows, None)


def verify_places(db: sqlite3.Connection, name: str, part: CheckPart) -> Iterator[int]:
    """Pages whose rows name no archive file at all."""
    for seq, url in db.execute(
        "SELECT p.seq, u.url FROM pages p LEFT JOIN urls u ON u.id = p.id WHERE p.file IS NULL"
        " OR p.file NOT IN (SELECT n FROM files) OR typeof(p.offset) != 'integer' OR p.offset < 0"
    ):
        _misplaced(part, f"{name.partition('.')[0]}-", 0, seq, url, f"it names no archive file of {name}")
    yield 0


def _misplaced(part: CheckPart, file: str, offset: int, page: int, url: str | None, words: str) -> None:
    part.find(PLACES, f"{url or f'page row {page}'}: {words}", _REFETCH)
    part.damages.append(Damage(file, offset, 0, page))


def _differs(row: _Row, record: ScannedRecord) -> str:
    """How a page's row and the record at its place do not agree."""
    if record.fault:
        return "its archived record is damaged"
    if (row.offset, row.length) != (record.offset, record.length):
        return "no record begins where its row says"
    if record.headers.get("warc-type") not in _KINDS:
        return "there is no response where its row says"
    if row.url is not None and record.url != row.url:
        return f"its row names the record of {record.url}"
    if record.headers.get("warc-payload-digest") != row.digest:
        return "its row has another digest than its record"
    return ""


# --- verify rows -----------------------------------------------------------------------------------------------------
# Checks of what the rows of a shard say: the invariants of the states of URLs, of pages, counts and messages.
#
# They are data: a query that gives what is wrong, in words, and the statements that repair it. To check a new table,
# add to `CHECKS`; a check whose table is not there yet (`needs`) is left out.


_BAD_VALUE = (BAD_ZLIB, UnicodeDecodeError, msgspec.DecodeError, TypeError, ValueError)
_EVERY = 10_000  # rows between two looks at the clock
UNREAD_AGAIN = "its text is read again from its archived record at the next crawl"


class Check(msgspec.Struct, frozen=True):
    """A rule for rows: `wrong` gives a sentence for each that breaks it, `cure` are statements that repair those."""

    kind: str
    wrong: str
    repair: str
    cure: tuple[str, ...]
    needs: str = "urls"


_NO_PAGE = "NOT EXISTS (SELECT 1 FROM pages p WHERE p.seq = urls.page)"
_QUEUE = "UPDATE urls SET state = 0, cold = 0, tries = 0, hops = 0, page = NULL, elsewhere = NULL, reason = NULL"
_QUEUED = "it is queued to be fetched again"


def _state(where: str, words: str, cure: str = _QUEUE, repair: str = _QUEUED) -> Check:
    return Check("URL states", f"SELECT url||' {words}' FROM urls WHERE {where}", repair, (f"{cure} WHERE {where}",))


CHECKS: tuple[Check, ...] = (
    _state("state NOT BETWEEN 0 AND 5 OR typeof(state) != 'integer'", "is in no known state"),
    _state(f"state = 2 AND (page IS NULL OR {_NO_PAGE})", "is done and has no page"),
    _state(f"state != 2 AND page IS NOT NULL AND {_NO_PAGE}", "names a page that is not there"),
    _state("state = 5 AND elsewhere IS NULL", "stands elsewhere, and nobody knows where"),
    _state("state IN (3, 4) AND reason IS NULL", "was given up without a reason"),
    _state("state != 0 AND cold != 0", "waits outside memory and is not queued",
           "UPDATE urls SET cold = 0", "it is no longer marked so"),
    _state("typeof(priority) NOT IN ('real', 'integer') OR n < 1", "has no priority or number",
           "UPDATE urls SET priority = 0.5", "it gets an ordinary priority"),
    _state("topic < -2 OR topic >= max(:topics, 1)", "is of a topic that there is not",
           "UPDATE urls SET topic = -1", "it is of no topic until it is judged"),
    Check(
        "page rows",
        "SELECT 'page row '||seq||' is of no URL' FROM pages WHERE id NOT IN (SELECT id FROM urls)",
        "the row is put into archive/quarantine, and the URL is queued if its record names it",
        (),  # store/repair.py: rows are never thrown away
        "pages",
    ),
    Check(
        "page rows",
        "SELECT u.url||' has page rows '||p.seq||' and '||coalesce(u.page, 'none') FROM pages p JOIN urls u ON"
        " u.id = p.id WHERE u.page IS NOT p.seq",
        "the URL gets the row if it has no other; else the row is put into archive/quarantine",
        (("UPDATE urls SET page = p.seq, state = CASE WHEN p.duplicate_of IS NULL THEN 2 ELSE 5 END,"
         " elsewhere = p.duplicate_of, reason = CASE WHEN p.duplicate_of IS NOT NULL THEN 'duplicate' END FROM pages p"
         " WHERE p.id = urls.id AND (urls.page IS NULL OR urls.page NOT IN (SELECT seq FROM pages))"),),
        "pages",
    ),
    Check(
        "page rows",
        "SELECT 'page row '||seq||' has topic '||topic||', confidence '||coalesce(confidence, 'none') FROM pages WHERE"
        " topic < -1 OR topic >= max(:topics, 1) OR confidence NOT BETWEEN 0 AND 1.0000001",
        "the page is judged again at the next crawl",
        (("UPDATE pages SET topic = -1, confidence = 0, topics = NULL, model = '' WHERE topic < -1"
         " OR topic >= max(:topics, 1) OR confidence NOT BETWEEN 0 AND 1.0000001"),),
        "pages",
    ),
    Check(
        "counts",
        "SELECT 'topic '||topic||': '||sum(n)||' URLs are queued, counted were '||sum(counted) FROM (SELECT topic,"
        " count(*) n, 0 counted FROM urls WHERE state = 0 GROUP BY topic UNION ALL"
        " SELECT cast(key AS INTEGER), 0, value FROM json_each((SELECT cast(value AS TEXT) FROM meta"
        f" WHERE key = '{MetaKey.QUEUED}'))) GROUP BY topic HAVING sum(n) != sum(counted)",
        "they are counted again",
        ((f"INSERT OR REPLACE INTO meta SELECT '{MetaKey.QUEUED}',"
         " cast(json_group_object(cast(topic AS TEXT), n) AS BLOB)"
         " FROM (SELECT topic, count(*) n FROM urls WHERE state = 0 GROUP BY topic)"),),
    ),
    Check(
        "messages between partitions",
        "SELECT 'messages to partition '||dest||' have gaps or no counter' FROM outbox GROUP BY dest HAVING"
        " max(seq) - min(seq) + 1 != count(*) OR max(seq) > coalesce((SELECT value FROM meta WHERE key ="
        f" '{MetaKey.POSTED}'||dest), 0)",
        "they are numbered again",
        (),  # store/repair.py: the receiver's mark is in another file
        "outbox",
    ),
)  # fmt: skip


def present(db: sqlite3.Connection) -> list[Check]:
    """The checks whose tables are there."""
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return [check for check in CHECKS if check.needs in there]


def archive_files(path: Path) -> list[tuple[int, str]]:
    """The archive files that a shard has committed: number and name."""
    with contextlib.closing(connect(path, readonly=True)) as db:
        return db.execute("SELECT n, name FROM files ORDER BY n").fetchall()


def verify_rows(
    db: sqlite3.Connection, name: str, me: int, partitions: int, topics: int, running: bool, part: CheckPart
) -> Iterator[int]:
    """All rows of a shard; `running`: a crawl holds it, so leases are as they should be."""
    for check in present(db):
        for (words,) in db.execute(check.wrong, {"topics": topics}):
            part.find(check.kind, f"{name}: {words}", check.repair)
        yield 0
    leased = db.execute("SELECT count(*) FROM urls WHERE state = 1").fetchone()[0]
    if leased and not running:
        part.note(f"{name}: {leased} URLs were being fetched when a crawl was killed; the next crawl queues them again")
    yield from _urls(db, name, me, partitions, part)
    yield from _pages(db, name, part)


BAD_WORDS = "has words of a link that cannot be read"


def bad_urls(db: sqlite3.Connection) -> Iterator[tuple[int, str, str, str]]:
    """Rows of URLs whose id or host is not that of their URL: number, URL, host, what is wrong ("" if nothing)."""
    for n, id, url, host, *words in db.execute(
        "SELECT u.n, u.id, u.url, h.name, cast(u.anchor AS BLOB), cast(u.context AS BLOB)"
        " FROM urls u LEFT JOIN hosts h ON h.n = u.host ORDER BY u.n"
    ):
        fault = "" if all(one is None or _reads(bytes.decode, one) for one in words) else BAD_WORDS
        if not isinstance(url, str) or ":" not in url or url_id(url) != id:
            fault = "does not have the id of its URL"
        elif host is None or url.split("/", 3)[2] != host:
            fault = "has a host that is not that of its URL"
        yield n, url, host or "", fault


def _urls(db: sqlite3.Connection, name: str, me: int, partitions: int, part: CheckPart) -> Iterator[int]:
    count, own = 0, dict[str, bool]()
    for count, (n, url, host, fault) in enumerate(bad_urls(db), 1):
        if fault:
            part.find("URLs", f"{name}: row {n} ({url}) {fault}", "the URL is queued under its own id and host")
        elif not own.setdefault(host, partition_of(host, partitions) == me):
            part.find("URLs", f"{name}: {url} belongs to another partition")
        if count % _EVERY == 0:
            own.clear()
            yield 0
    part.count("URLs", count)


def _unpacked(packed: bytes) -> object:
    return isal_zlib.decompress(packed).decode()


_VALUES: dict[str, Callable[[bytes], object]] = {
    "text": _unpacked,
    "anchors": _unpacked,
    "topics": unpack_topics,
    "links": lambda packed: memoryview(packed).cast("q"),
    "title": bytes.decode,
    "author": bytes.decode,
    "headings": bytes.decode,
}


def unreadable(db: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    """Every page row with what of it cannot be read; "" where all can."""
    names = ", ".join(f"cast({name} AS BLOB)" for name in _VALUES)
    for seq, *values in db.execute(f"SELECT seq, {names} FROM pages"):
        rows = zip(_VALUES.items(), values, strict=True)
        yield seq, next((name for (name, read), one in rows if one is not None and not _reads(read, one)), "")


def _reads(read: Callable[[bytes], object], packed: bytes) -> bool:
    try:
        read(packed)
    except _BAD_VALUE:
        return False
    return True


def _pages(db: sqlite3.Connection, name: str, part: CheckPart) -> Iterator[int]:
    count = 0
    for count, (seq, what) in enumerate(unreadable(db), 1):
        if what:
            part.find("page rows", f"{name}: the {what} of page row {seq} cannot be read", UNREAD_AGAIN)
        if count % 1000 == 0:
            yield 0
    part.count("pages", count)
