"""Whether a library is whole: WARC files, databases, and the promises that docs/architecture.md makes about URLs."""

import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fastwarc.warc import ArchiveIterator
from warcio.checker import Checker

from analecta.model import UrlState
from analecta.store.archive import RecordPlace, read_record
from analecta.store.library import LibraryFolder
from tests.crawls.driver import rows


def check(library: LibraryFolder, orderly: bool = True) -> None:
    """Everything; `orderly` says that the crawl was not killed, so that no lease may be left."""
    check_warcs(library)
    check_databases(library)
    check_pages(library)
    if orderly:
        assert rows(library, "SELECT url FROM urls WHERE state = ?", int(UrlState.LEASED)) == []


def warcs(library: LibraryFolder) -> list[Path]:
    """The archive files."""
    return sorted(library.archive.glob("*.warc.gz"))


def check_warcs(library: LibraryFolder) -> None:
    """`warcio check`, `gzip -t` and `fastwarc check`: one alone misses some truncations."""
    files = [str(path) for path in warcs(library)]
    assert files
    assert Checker(SimpleNamespace(inputs=files, verbose=False)).process_all() == 0
    subprocess.run(["gzip", "-t", *files], check=True)
    for path in files:
        for record in records(Path(path)):
            assert record.headers.get("WARC-Type") != "response" or record.verify_block_digest()


def check_warcs_by_command(library: LibraryFolder, scripts: Path) -> None:
    """The same by the commands that a person would use."""
    for path in map(str, warcs(library)):
        subprocess.run([scripts / "warcio", "check", path], check=True, capture_output=True)
        subprocess.run([scripts / "fastwarc", "check", "-q", path], check=True, capture_output=True)
        subprocess.run(["gzip", "-t", path], check=True)


def records(path: Path) -> Iterator[Any]:
    """The records of an archive file."""
    with path.open("rb") as file:
        yield from ArchiveIterator(file, parse_http=False)


def headers(library: LibraryFolder, kind: str = "response") -> list[dict[str, str]]:
    """The WARC headers of all records of one type."""
    found = [dict(record.headers) for path in warcs(library) for record in records(path)]
    return [fields for fields in found if fields["WARC-Type"] == kind]


def check_databases(library: LibraryFolder) -> None:
    """SQLite's own check of each file."""
    for path in (library.folder / "library.db", *sorted((library.folder / "shards").glob("*.db"))):
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], path


def check_pages(library: LibraryFolder) -> None:
    """No page twice; `done` has a page; a page's record is where it says, and about its URL."""
    found = rows(
        library,
        "SELECT u.url, u.state, p.file, p.offset, p.length, f.name FROM pages p JOIN urls u ON u.id = p.id"
        " LEFT JOIN files f ON f.n = p.file",
    )
    assert [url for url, count in Counter(row[0] for row in found).items() if count > 1] == []
    for url, _, file, offset, length, name in found:
        head = read_record(library.archive / name, RecordPlace(file, offset, length)).partition(b"\r\n\r\n")[0]
        assert b"WARC-Target-URI: " + url.encode() + b"\r\n" in head + b"\r\n"
    done = {url for (url,) in rows(library, "SELECT url FROM urls WHERE state = ?", int(UrlState.DONE))}
    assert done <= {row[0] for row in found}
