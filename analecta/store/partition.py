"""One partition's SQLite file: its URLs and their states, its pages, its letters to other partitions.

There is one writer, and it works in one long transaction per batch: everything it does is visible to itself at
once and to the world at `commit`, which the engine calls after the archive is flushed. Readers open their own
connections (WAL) and never wait.
"""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from analecta.arrays import Ints
from analecta.model import Candidate, FoundBy, Lease, UrlRef, UrlState
from analecta.store.hosts import HostTable
from analecta.store.schema import DEMOTED_INDEX, GIVEN_UP_INDEX, HOST_GIVEN_UP, SHARD_SQL
from analecta.store.schema import NOARCHIVE as NOARCHIVE
from analecta.store.schema import NOFOLLOW as NOFOLLOW
from analecta.store.schema import NOINDEX as NOINDEX
from analecta.store.schema import SOFT404 as SOFT404
from analecta.store.schema import UNREAD as UNREAD
from analecta.store.sqlite import check_schema, connect, has_table, marks, meta_value

# Of pages and their URLs: on no topic, whatever its words. From a priority on a URL is an example, perhaps of no topic.
_HIDDEN = f"p.flags & {SOFT404 | NOINDEX} OR (u.priority >= ? AND u.topic < 0)"

# A link that nobody let us follow is remembered as refused; a later one that may be followed redeems it.
_ADD_URL = """INSERT INTO urls (n, id, url, host, state, cold, priority, topic, depth, parent, found,
  astray, hops, reason, anchor, context) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state, cold = excluded.cold, priority = excluded.priority,
  topic = excluded.topic, depth = excluded.depth, parent = excluded.parent, found = excluded.found,
  astray = excluded.astray, reason = excluded.reason, anchor = excluded.anchor, context = excluded.context
  WHERE urls.reason IN ('nofollow', 'shunned') AND excluded.state = 0"""


class PageRecord(msgspec.Struct, kw_only=True, gc=False):
    """A row of the table `pages`, but for its number: its columns by name, in the order in which they are written."""

    id: int
    kept_at: float
    fetched_at: float
    took: float | None = None
    status: int
    mime: str | None = None
    charset: str | None = None
    lang: str | None = None
    title: str | None = None
    author: str | None = None
    date: str | None = None
    size: int | None = None
    digest: str | None = None
    body: int | None = None
    simhash: int | None = None
    words: int | None = None
    duplicate_of: int | None = None
    flags: int = 0
    limits: str | None = None
    truncated: str | None = None
    reserved: str | None = None
    canonical: str | None = None
    etag: str | None = None
    modified: str | None = None
    file: int | None = None
    offset: int | None = None
    length: int | None = None
    topic: int = -1
    confidence: float | None = None
    topics: bytes | None = None
    model: str | None = None
    headings: str | None = None
    links: bytes | None = None
    anchors: bytes | None = None
    text: bytes | None = None


_COLUMNS = PageRecord.__struct_fields__
_ADD_PAGE = f"INSERT INTO pages ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"

# A page that was to be asked for again, and is not, stands as it stood.
_STAND = """UPDATE urls SET cold = 0, detail = NULL, elsewhere = coalesce(elsewhere, p.duplicate_of),
  state = CASE WHEN coalesce(elsewhere, p.duplicate_of) IS NULL THEN 2 ELSE 5 END,
  reason = CASE WHEN p.duplicate_of IS NOT NULL THEN 'duplicate' WHEN elsewhere IS NOT NULL THEN reason END
  FROM pages p WHERE p.seq = urls.page AND urls.id = ? AND state = 0 RETURNING topic"""

_PIECE = 100_000  # rows read at a time where there may be millions


class Shard:
    """The writer of one partition's file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = connect(path)
        self.hosts = HostTable(self.db)
        if not has_table(self.db, "meta"):
            # All tables or none, for whoever reads meanwhile and for a start after a kill.
            self.db.executescript(f"BEGIN; {SHARD_SQL} COMMIT;")
        check_schema(self.db, path)
        self.db.execute(GIVEN_UP_INDEX)
        self.db.execute(DEMOTED_INDEX)
        self.db.execute("BEGIN IMMEDIATE")
        self._committed = self.db.total_changes

    # --- the batch -------------------------------------------------------------------------------------------

    @property
    def changed(self) -> bool:
        """Whether there is anything to commit."""
        return self.db.total_changes != self._committed

    def commit(self) -> None:
        """Make all that was done since the last commit true."""
        self.db.execute("COMMIT")
        self.db.execute("BEGIN IMMEDIATE")
        self._committed = self.db.total_changes

    def close(self) -> None:
        """Close; what was not committed did not happen. The write-ahead log is folded into the file."""
        if self.db.in_transaction:  # a full disk ends it by itself
            self.db.execute("ROLLBACK")
        with contextlib.suppress(sqlite3.OperationalError):
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.close()

    # --- URLs: the frontier's ledger -------------------------------------------------------------------------

    def add(self, rows: Iterable[tuple[int, Candidate, UrlState, bool, str]]) -> None:
        """Write new URLs: number, what was found, state, whether cold, and the reason of a refusal."""
        values = ((
            n, c.target.id, c.target.url, self.hosts.number(c.target.host), int(state), cold, c.priority, c.topic,
            c.depth, c.parent, int(c.found_by), c.off_topic_steps, c.redirects, reason or None, c.anchor or None,
            c.context or None,
        ) for n, c, state, cold, reason in rows)  # fmt: skip
        self.db.executemany(_ADD_URL, values)

    def lease(self, ids: Sequence[int], priorities: Sequence[float]) -> list[Lease]:
        """Mark URLs as being fetched, with the priority they have come to; their rows, in the order of `ids`."""
        self.db.executemany(
            "UPDATE urls SET state = 1, tries = tries + 1, priority = ? WHERE id = ?", zip(priorities, ids, strict=True)
        )
        return self.leases_of(ids)

    def leases_of(self, ids: Sequence[int]) -> list[Lease]:
        """The rows of URLs, in the order of `ids`."""
        found = self.db.execute(  # in the order of the fields of Lease
            "SELECT u.n, u.id, u.url, h.name, u.priority, u.topic, u.depth, u.parent, u.found, u.astray, u.hops,"
            " u.tries, coalesce(u.page, 0), coalesce(p.etag, ''), coalesce(p.modified, '')"
            " FROM urls u JOIN hosts h ON h.n = u.host"
            f" LEFT JOIN pages p ON p.seq = u.page WHERE u.id IN ({marks(ids)})",
            ids,
        )
        rows = {row[1]: Lease(*(*row[:8], FoundBy(row[8]), *row[9:])) for row in found}
        return [rows[id] for id in ids]

    def spill(self, rows: Iterable[tuple[float, int]]) -> None:
        """Mark queued URLs (priority, id) as cold: they stay here and leave the frontier's memory."""
        self.db.executemany("UPDATE urls SET cold = 1, priority = ? WHERE id = ?", rows)

    def set_priorities(self, rows: Iterable[tuple[float, int]]) -> None:
        """Write down what queued URLs have come to be worth: (priority, id)."""
        self.db.executemany("UPDATE urls SET priority = ? WHERE id = ?", rows)

    def warm(self, host: str, count: int) -> list[tuple[float, int, int]]:
        """Take the best cold URLs of a host back: (priority, n, id), best first."""
        rows = self.db.execute(
            "SELECT priority, n, id FROM urls WHERE cold = 1 AND host = ? ORDER BY priority DESC, n LIMIT ?",
            (self.hosts.number(host), count),
        ).fetchall()
        self.db.executemany("UPDATE urls SET cold = 0 WHERE n = ?", ((row[1],) for row in rows))
        return rows

    def cold_best(self, host: str) -> float | None:
        """The priority of the best cold URL of a host."""
        row = self.db.execute(
            "SELECT priority FROM urls WHERE cold = 1 AND host = ? ORDER BY priority DESC LIMIT 1",
            (self.hosts.number(host),),
        ).fetchone()
        return float(row[0]) if row else None

    def reprioritise(self, ids: Iterable[int], priority: float) -> list[tuple[int, int]]:
        """Give queued URLs a new priority: their (id, n)."""
        change = "UPDATE urls SET priority = ? WHERE id = ? RETURNING id, n"
        return [self.db.execute(change, (priority, id)).fetchone() for id in ids]

    def promote(self, ids: Iterable[int], priority: float) -> list[tuple[int, int]]:
        """Take demoted URLs that are queued back among the others: their (id, n)."""
        change = (
            "UPDATE urls SET priority = ?, cold = 0, reason = NULL WHERE id = ? AND state = 0 AND priority < 0"
            " RETURNING id, n"
        )
        return [row for id in ids if (row := self.db.execute(change, (priority, id)).fetchone())]

    def demoted(self, host: str) -> list[UrlRef]:
        """The queued URLs of a host that are demoted; not too many at once."""
        query = "SELECT url, id FROM urls WHERE host = ? AND state = 0 AND priority < 0 LIMIT 20000"
        return [UrlRef(url, id, host) for url, id in self.db.execute(query, (self.hosts.number(host),))]

    def worst(self, topic: int, count: int) -> list[int]:
        """The ids of the worst queued URLs of a topic."""
        query = "SELECT id FROM urls WHERE state = 0 AND topic = ? ORDER BY priority, n DESC LIMIT ?"
        return [id for (id,) in self.db.execute(query, (topic, count))]

    def settle(
        self, id: int, state: UrlState, reason: str = "", detail: str = "", elsewhere: int = 0, tries: int | None = None
    ) -> None:
        """Write the end of a URL's life (or its return to the queue)."""
        self.db.execute(
            "UPDATE urls SET state = ?, cold = 0, reason = ?, detail = ?, elsewhere = ?, tries = coalesce(?, tries)"
            " WHERE id = ?",
            (int(state), reason or None, detail or None, elsewhere or None, tries, id),
        )

    def rename(self, id: int, url: str, hops: int) -> None:
        """Ask for the same page by another way (http or https) from now on."""
        self.db.execute("UPDATE urls SET url = ?, hops = ? WHERE id = ?", (url, hops, id))

    def settle_queued(self, ids: Sequence[int], state: UrlState, reason: str, detail: str = "") -> dict[int, int]:
        """Settle queued URLs alike, but such as have a page stand as they stood; how many of each topic."""
        settle = (
            "UPDATE urls SET state = ?, cold = 0, reason = ?, detail = ? WHERE id = ? AND state = 0 AND page IS NULL"
            " RETURNING topic"
        )
        topics: Counter[int] = Counter()
        for id in ids:
            row = self.db.execute(settle, (int(state), reason, detail or None, id)).fetchone()
            if row := row or self.db.execute(_STAND, (id,)).fetchone():
                topics[row[0]] += 1
        return topics

    # --- what a start needs ----------------------------------------------------------------------------------

    def release_leases(self, culprit: int, poison_after: int) -> Counter[int]:
        """Put leased URLs back (how many of each topic); count a crash against `culprit`, poison it after too many."""
        if culprit:
            self.db.execute("UPDATE urls SET crashes = crashes + 1 WHERE id = ? AND state < 2", (culprit,))
            self.db.execute(
                "UPDATE urls SET state = ?, cold = 0, reason = 'poison', detail = 'ended the process '||crashes||"
                "' times' WHERE id = ? AND state = 1 AND crashes >= ?",
                (int(UrlState.FAILED), culprit, poison_after),
            )
        rows = self.db.execute(
            "UPDATE urls INDEXED BY urls_open SET state = 0, tries = max(tries - 1, 0)"
            " WHERE state < 2 AND cold = 0 AND state = 1 RETURNING topic"
        ).fetchall()
        return Counter(topic for (topic,) in rows)

    def try_hosts_again(self) -> Counter[int]:
        """Queue again what was given up with its host: that was for one run; how many of each topic."""
        rows = self.db.execute(
            "UPDATE urls INDEXED BY urls_of_given_up SET state = 0, tries = 0, reason = NULL, detail = NULL"
            f" WHERE {HOST_GIVEN_UP} RETURNING topic"
        ).fetchall()
        return Counter(topic for (topic,) in rows)

    def ask_again(self, before: float) -> Counter[int]:
        """Queue again the pages that were fetched before a time, gone ones too; how many of each topic."""
        rows = self.db.execute(
            "UPDATE urls SET state = 0, tries = 0, hops = 0 WHERE state >= 2 AND reason IS NOT 'poison' AND page IN"
            " (SELECT seq FROM pages WHERE max(fetched_at, kept_at) < ?) RETURNING topic",
            (before,),
        ).fetchall()
        return Counter(topic for (topic,) in rows)

    def seen_ids(self) -> Iterator[Ints]:
        """The ids of all URLs that were met as ones to fetch, for the sieve; in pieces, to save memory."""
        shunned = self.db.execute(
            "SELECT id FROM urls INDEXED BY urls_shunned WHERE reason IN ('nofollow', 'shunned')"
        ).fetchall()
        known = np.array(shunned, np.int64).ravel()
        rows = self.db.execute("SELECT id FROM urls INDEXED BY urls_id")
        while piece := rows.fetchmany(_PIECE):
            ids = np.fromiter((id for (id,) in piece), np.int64, len(piece))
            yield ids[~np.isin(ids, known)] if len(known) else ids

    def last_n(self) -> int:
        """The highest number given to a URL; rows are never deleted."""
        return int(self.db.execute("SELECT coalesce(max(n), 0) FROM urls").fetchone()[0])

    def hot_rows(self) -> sqlite3.Cursor:
        """Queued URLs that belong into memory: (priority, n, id, host name)."""
        return self.db.execute(
            "SELECT u.priority, u.n, u.id, h.name FROM urls u INDEXED BY urls_open JOIN hosts h ON h.n = u.host"
            " WHERE u.state < 2 AND u.cold = 0 ORDER BY u.n"
        )

    def cold_hosts(self) -> list[tuple[str, float]]:
        """Hosts that have cold URLs, with the best priority among them: by skipping through the index."""
        return self.db.execute(
            "WITH RECURSIVE next(host) AS (SELECT min(host) FROM urls INDEXED BY urls_cold WHERE cold = 1"
            " UNION ALL SELECT (SELECT min(host) FROM urls INDEXED BY urls_cold WHERE cold = 1 AND host > next.host)"
            " FROM next WHERE next.host IS NOT NULL)"
            " SELECT h.name, (SELECT priority FROM urls u WHERE u.cold = 1 AND u.host = next.host"
            " ORDER BY priority DESC LIMIT 1) FROM next JOIN hosts h ON h.n = next.host"
        ).fetchall()

    # --- pages -----------------------------------------------------------------------------------------------

    def add_page(self, record: PageRecord, state: UrlState, elsewhere: int, old: int) -> int:
        """Write a page row and settle its URL; a page fetched again takes the place of the `old` row."""
        seq = self.db.execute(_ADD_PAGE, msgspec.structs.astuple(record)).lastrowid
        if old:
            self.db.execute("DELETE FROM pages WHERE seq = ?", (old,))
        self.db.execute(
            "UPDATE urls SET state = ?, page = ?, elsewhere = ?, reason = ?, detail = NULL WHERE id = ?",
            (int(state), seq, elsewhere or None, "duplicate" if elsewhere else None, record.id),
        )
        return int(seq or 0)

    def page_of(self, id: int) -> tuple[str, float, str] | None:
        """The page we have of a URL: (url, fetched_at, digest)."""
        query = "SELECT u.url, p.fetched_at, p.digest FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?"
        row: tuple[str, float, str] | None = self.db.execute(query, (id,)).fetchone()
        return row

    def standing(self, seq: int) -> tuple[str, float, int]:
        """Of a page, by the number of its row: its digest, when it was last there, and of which it is a copy (or 0)."""
        query = "SELECT digest, max(fetched_at, kept_at), coalesce(duplicate_of, 0) FROM pages WHERE seq = ?"
        digest, when, twin = self.db.execute(query, (seq,)).fetchone()
        return digest, when, twin

    def still_stands(self, id: int, when: float) -> None:
        """A page was asked for again and has not changed."""
        self.db.execute("UPDATE pages SET kept_at = ? WHERE seq = (SELECT page FROM urls WHERE id = ?)", (when, id))

    def url_of(self, id: int) -> str | None:
        """The URL with this id, if it is in this shard."""
        row = self.db.execute("SELECT url FROM urls WHERE id = ?", (id,)).fetchone()
        return row[0] if row else None

    def fingerprints(self) -> sqlite3.Cursor:
        """Fingerprint and id of every page that stands for itself."""
        return self.db.execute("SELECT simhash, id FROM pages WHERE duplicate_of IS NULL ORDER BY seq")

    def unjudged(self, example: float) -> list[tuple[int, bytes, bool]]:
        """Pages that were kept before there was a model: (seq, packed text, on no topic); `example` as below."""
        rows = self.db.execute(
            f"SELECT p.seq, p.text, {_HIDDEN} FROM pages p JOIN urls u ON u.id = p.id WHERE p.model = ''"
            " ORDER BY p.seq",
            (example,),
        )
        return [(seq, text, bool(hidden)) for seq, text, hidden in rows]

    def last_pages(self, count: int, example: float) -> list[tuple[int, int, float, bytes, bytes, bool]]:
        """The pages kept last, oldest first: (seq, id, confidence, packed text, link ids, on no topic).

        From the priority `example` on a URL is an example; one of no topic is on none, whatever its words.
        """
        rows = self.db.execute(
            f"SELECT p.seq, p.id, p.confidence, p.text, p.links, {_HIDDEN}"
            " FROM pages p JOIN urls u ON u.id = p.id WHERE p.text IS NOT NULL ORDER BY p.seq DESC LIMIT ?",
            (example, count),
        ).fetchall()
        return [(*row[:5], bool(row[5])) for row in rows[::-1]]

    def unread(self) -> list[int]:
        """Documents that wait to be read, by the numbers of their rows."""
        return [seq for (seq,) in self.db.execute(f"SELECT seq FROM pages WHERE flags & {UNREAD} ORDER BY seq")]

    def unread_page(self, seq: int) -> tuple[Lease, int, int, int, str] | None:
        """Such a document: how it was come by, where it is in the archive (file, offset, length), and its type."""
        query = f"SELECT id, file, offset, length, mime FROM pages WHERE seq = ? AND flags & {UNREAD}"
        found = self.db.execute(query, (seq,)).fetchone()
        return (self.leases_of([found[0]])[0], *found[1:]) if found else None

    def set_read(self, seq: int, values: dict[str, Any], flags: int) -> None:
        """Write what was read of it, and its flags but UNREAD."""
        names = ", ".join(f"{name} = ?" for name in values)
        self.db.execute(f"UPDATE pages SET {names}, flags = ? WHERE seq = ?", (*values.values(), flags, seq))

    def copy_of(self, id: int) -> int:
        """The page that the page at a URL is a copy of; 0 where it is none, or is not here."""
        query = "SELECT p.duplicate_of FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?"
        row = self.db.execute(query, (id,)).fetchone()
        return (row and row[0]) or 0

    def set_copy(self, id: int, original: int) -> None:
        """Let a URL that is done, and not queued again, be a copy of another; so are pages with the same body then."""
        self.db.execute(
            "UPDATE urls SET state = ?, elsewhere = ?, reason = 'duplicate' WHERE id = ? AND state = ?",
            (int(UrlState.ALIAS), original, id, int(UrlState.DONE)),
        )
        same = "SELECT p.body FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?"
        copies = self.db.execute(
            f"UPDATE pages SET duplicate_of = ? WHERE body = ({same}) AND duplicate_of = ? RETURNING id",
            (original, id, id),
        ).fetchall()
        change = "UPDATE urls SET elsewhere = ? WHERE id = ? AND elsewhere = ?"
        self.db.executemany(change, [(original, copy, id) for (copy,) in copies])

    def verdict_of(self, id: int) -> tuple[int, float, bytes | None] | None:
        """What was said of the page at a URL: topic, confidence and packed topics; None where it is not here."""
        row: tuple[int, float, bytes | None] | None = self.db.execute(
            "SELECT p.topic, p.confidence, p.topics FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?", (id,)
        ).fetchone()
        return row

    def links_of(self, id: int) -> bytes:
        """The packed ids that a page links to; empty where the page is not here."""
        row = self.db.execute(
            "SELECT p.links FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?", (id,)
        ).fetchone()
        return (row and row[0]) or b""

    def anchors(self, ids: Sequence[int]) -> list[str]:
        """The anchor texts by which URLs were found, in order."""
        rows = (self.db.execute("SELECT anchor FROM urls WHERE id = ?", (id,)).fetchone() for id in ids)
        return [(row and row[0]) or "" for row in rows]

    def texts(self, ids: Sequence[int]) -> list[bytes | None]:
        """The packed texts of pages, in order; None where there is none here."""
        query = "SELECT p.text FROM urls u JOIN pages p ON p.seq = u.page WHERE u.id = ?"
        rows = (self.db.execute(query, (id,)).fetchone() for id in ids)
        return [row[0] if row else None for row in rows]

    def last_contexts(self, count: int) -> list[tuple[int, str]]:
        """Words around the links found last: (id of the target, text)."""
        return self.db.execute(
            "SELECT id, context FROM urls WHERE context != '' ORDER BY n DESC LIMIT ?", (count,)
        ).fetchall()

    def set_verdict(self, seq: int, topic: int, confidence: float, topics: bytes | None, model: str | None) -> None:
        """Write what a judge says of a page."""
        self.db.execute(
            "UPDATE pages SET topic = ?, confidence = ?, topics = ?, model = ? WHERE seq = ?",
            (topic, confidence, topics, model, seq),
        )

    def set_soft404(self, host: str, fingerprint: int) -> None:
        """Remember how a host answers for what it does not have, and mark its pages that look so."""
        number = self.hosts.number(host)
        self.db.execute("UPDATE hosts SET soft404 = ? WHERE n = ?", (fingerprint, number))
        rows = self.db.execute(
            "SELECT p.seq, p.simhash FROM pages p JOIN urls u ON u.id = p.id WHERE u.host = ?", (number,)
        ).fetchall()
        alike = [(SOFT404, seq) for seq, simhash in rows if simhash and (simhash ^ fingerprint).bit_count() <= 3]
        self.db.executemany("UPDATE pages SET flags = flags | ?, topic = -1, topics = NULL WHERE seq = ?", alike)

    def page_with_body(self, body: int) -> tuple[int, str, float, str] | None:
        """The first page whose body has this hash: (id, url, fetched_at, digest)."""
        row: tuple[int, str, float, str] | None = self.db.execute(
            "SELECT p.id, u.url, p.fetched_at, p.digest FROM pages p JOIN urls u ON u.id = p.id"
            " WHERE p.body = ? AND p.duplicate_of IS NULL ORDER BY p.seq LIMIT 1",
            (body,),
        ).fetchone()
        return row

    # --- the archive -----------------------------------------------------------------------------------------

    def files(self) -> list[tuple[int, str, int]]:
        """Archive files with their committed lengths."""
        return self.db.execute("SELECT n, name, length FROM files ORDER BY n").fetchall()

    def set_file(self, n: int, name: str, length: int) -> None:
        """Record how much of an archive file is committed."""
        self.db.execute(
            "INSERT INTO files VALUES (?, ?, ?) ON CONFLICT (n) DO UPDATE SET length = excluded.length",
            (n, name, length),
        )

    def forget_records(self, file: int, kept: int) -> list[tuple[int, int]]:
        """Queue again the pages whose records were lost at the end of an archive file: (id, topic)."""
        rows = self.db.execute(
            "SELECT u.id, u.topic, u.state FROM pages p JOIN urls u ON u.id = p.id"
            " WHERE p.file = ? AND p.offset + p.length > ?",
            (file, kept),
        ).fetchall()
        ids = [(id,) for id, _, _ in rows]
        self.db.executemany("DELETE FROM pages WHERE seq = (SELECT page FROM urls WHERE id = ?)", ids)
        self.db.executemany("UPDATE urls SET state = 0, page = NULL, elsewhere = NULL, reason = NULL WHERE id = ?", ids)
        return [(id, topic) for id, topic, state in rows if state != UrlState.QUEUED]

    # --- small things ----------------------------------------------------------------------------------------

    def get(self, key: str, default: Any = None) -> Any:
        """A value from the meta table."""
        return meta_value(self.db, key, default)

    def put(self, key: str, value: Any) -> None:
        """Set a value in the meta table."""
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def note(self, at: float, event: str) -> None:
        """Write down something a person should be able to find out later."""
        self.db.execute("INSERT INTO journal (at, event) VALUES (?, ?)", (at, event))
