"""Collections as rows of a table: their items in the order of their ranks."""

from collections.abc import Iterable, Iterator

from analecta.communities.view import CommunityIndex
from analecta.store.library import LibraryFolder
from analecta.text.display import iso
from analecta.views.collections import Collection
from analecta.views.rows import Row

COLUMNS: dict[str, type] = {
    "topic": str, "rank": int, "url": str, "title": str, "host": str, "confidence": float, "authority": float,
    "score": float, "kind": str, "author": str, "date": str, "lang": str, "mime": str, "words": int, "parent": str,
    "anchor": str, "context": str, "fetched_at": str, "digest": str, "warc_file": str, "warc_offset": int,
    "noarchive": bool, "reserved": str, "community": str,
}  # fmt: skip


def collection_rows(library: LibraryFolder, found: Iterable[Collection], homes: CommunityIndex) -> Iterator[Row]:
    """The items of collections; a page is there once for each topic that it is among the best of."""
    with library.snapshot() as snapshot:
        hidden = snapshot.hidden_ids()
        for collection in found:
            snapshot.look_up(ranked.item.parent for ranked in collection.items)
            for ranked in collection.items:
                item = ranked.item
                home = homes.of(item.url, item.host)
                told = item.parent not in hidden
                yield {
                    "topic": collection.topic,
                    "rank": ranked.rank,
                    "url": item.url,
                    "title": item.title,
                    "host": item.host,
                    "confidence": ranked.confidence,
                    "authority": ranked.authority,
                    "score": ranked.score,
                    "kind": ranked.kind,
                    "author": item.author,
                    "date": item.date,
                    "lang": item.lang,
                    "mime": item.mime,
                    "words": item.words,
                    "parent": snapshot.address(item.parent) if told else "",
                    "anchor": item.anchor if told else "",
                    "context": item.context if told else "",
                    "fetched_at": iso(item.fetched_at),
                    "digest": item.digest,
                    "warc_file": item.warc,
                    "warc_offset": item.offset,
                    "noarchive": item.noarchive,
                    "reserved": item.reserved,
                    "community": home.name if home else "",
                }
