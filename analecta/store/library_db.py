"""What a person says of pages, in the order it was said; and whether a lesson is wanted now. Kept in library.db.

It may be written while a crawl runs: the file is in WAL mode, and a second writer waits its turn.
"""

import sqlite3
import time
from collections.abc import Sequence

import msgspec
import xxhash

from analecta.store.library import Library

# Came after the first libraries were made: it is added to those when somebody first says something, as is `text`.
_TABLE = """CREATE TABLE IF NOT EXISTS feedback (
  n INTEGER PRIMARY KEY, at REAL NOT NULL, step INTEGER NOT NULL, page INTEGER NOT NULL, url TEXT NOT NULL,
  says TEXT NOT NULL, topic TEXT NOT NULL, away INTEGER NOT NULL, note TEXT NOT NULL, text TEXT NOT NULL)"""
_WANTED = "lesson_wanted"  # in meta: when somebody asked for one

MARK = "+"  # in meta "taught" it parts the digest of the examples from that of what was said
GOOD, BAD, DROP = "good", "bad", "drop"


class Word(msgspec.Struct, frozen=True):
    """One thing said of one page.

    "good": it is an example of the topic. "bad": it is not of the topic, or of none where no topic is named; where
    `away` is set, it is an example of what is not meant. "drop": nothing is learnt from it. Where there is a `text`,
    that is learnt from instead of the page's: a person has trimmed it.
    """

    page: int  # its id
    url: str
    says: str
    topic: str = ""
    away: bool = False
    note: str = ""
    text: str = ""
    at: float = 0.0
    step: int = 0  # what was said by one command has one number, and is taken back together


def say(library: Library, words: Sequence[Word], wall: float | None = None) -> list[Word]:
    """Write down what a person says, as one step."""
    now = time.time() if wall is None else wall
    with library.database() as db, db:  # all of it or nothing
        db.execute("BEGIN IMMEDIATE")
        db.execute(_TABLE)
        if "text" not in _columns(db):
            db.execute("ALTER TABLE feedback ADD COLUMN text TEXT NOT NULL DEFAULT ''")
        step = db.execute("SELECT coalesce(max(step), 0) + 1 FROM feedback").fetchone()[0]
        said = [msgspec.structs.replace(word, at=now, step=step) for word in words]
        rows = [(w.at, w.step, w.page, w.url, w.says, w.topic, w.away, w.note, w.text) for w in said]
        db.executemany(
            "INSERT INTO feedback (at, step, page, url, says, topic, away, note, text) VALUES (?,?,?,?,?,?,?,?,?)", rows
        )
    return said


def said(library: Library) -> list[Word]:
    """All that was said and not taken back, oldest first."""
    with library.database(readonly=True) as db:
        if not (columns := _columns(db)):
            return []
        text = "text" if "text" in columns else "''"
        rows = db.execute(f"SELECT page, url, says, topic, away, note, {text}, at, step FROM feedback ORDER BY n")
        return [Word(page, url, says, topic, bool(away), *more) for page, url, says, topic, away, *more in rows]


def take_back(library: Library) -> list[Word]:
    """Take the last step back: what was said by it; nothing where no more is left."""
    words = said(library)
    gone = [word for word in words if word.step == words[-1].step]
    if gone:
        with library.database() as db:
            db.execute("DELETE FROM feedback WHERE step = ?", (gone[0].step,))
    return gone


def mark(words: Sequence[Word]) -> str:
    """A digest of what was said; "" where nothing was."""
    spoken = [(word.page, word.says, word.topic, word.away, *filter(None, [word.text])) for word in words]
    return xxhash.xxh3_64_hexdigest(msgspec.json.encode(spoken)) if spoken else ""


def learnt(library: Library) -> bool:
    """Whether the library's model has learnt from all that was said, and from nothing that was taken back."""
    return str(library.get("taught", "")).partition(MARK)[2] == mark(said(library))


def want_lesson(library: Library, wall: float | None = None) -> None:
    """Ask a crawl that runs to learn now."""
    library.put(_WANTED, time.time() if wall is None else wall)


def lesson_wanted(library: Library) -> float:
    """When somebody asked for a lesson that was not held yet; 0 where nobody did."""
    return float(library.get(_WANTED, 0.0))


def lesson_held(library: Library, wanted: float) -> None:
    """It was held; what was asked for since stays asked for."""
    with library.database() as db:
        db.execute("DELETE FROM meta WHERE key = ? AND value <= ?", (_WANTED, wanted))


def _columns(db: sqlite3.Connection) -> list[str]:
    """What the table has; nothing where it is not there."""
    return [name for (name,) in db.execute("SELECT name FROM pragma_table_info('feedback')")]
