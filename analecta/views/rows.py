"""The rows of what can be exported: pages, links, refusals, history; one after another, so that memory stays constant.

COLUMNS says what each row has, in order. Text is never null ("" where there is none); numbers may be.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from analecta.store.library import LibraryFolder
from analecta.store.links import LinksOfPage
from analecta.store.partition import NOARCHIVE, NOFOLLOW, NOINDEX, SOFT404
from analecta.store.rows import StoredPage
from analecta.store.snapshot import Snapshot
from analecta.text.display import iso
from analecta.views.reasons import NO_REFUSALS

Row = dict[str, Any]

COLUMNS: dict[str, dict[str, type]] = {
    "pages": {
        "url": str, "final_url": str, "status": int, "mime": str, "title": str, "lang": str, "topic": str,
        "confidence": float, "order": int, "depth": int, "parent": str, "fetched_at": str, "digest": str,
        "duplicate_of": str, "warc_file": str, "warc_offset": int, "topics": dict, "model": str, "host": str,
        "size": int, "words": int, "noindex": bool, "nofollow": bool, "noarchive": bool, "soft404": bool,
        "reserved": str, "truncated": str, "author": str, "date": str,
    },
    "links": {"source": str, "target": str, "anchor": str, "state": str},
    "refusals": {"url": str, "state": str, "reason": str, "detail": str, "parent": str, "anchor": str, "depth": int},
    "history": {
        "run": int, "at": str, "pages": int, "topic": str, "items": int, "least": float, "mean": float, "most": float,
    },
}  # fmt: skip


FLAGS = {"noindex": NOINDEX, "nofollow": NOFOLLOW, "noarchive": NOARCHIVE, "soft404": SOFT404}


class LeftOut(msgspec.Struct):
    """What was left out of an export, to be told."""

    noindex: int = 0
    reserved: int = 0
    unknown: int = 0


def row_of(columns: Iterable[str], source: object, **computed: Any) -> Row:
    """A row with these columns: what was computed for it, else what the source has under the same name."""
    return {name: computed[name] if name in computed else getattr(source, name) for name in columns}


def pages(library: LibraryFolder, left: LeftOut, everything: bool = False, for_training: bool = False) -> Iterator[Row]:
    """Pages in the order in which they were kept; without those that say noindex, unless all are asked for.

    `order` counts the pages that are left out as well: a page has the same number in every export.
    """
    with library.snapshot() as snapshot:
        topics = snapshot.topic_names()
        hidden = frozenset[int]() if everything else snapshot.hidden_ids()
        for order, stored in enumerate(snapshot.stored_pages(), 1):
            page = _page(stored, order, snapshot, hidden, topics)
            if page["noindex"] and not everything:
                left.noindex += 1
            elif for_training and page["reserved"]:
                left.reserved += 1
            else:
                yield page


def links(library: LibraryFolder, left: LeftOut) -> Iterator[Row]:
    """Every link whose target was written down, with its words; none from or to pages that say noindex."""
    with library.snapshot() as snapshot:
        hidden = snapshot.hidden_ids()
        for of_page in snapshot.links():
            if of_page.id not in hidden:
                yield from _links(snapshot, hidden, of_page, left)


def refusals(library: LibraryFolder, _: LeftOut) -> Iterator[Row]:
    """URLs that were found but are no pages: refused by us, or failed."""
    with library.snapshot() as snapshot:
        hidden = snapshot.hidden_ids()
        for found in snapshot.refused(but=NO_REFUSALS):
            yield row_of(
                COLUMNS["refusals"],
                found,
                state=found.state.word,
                parent=_address(snapshot, hidden, found.parent),
                anchor="" if found.parent in hidden else found.anchor,
            )


def history(library: LibraryFolder, _: LeftOut) -> Iterator[Row]:
    """How good each topic's best items were as crawls went on: their least, mean and most confidence (S12)."""
    topics = library.topic_names()
    for moment in library.history():
        yield moment._asdict() | {"at": iso(moment.at), "topic": name_of_topic(topics, moment.topic)}


KINDS: dict[str, Callable[..., Iterator[Row]]] = {
    "pages": pages,
    "links": links,
    "refusals": refusals,
    "history": history,
}


def _address(snapshot: Snapshot, hidden: Container[int], id: int) -> str:
    return "" if id in hidden else snapshot.address(id)


def _page(stored: StoredPage, order: int, snapshot: Snapshot, hidden: Container[int], topics: Sequence[str]) -> Row:
    final = snapshot.url(stored.id)
    assert final is not None
    first = snapshot.first_address(final)
    return row_of(
        COLUMNS["pages"],
        stored,
        url=first.url,
        final_url=final.url,
        topic=name_of_topic(topics, stored.topic),
        order=order,
        depth=final.depth,
        parent=_address(snapshot, hidden, first.parent),
        fetched_at=iso(stored.fetched_at),
        duplicate_of=_address(snapshot, hidden, stored.duplicate_of),
        warc_file=stored.warc,
        warc_offset=stored.offset,
        topics={name_of_topic(topics, number): sure for number, sure in stored.verdict.topics},
        host=final.host,
        reserved="; ".join(dict.fromkeys(filter(None, (stored.reserved, stored.host_reserved)))),
        **{name: bool(stored.flags & flag) for name, flag in FLAGS.items()},
    )


def name_of_topic(topics: Sequence[str], topic: int) -> str:
    """The name of the topic with this number; "" for none."""
    return topics[topic] if 0 <= topic < len(topics) else ""


def _links(snapshot: Snapshot, hidden: Container[int], of_page: LinksOfPage, left: LeftOut) -> Iterator[Row]:
    source = snapshot.address(of_page.id)
    snapshot.look_up(of_page.targets)
    for id, anchor in zip(of_page.targets, of_page.anchors, strict=False):
        target = snapshot.url(id)
        if target is None:
            left.unknown += 1
        elif id not in hidden:
            yield {"source": source, "target": target.url, "anchor": anchor, "state": target.state.word}
