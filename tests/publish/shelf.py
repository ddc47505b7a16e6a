"""Small libraries made by hand, with real records in their archives: pages, copies, redirects, what only some have."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from analecta.model import FoundBy, Response, UrlState
from analecta.parse import Parser
from analecta.store.archive import Archive, OriginalRecord, RecordPlace, payload_digest
from analecta.store.library import LibraryFolder
from analecta.store.partition import Shard
from analecta.store.schema import pack_text
from tests.making import answer, candidate, page_row, target

TOPICS = ("birds", "birds / owls", "bees")
PROSE = "The wren is a small bird, brown and round, with a loud voice. It nests in ivy, in sheds, and under roofs. " * 5


class Given(msgspec.Struct):
    """A page of HTML to put on the shelf; `more` are values of its row."""

    url: str
    html: str = ""
    more: dict[str, Any] = {}
    host_reserved: str = ""


def html(name: str, text: str = PROSE, head: str = "", foot: str = "") -> str:
    return (
        f"<title>{name}</title>{head}<nav><a href=/>Home</a></nav><article><h1>{name}</h1><p>{text}</p></article>{foot}"
    )


class Shelf:
    """Fills a library of one partition; `commit` makes what was put onto it part of the library."""

    def __init__(self, folder: Path) -> None:
        self.library = LibraryFolder.create(folder, 'recipe = "adaptive"\n')
        self.library.topic_names(TOPICS)
        self.library.put("partitions", 1)
        self.archive = Archive(self.library.archive, "p00", info={"operator": "me@example.org"})
        self.shard = Shard(self.library.shard_path(0))
        self.n = 0
        self.dates: dict[str, float] = {}
        self.now = 1_700_000_000.123456

    def __enter__(self) -> "Shelf":
        return self

    def __exit__(self, *_: object) -> None:
        self.commit()
        self.archive.close()
        self.shard.close()

    def commit(self) -> None:
        self.archive.flush()
        self.shard.set_file(0, self.archive.path(0).name, self.archive.length)
        self.shard.commit()

    def said(
        self, url: str, body: bytes | None = None, original: OriginalRecord | None = None, **more: Any
    ) -> tuple[Response, RecordPlace]:
        """A record of the archive, of which the shard knows nothing."""
        self.now += 1
        one = answer(url, f"<p>{url}".encode() if body is None else body, began=self.now, **more)
        return one, self.archive.write(one, original=original)

    def url(self, url: str, found: FoundBy = FoundBy.LINK) -> int:
        self.n += 1
        self.shard.add([(self.n, candidate(url, found_by=found), UrlState.QUEUED, False, "")])
        return target(url).id

    def page(
        self, url: str, body: bytes | None = None, like: str = "", found: FoundBy = FoundBy.LINK, **more: Any
    ) -> OriginalRecord:
        """A page with its record; `like` names the page that has the same body, to which the record then refers."""
        body = f"<p>{like or url}".encode() if body is None else body
        digest = payload_digest(body)
        original = OriginalRecord(like, self.dates[like], digest) if like else None
        one, place = self.said(url, body, original)
        self.dates[url] = one.began
        known = {"title": url, "fetched_at": one.began, "digest": digest, "text": pack_text("words"), "confidence": 0.5}
        if like and like != url:
            known["duplicate_of"] = target(like).id
        known |= more
        twin = known.get("duplicate_of", 0)
        row = page_row(self.url(url, found), place.file, place.offset, place.length, **known)
        self.shard.add_page(row, UrlState.ALIAS if twin else UrlState.DONE, twin, 0)
        return OriginalRecord(url, one.began, digest)

    def redirect(self, url: str, to: str) -> None:
        head = b"HTTP/1.1 301 Moved\r\nLocation: " + to.encode() + b"\r\n\r\n"
        self.said(url, status=301, head=head)
        self.shard.settle(self.url(url), UrlState.ALIAS, "http-301", elsewhere=target(to).id)

    def read(self, given: Given, parser: Parser) -> None:
        """A page with its record and all that is read of its HTML."""
        one = target(given.url)
        page = parser(answer(one.url, given.html.encode()), one, heavy=False)
        known = {
            "title": page.title, "mime": page.mime, "lang": page.lang, "author": page.author, "date": page.date,
            "confidence": 0.9, "words": len(page.text.split()), "text": pack_text(page.text),
            "links": np.array([link.target.id for link in page.links], np.int64).tobytes(),
            "reserved": page.reserved or None,
        }  # fmt: skip
        self.page(one.url, given.html.encode(), **(known | given.more))
        if given.host_reserved:
            self.shard.hosts.set_reserved(one.host, given.host_reserved)


def shelved(folder: Path, *pages: Given) -> LibraryFolder:
    """A library with these pages, all on the first topic unless they say otherwise."""
    with Shelf(folder) as shelf, Parser() as parser:
        for given in pages:
            shelf.read(given, parser)
    return shelf.library
