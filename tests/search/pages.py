"""A library that tests fill by hand, and its search asked in few words."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from analecta.model import UrlState
from analecta.search import SearchIndex, SearchRequest, SearchResult
from analecta.search.update import sync
from analecta.settings.edit import first_settings
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder
from analecta.store.partition import Shard
from analecta.store.schema import pack_text
from analecta.store.site_rules import Sites
from analecta.store.sites import recount
from tests.making import candidate, page_row, target

TOPICS = ("Science", "Science / Biology", "Science / Chemistry", "Roses")


class Pages:
    """Writes pages into the one partition of a new library."""

    def __init__(self, folder: Path) -> None:
        self.library = LibraryFolder.create(folder, "")
        self.library.topic_names(TOPICS)
        self.library.put("partitions", 1)
        self.shard = Shard(self.library.shard_path(0))
        self.shard.commit()

    def add(self, name: str, text: str = "", links: dict[str, str] | None = None, **more: Any) -> int:
        """A page; a name without a host is one of h.test."""
        one = candidate(address(name))
        if "topics" in more:
            more["topics"] = msgspec.msgpack.encode(more["topics"])
        to = links or {}
        known = {
            "title": name, "digest": f"sha1:{name}", "mime": "text/html", "text": pack_text(text), "confidence": 0.9,
            "links": np.array([target(address(other)).id for other in to], np.int64).tobytes(),
            "anchors": pack_text("\n".join(to.values())),
        }  # fmt: skip
        self.shard.add([(self.shard.last_n() + 1, one, UrlState.QUEUED, False, "")])
        self.shard.add_page(page_row(one.target.id, **(known | more)), UrlState.DONE, 0, 0)
        self.shard.commit()
        return one.target.id

    def set(self, name: str, **values: Any) -> None:
        names = ", ".join(f"{column} = ?" for column in values)
        page = (*values.values(), target(address(name)).id)
        self.shard.db.execute(f"UPDATE pages SET {names} WHERE id = ?", page)
        self.shard.commit()

    def communities(self, *seeds: str) -> None:
        """Let these be the sites that communities begin at, and count the links between all sites."""
        topic = Topic("Science", tuple(f"http://{seed}/" for seed in seeds))
        self.library.settings_path.write_text(first_settings([topic], "adaptive"))
        self.shard.close()  # it holds what it writes to
        recount(self.library, Sites())
        self.shard = Shard(self.library.shard_path(0))

    def find(self, query: str, **more: Any) -> SearchResult:
        """The answer of an index that is in step."""
        sync(self.library)
        return SearchIndex(self.library).find(SearchRequest(query, **more))

    def titles(self, query: str, **more: Any) -> list[str]:
        return [hit.page.title for hit in self.find(query, **more).hits]


def address(name: str) -> str:
    return name if "://" in name else f"http://h.test/{name.replace(' ', '_')}"
