"""Collections as rows of a table: their items in the order of their ranks."""

from collections.abc import Iterator, Sequence

from analecta.publish.collection import MOST, PER_HOST, collections
from analecta.publish.known import Known
from analecta.publish.rows import Row, iso
from analecta.store.library import Library

COLUMNS: dict[str, type] = {
    "topic": str, "rank": int, "url": str, "title": str, "host": str, "confidence": float, "authority": float,
    "score": float, "kind": str, "author": str, "date": str, "lang": str, "mime": str, "words": int, "parent": str,
    "anchor": str, "context": str, "fetched_at": str, "digest": str, "warc_file": str, "warc_offset": int,
    "noarchive": bool, "reserved": str,
}  # fmt: skip


def collection_rows(
    library: Library, topics: Sequence[str] | None = None, most: int = MOST, per_host: int = PER_HOST
) -> Iterator[Row]:
    """The best of these topics, or of all; a page is there once for each topic that it is among the best of."""
    found = collections(library, None if topics is None else list(topics), most, per_host)
    with library.shards() as shards:
        known = Known(shards)
        for collection in found:
            known.look_up(ranked.item.parent for ranked in collection.items)
            for ranked in collection.items:
                item = ranked.item
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
                    "parent": known.url(item.parent),
                    "anchor": item.anchor,
                    "context": item.context,
                    "fetched_at": iso(item.fetched_at),
                    "digest": item.digest,
                    "warc_file": item.warc,
                    "warc_offset": item.offset,
                    "noarchive": item.noarchive,
                    "reserved": item.reserved,
                }
