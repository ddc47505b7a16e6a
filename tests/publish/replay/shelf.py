"""A library made record by record: pages, copies, redirects, and whatever else a server may say."""

from pathlib import Path
from typing import Any

from analecta.model import Answer, Found, State
from analecta.store.archive import Archive, Original, Place, payload_digest
from analecta.store.library import Library
from analecta.store.packed import pack_text
from analecta.store.shard import Shard
from tests.making import answer, candidate, page_row, target

TOPICS = ("birds", "birds / owls", "bees")


class Shelf:
    """Fills a library of one partition; `commit` makes what was put onto it part of the library."""

    def __init__(self, folder: Path) -> None:
        self.library = Library.create(folder, 'recipe = "adaptive"\n')
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

    def said(self, url: str, body: bytes = b"", original: Original | None = None, **more: Any) -> tuple[Answer, Place]:
        """A record of the archive, of which the shard knows nothing."""
        self.now += 1
        one = answer(url, body or f"<p>{url}".encode(), began=self.now, **more)
        return one, self.archive.write(one, original=original)

    def url(self, url: str, found: Found = Found.LINK) -> int:
        self.n += 1
        self.shard.add([(self.n, candidate(url, found=found), State.QUEUED, False, "")])
        return target(url).id

    def page(self, url: str, body: bytes = b"", like: str = "", found: Found = Found.LINK, **more: Any) -> Original:
        """A page with its record; `like` names the page that has the same body, to which the record then refers."""
        body = body or f"<p>{like or url}".encode()
        digest = payload_digest(body)
        original = Original(like, self.dates[like], digest) if like else None
        one, place = self.said(url, body, original)
        self.dates[url] = one.began
        known = {"title": url, "fetched_at": one.began, "digest": digest, "text": pack_text("words"), "confidence": 0.5}
        if like and like != url:
            known["duplicate_of"] = target(like).id
        row = page_row(self.url(url, found), place.file, place.offset, place.length, **(known | more))
        self.shard.add_page(row, State.DONE, known.get("duplicate_of", 0), 0)
        return Original(url, one.began, digest)

    def redirect(self, url: str, to: str) -> None:
        head = b"HTTP/1.1 301 Moved\r\nLocation: " + to.encode() + b"\r\n\r\n"
        self.said(url, status=301, head=head)
        self.shard.settle(self.url(url), State.ELSEWHERE, "http-301", elsewhere=target(to).id)
