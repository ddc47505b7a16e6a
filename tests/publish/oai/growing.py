"""A library that tests grow by hand, page by page, and its records asked without HTTP."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from analecta.model import UrlState
from analecta.publish.oai.answers import RepositoryIdentity
from analecta.publish.oai.protocol import Repository
from analecta.publish.oai.server import OaiServerOptions, serve
from analecta.publish.oai.tokens import Clock, first_moment
from analecta.store import oai_records
from analecta.store.library import LibraryFolder
from analecta.store.oai_records import RecordChange
from analecta.store.partition import NOINDEX, Shard
from analecta.store.schema import pack_text
from analecta.store.sqlite import connect
from tests.making import candidate, page_row, target

NS = "{http://www.openarchives.org/OAI/2.0/}"
TOPICS = ("Science / Biology", "Science / Chemistry", "Roses")
DC = {"metadataPrefix": "oai_dc"}


class Growing:
    """Writes pages into the one partition of a new library."""

    def __init__(self, folder: Path, topics: tuple[str, ...] = TOPICS) -> None:
        self.library = LibraryFolder.create(folder, 'contact = "me@example.org"\n')
        self.library.topic_names(topics)
        self.library.put("partitions", 1)
        self.shard = Shard(self.library.shard_path(0))
        self.shard.commit()

    def add(self, name: str, **more: Any) -> int:
        one = candidate(f"http://h.test/{name}")
        self.shard.add([(self.shard.last_n() + 1, one, UrlState.QUEUED, False, "")])
        values = {"title": name, "digest": "sha1:ABC", "mime": "text/html", "text": pack_text("Some words."), **more}
        self.shard.add_page(page_row(one.target.id, **values), UrlState.DONE, 0, 0)
        self.shard.commit()
        return one.target.id

    def set(self, name: str, **values: Any) -> None:
        names = ", ".join(f"{column} = ?" for column in values)
        page = (*values.values(), target(f"http://h.test/{name}").id)
        self.shard.db.execute(f"UPDATE pages SET {names} WHERE id = ?", page)
        self.shard.commit()

    def hide(self, name: str) -> None:
        self.set(name, flags=NOINDEX)


class Now:
    """A clock that a test turns."""

    def __init__(self, at: float = 1_700_000_000.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


class Bare:
    """Records without a library behind them; one connection writes and another reads, as in the server."""

    def __init__(self, writer: Any, reader: Any, now: Now, page_size: int) -> None:
        self.db, self.reader, self.now = writer, reader, now
        self.clock = Clock(now)
        site = RepositoryIdentity("bare", "http://r.test/oai", "me@example.org", "r.test", int(now.at), page_size)
        self.repository = Repository(site, b"k" * 32, self.clock)

    def put(self, *changes: RecordChange) -> None:
        with self.clock.stamping() as stamp:
            oai_records.put(self.db, changes, stamp)

    def ask(self, verb: str, **arguments: str) -> ElementTree.Element:
        pairs = [("verb", verb), *((name.rstrip("_"), value) for name, value in arguments.items())]
        return ElementTree.fromstring(self.repository.answer(self.reader, pairs))


@contextlib.contextmanager
def bare(folder: Path, page_size: int = 2) -> Iterator[Bare]:
    path, now = folder / "oai.db", Now()
    with (
        oai_records.writing(path, now.at, "r.test") as writer,
        contextlib.closing(connect(path, readonly=True)) as reader,
    ):
        oai_records.put_sets(writer, {"a": "A", "a:b": "A / B"})
        yield Bare(writer, reader, now, page_size)


@contextlib.contextmanager
def serving(library: LibraryFolder, now: Callable[[], float], page_size: int = 100) -> Iterator[str]:
    """The address of a library that is served in a thread."""
    told, stop, addresses, troubles = threading.Event(), threading.Event(), [], []

    def ready(url: str, records: int) -> None:
        addresses.append(url)
        told.set()

    asked = (library, OaiServerOptions(port=0, page_size=page_size), now, ready, stop, troubles.append)
    thread = threading.Thread(target=serve, args=asked)
    thread.start()
    assert told.wait(60)
    try:
        yield addresses[0]
    finally:
        stop.set()
        thread.join(60)
    assert troubles == []


def change(id: int, words: str = "x", sets: tuple[str, ...] = ("a:b",)) -> RecordChange:
    return RecordChange(id, hash(words), sets, f"<m>{words}</m>")


def deleted(id: int) -> RecordChange:
    return RecordChange(id, 0, ("a:b",), None)


def code(answer: ElementTree.Element) -> str:
    error = answer.find(f"{NS}error")
    return "" if error is None else error.attrib["code"]


def token(answer: ElementTree.Element) -> str:
    return answer.findtext(f".//{NS}resumptionToken") or ""


def given(answer: ElementTree.Element) -> dict[str, tuple[str, bool, int]]:
    """What an answer tells: identifier -> (words, deleted, stamp)."""
    return {
        one.findtext(f"{NS}header/{NS}identifier", ""): (
            one.findtext(f"{NS}metadata/{NS}m", ""),
            one.find(f"{NS}header").get("status") == "deleted",
            first_moment(one.findtext(f"{NS}header/{NS}datestamp", "")),
        )
        for one in answer.iter(f"{NS}record")
    }


def date(answer: ElementTree.Element) -> str:
    return answer.findtext(f"{NS}responseDate", "")
