"""A small library made by hand, with real records in its archive: for what only some pages have."""

import contextlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from analecta.model import State
from analecta.parse import Parser
from analecta.store.archive import Archive, payload_digest
from analecta.store.library import Library
from analecta.store.packed import pack_text
from tests.making import answer, candidate, page_row, shard_at, target

TOPICS = ("birds", "bees")
PROSE = "The wren is a small bird, brown and round, with a loud voice. It nests in ivy, in sheds, and under roofs. " * 5


class Given(msgspec.Struct):
    """A page to put on the shelf; `more` are values of its row."""

    url: str
    html: str = ""
    more: dict[str, Any] = {}
    host_reserved: str = ""


def html(name: str, text: str = PROSE, head: str = "", foot: str = "") -> str:
    return (
        f"<title>{name}</title>{head}<nav><a href=/>Home</a></nav><article><h1>{name}</h1><p>{text}</p></article>{foot}"
    )


def shelved(folder: Path, *pages: Given) -> Library:
    """A library of one partition with these pages, all on the first topic unless they say otherwise."""
    library = Library.create(folder, 'recipe = "adaptive"\n')
    library.topic_names(TOPICS)
    library.put("partitions", 1)
    archive = Archive(library.archive, "p00")
    with shard_at(library.shard_path(0)) as shard, Parser() as parser, contextlib.closing(archive):
        for n, given in enumerate(pages, 1):
            one = target(given.url)
            said = answer(one.url, given.html.encode())
            page = parser(said, one, heavy=False)
            place = archive.write(said)
            shard.add([(n, candidate(one.url), State.QUEUED, False, "")])
            links = np.array([link.target.id for link in page.links], np.int64).tobytes()
            known = {
                "title": page.title, "mime": page.mime, "lang": page.lang, "author": page.author, "date": page.date,
                "confidence": 0.9, "digest": payload_digest(said.wire), "words": len(page.text.split()),
                "links": links, "text": pack_text(page.text), "reserved": page.reserved or None,
            }  # fmt: skip
            row = page_row(one.id, place.file, place.offset, place.length, **(known | given.more))
            twin = given.more.get("duplicate_of", 0)
            shard.add_page(row, State.ELSEWHERE if twin else State.DONE, twin, 0)
            if given.host_reserved:
                shard.set_reserved(one.host, given.host_reserved)
        shard.set_file(0, archive.path(0).name, archive.length)
        shard.commit()
    return library
