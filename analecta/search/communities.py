"""The index of communities: a document for each, with what it is called by itself, by its pages and by those that link.

It lies beside the index of pages and is made anew with every change of it: there are few communities. Each is stored
whole, so that a question needs neither to find the communities again nor to read another file.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import msgspec
import tantivy

from analecta.communities.view import Community
from analecta.search.index import apart, ready

FOLDER = "communities"
# What a word is worth in each field: what it is called, its sites, links to its pages, titles of its pages.
WORTH = {"name": 4.0, "sites": 3.0, "links": 1.5, "titles": 1.0}
_MOST = 10_000  # different texts of links, and of titles, that are kept of a community, those met first
_MEMORY = 32_000_000  # bytes


@cache
def schema() -> tantivy.Schema:
    """The fields of a community."""
    builder = tantivy.SchemaBuilder()
    for name in WORTH:
        builder.add_text_field(name, tokenizer_name="stems", index_option="freq")
    builder.add_integer_field("number", indexed=True)
    builder.add_bytes_field("whole", stored=True)
    return builder.build()


def key(community: Community | None) -> str:
    """What its pages have in the index: its first seed, for names and numbers change as a library grows."""
    return community.seeds[0] if community else ""


class Said:
    """What pages are called, gathered for their communities."""

    def __init__(self) -> None:
        self._titles: dict[str, dict[str, None]] = defaultdict(dict)
        self._links: dict[str, dict[str, None]] = defaultdict(dict)

    def add(self, community: str, title: str, links: Iterable[str]) -> None:
        """Take a page of this community."""
        for kept, texts in ((self._titles[community], (title,)), (self._links[community], links)):
            if len(kept) < _MOST:
                kept.update(dict.fromkeys(texts))

    def document(self, one: Community) -> tantivy.Document:
        """A community as it goes into the index."""
        sites = [member.site for member in one.members]
        texts = {"name": [one.name], "sites": sites, "links": self._links[key(one)], "titles": self._titles[key(one)]}
        made = tantivy.Document()
        for field, said in texts.items():
            made.add_text(field, apart("\n".join(said)))
        made.add_integer("number", one.number)
        made.add_bytes("whole", msgspec.msgpack.encode(one))
        return made


def create(folder: Path) -> None:
    """A new, empty index."""
    (folder / FOLDER).mkdir()
    tantivy.Index(schema(), path=str(folder / FOLDER))


def reopen(folder: Path) -> tantivy.Index:
    """The index of a folder; ValueError where there is none that can be read."""
    return ready(tantivy.Index.open(str(folder / FOLDER)))


def rewrite(folder: Path, communities: Sequence[Community], said: Said) -> None:
    """Put these in the place of what is there, at once."""
    writer = reopen(folder).writer(_MEMORY, 1)
    writer.delete_all_documents()
    for one in communities:
        writer.add_document(said.document(one))
    writer.commit()
    writer.wait_merging_threads()


def stored(searcher: tantivy.Searcher) -> list[Community]:
    """All communities, by their numbers."""
    found = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs)).hits
    return sorted((whole(searcher, address) for _, address in found), key=lambda one: one.number)


def whole(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Community:
    """One of them, by where it is."""
    (packed,) = searcher.doc(address)["whole"]
    return msgspec.msgpack.decode(bytes(packed), type=Community)
