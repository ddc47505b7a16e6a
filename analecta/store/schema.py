"""All tables, indexes and meta keys of a library's SQLite files, the flags of pages, and how values are packed."""

import msgspec
import numpy as np
from isal import isal_zlib

from analecta.arrays import Ints
from analecta.model import Verdict

SCHEMA = 3  # 2: pages have author and date; 3: journal, notes and history have primary keys
OLDEST_SCHEMA = 2  # that can be read, and upgraded (store/migrations.py)


class MetaKey:
    """Keys of the meta tables; those that end with a space or a hyphen are the beginnings of keys."""

    SCHEMA = "schema"  # of every file: the version of its tables

    # library.db
    PARTITIONS = "partitions"  # how many shards there are
    MODEL = "model"  # the name of the model in use
    TAUGHT = "taught"  # a digest of what it learned from
    LESSON_WANTED = "lesson_wanted"  # when somebody asked a running crawl to learn
    RETRAINED = "retrained"  # the retrainings that can be undone
    RECLASSIFYING = "reclassifying"  # what a retraining has left to do
    SPLITS = "splits"  # the topics that were split and can be put together again
    SITE_EDITS = "site_edits"  # what a person said about sites
    MOVED_SITES = "moved_sites"  # sites that a crawl found to be part of others
    DEMO = "demo"  # the library was made by `analecta demo`, which may remove it

    # shards
    SHARD = "shard"  # the random id that library.db lists
    QUEUED = "queued"  # how many URLs of each topic are queued
    COURSE = "course"  # the crawl phase for which priorities were computed
    SCOPE = "scope"  # a digest of the scope for which URLs were refused
    TWINS = "twins"  # up to which page copies in other partitions were looked for
    MEMORY = "memory"  # figures of the memory budget
    AGAIN = "again "  # and an outcome: how many pages that were asked for again came to it
    POSTED = "posted-"  # and a partition: the number of the last message to it
    BEGUN = "begun-"  # and a partition: the number of the last message that it may have been sent

    # oai.db
    OAI_VERSION = "version"
    OAI_KEY = "key"  # signs resumption tokens
    OAI_BEGAN = "began"
    OAI_REPOSITORY = "repository"
    OAI_CLOCK = "clock"  # the latest datestamp that was told


# --- pages.flags -----------------------------------------------------------------------------------------------------

NOINDEX, NOFOLLOW, NOARCHIVE, SOFT404, UNREAD = 1, 2, 4, 8, 16
# Of pages p and their URLs u: what may be shown. It stands for its URL now, is no copy, and says no noindex.
SHOWABLE = f"p.status = 200 AND p.duplicate_of IS NULL AND p.flags & {NOINDEX | SOFT404} = 0"
SHOWN = f"u.page = p.seq AND {SHOWABLE}"

# --- a shard ---------------------------------------------------------------------------------------------------------

_META = "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
_JOURNAL = "CREATE TABLE journal (n INTEGER PRIMARY KEY, at REAL NOT NULL, event TEXT NOT NULL)"
_SHARD = f"""{_META}
CREATE TABLE hosts (
  n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, delay REAL, wait_until REAL, pages INTEGER NOT NULL DEFAULT 0,
  reserved TEXT, soft404 INTEGER);
CREATE TABLE robots (origin TEXT PRIMARY KEY, fetched_at REAL NOT NULL, status INTEGER NOT NULL, body BLOB NOT NULL)
  WITHOUT ROWID;
CREATE TABLE urls (
  n INTEGER PRIMARY KEY, id INTEGER NOT NULL, url TEXT NOT NULL, host INTEGER NOT NULL,
  state INTEGER NOT NULL, cold INTEGER NOT NULL DEFAULT 0, priority REAL NOT NULL, topic INTEGER NOT NULL,
  depth INTEGER NOT NULL, parent INTEGER NOT NULL, found INTEGER NOT NULL, astray INTEGER NOT NULL,
  hops INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, crashes INTEGER NOT NULL DEFAULT 0,
  page INTEGER, elsewhere INTEGER, reason TEXT, detail TEXT, anchor TEXT, context TEXT);
CREATE UNIQUE INDEX urls_id ON urls (id);
CREATE INDEX urls_cold ON urls (host, priority DESC, n) WHERE cold = 1;
CREATE INDEX urls_shunned ON urls (id) WHERE reason IN ('nofollow', 'shunned');
CREATE INDEX urls_open ON urls (n) WHERE state < 2 AND cold = 0;
CREATE TABLE pages (
  seq INTEGER PRIMARY KEY, id INTEGER NOT NULL, kept_at REAL NOT NULL, fetched_at REAL NOT NULL, took REAL,
  status INTEGER NOT NULL, mime TEXT, charset TEXT, lang TEXT, title TEXT, author TEXT, date TEXT, size INTEGER,
  digest TEXT, body INTEGER, simhash INTEGER, words INTEGER, duplicate_of INTEGER, flags INTEGER NOT NULL DEFAULT 0,
  limits TEXT, truncated TEXT, reserved TEXT, canonical TEXT, etag TEXT, modified TEXT, file INTEGER, offset INTEGER,
  length INTEGER, topic INTEGER NOT NULL DEFAULT -1, confidence REAL, topics BLOB, model TEXT, headings TEXT,
  links BLOB, anchors BLOB, text BLOB);
CREATE INDEX pages_body ON pages (body);
CREATE INDEX pages_unread ON pages (seq) WHERE flags & {UNREAD};
CREATE TABLE files (n INTEGER PRIMARY KEY, name TEXT NOT NULL, length INTEGER NOT NULL);
CREATE TABLE outbox (dest INTEGER, seq INTEGER, letter BLOB NOT NULL, PRIMARY KEY (dest, seq)) WITHOUT ROWID;
CREATE TABLE inbox (source INTEGER PRIMARY KEY, watermark INTEGER NOT NULL);
{_JOURNAL};
"""
HOST_GIVEN_UP = "reason IN ('bad-host', 'busy-host', 'robots-unreachable') AND state = 3"
# Came after the first libraries were made: a shard gets them when it is next written to.
DEMOTED_INDEX = "CREATE INDEX IF NOT EXISTS urls_demoted ON urls (host) WHERE state = 0 AND priority < 0"
GIVEN_UP_INDEX = f"CREATE INDEX IF NOT EXISTS urls_of_given_up ON urls (n) WHERE {HOST_GIVEN_UP}"
# Where these are, a crawl has counted links between sites, or has gone from site to site.
SITES_TABLE = """CREATE TABLE IF NOT EXISTS sites (
  n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, pages INTEGER NOT NULL DEFAULT 0)"""
SITE_LINKS_TABLE = """CREATE TABLE IF NOT EXISTS site_links (
  src INTEGER, dst INTEGER, n INTEGER NOT NULL, PRIMARY KEY (src, dst)) WITHOUT ROWID"""
SITE_URLS_TABLE = """CREATE TABLE IF NOT EXISTS site_urls (
  unit INTEGER, let_go INTEGER, rank REAL, id INTEGER, PRIMARY KEY (unit, let_go, rank, id)) WITHOUT ROWID"""

# --- library.db ------------------------------------------------------------------------------------------------------

_NOTES = "CREATE TABLE notes (n INTEGER PRIMARY KEY, at REAL NOT NULL, note TEXT NOT NULL)"
_LIBRARY = f"""{_META}
CREATE TABLE topics (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE runs (
  n INTEGER PRIMARY KEY, began REAL NOT NULL, ended REAL, reason TEXT, asked TEXT NOT NULL, tally TEXT);
CREATE TABLE models (hash TEXT PRIMARY KEY, made_at REAL NOT NULL, kind TEXT NOT NULL, about TEXT NOT NULL);
{_NOTES};
"""
# Came after the first libraries were made: these are added when they are first written to.
HISTORY_TABLE = """CREATE TABLE IF NOT EXISTS history (
  n INTEGER PRIMARY KEY, run INTEGER NOT NULL, at REAL NOT NULL, pages INTEGER NOT NULL, topic INTEGER NOT NULL,
  items INTEGER NOT NULL, least REAL NOT NULL, mean REAL NOT NULL, most REAL NOT NULL)"""
FEEDBACK_TABLE = """CREATE TABLE IF NOT EXISTS feedback (
  n INTEGER PRIMARY KEY, at REAL NOT NULL, step INTEGER NOT NULL, page INTEGER NOT NULL, url TEXT NOT NULL,
  says TEXT NOT NULL, topic TEXT NOT NULL, away INTEGER NOT NULL, note TEXT NOT NULL, text TEXT NOT NULL)"""
FEEDBACK_TEXT_COLUMN = "ALTER TABLE feedback ADD COLUMN text TEXT NOT NULL DEFAULT ''"
CRAWLED_SITES_TABLE = """CREATE TABLE IF NOT EXISTS crawled_sites (
  n INTEGER PRIMARY KEY, site TEXT NOT NULL UNIQUE, most INTEGER NOT NULL)"""
SHARDS_TABLE = "CREATE TABLE IF NOT EXISTS shards (name TEXT PRIMARY KEY, id TEXT NOT NULL, made INTEGER NOT NULL)"

_VERSION = f"INSERT INTO meta VALUES ('{MetaKey.SCHEMA}', {SCHEMA});"
SHARD_SQL = f"{_SHARD} {_VERSION}"
LIBRARY_SQL = f"{_LIBRARY} {HISTORY_TABLE}; {_VERSION}"

# --- oai.db ----------------------------------------------------------------------------------------------------------

OAI_VERSION = 1
OAI_SQL = f"""{_META}
CREATE TABLE sets (n INTEGER PRIMARY KEY, spec TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE records (
  n INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, born INTEGER NOT NULL, stamp INTEGER NOT NULL,
  digest INTEGER NOT NULL, sets TEXT NOT NULL, metadata TEXT);
CREATE INDEX records_stamp ON records (stamp, n);
CREATE INDEX records_live ON records (id, digest) WHERE metadata IS NOT NULL;
CREATE TABLE members (spec TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (spec, n)) WITHOUT ROWID;
"""

# --- the catalogue of archived records, a temporary file (store/record_index.py) -------------------------------------

CATALOGUE_SQL = """
PRAGMA cache_size = -8000; PRAGMA journal_mode = OFF;
CREATE TABLE files (n INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE records (
  n INTEGER PRIMARY KEY, id INTEGER NOT NULL, revisit INTEGER NOT NULL, date TEXT NOT NULL, digest TEXT NOT NULL,
  refers INTEGER NOT NULL, line TEXT NOT NULL, file INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL,
  whole INTEGER NOT NULL, taken INTEGER NOT NULL DEFAULT 0);
CREATE TABLE places (n INTEGER PRIMARY KEY, name TEXT NOT NULL, offset INTEGER NOT NULL);
CREATE TABLE wanted (id INTEGER PRIMARY KEY);
CREATE TABLE hidden (id INTEGER PRIMARY KEY);
"""
CATALOGUE_INDEXES = """
CREATE INDEX records_revisits ON records (n) WHERE revisit;
CREATE INDEX records_id ON records (id, digest);
CREATE UNIQUE INDEX records_place ON records (file, offset);
"""

# --- packed values ---------------------------------------------------------------------------------------------------

Ids = Ints
unpack_topics = msgspec.msgpack.Decoder(tuple[tuple[int, float], ...]).decode  # (number, confidence), best first


def pack_text(text: str) -> bytes | None:
    """A text as it is kept, compressed, for texts are most of a shard; nothing for an empty one."""
    packed: bytes = isal_zlib.compress(text.encode(), 0)  # a sixth larger than level 1, in half the time
    return packed if text else None


def unpack_text(packed: bytes | None) -> str:
    """The text that was kept."""
    return isal_zlib.decompress(packed).decode() if packed else ""


def unpack_ids(packed: bytes | None) -> Ids:
    """The ids of the URLs that a page links to."""
    return np.frombuffer(packed or b"", np.int64)


def unpacked(topic: int, confidence: float | None, topics: bytes | None) -> Verdict:
    """A verdict as a page row holds it."""
    sure = confidence or 0.0
    several = unpack_topics(topics) if topics else ((topic, sure),) * (topic >= 0)
    return Verdict(topic, sure, several)


def packed_topics(verdict: Verdict) -> bytes | None:
    """The topics of a page as its row holds them: nothing where there is but one."""
    return msgspec.msgpack.encode(verdict.topics) if len(verdict.topics) > 1 else None
