"""Answers of engines, kept in a folder for a week: who makes a library anew the next day asks nobody."""

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import xxhash

from analecta.sources.engines.engine import Hit

WEEK = 7 * 86_400.0


class _Kept(msgspec.Struct):
    """One answer; a person may read it."""

    engine: str
    url: str
    query: str
    wanted: int
    at: float
    hits: list[Hit]


class Cache:
    """The folder. `now` is wall-clock time: a week goes by between two runs, too."""

    def __init__(self, folder: Path, now: Callable[[], float], age: float = WEEK) -> None:
        self.folder, self.now, self.age = folder, now, age

    def get(self, engine: str, url: str, query: str, wanted: int) -> list[Hit] | None:
        """The hits of an earlier answer that is young enough and was asked for as many; None if there is none."""
        try:
            kept = msgspec.json.decode(self._path(engine, url, query).read_bytes(), type=_Kept)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None  # a cache that cannot be read is no cache
        same = (kept.engine, kept.url, kept.query) == (engine, url, query)
        fresh = 0 <= self.now() - kept.at <= self.age  # from the future: the clock was wrong, then or now
        return kept.hits[:wanted] if same and fresh and kept.wanted >= wanted else None

    def put(self, engine: str, url: str, query: str, wanted: int, hits: Sequence[Hit]) -> None:
        """Keep an answer, whole or not at all: a cache that cannot be written to is no cache."""
        path = self._path(engine, url, query)
        aside = path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            aside.write_bytes(
                msgspec.json.format(
                    msgspec.json.encode(_Kept(engine, url, query, wanted, self.now(), list(hits))), indent=1
                )
            )
            aside.replace(path)

    def _path(self, engine: str, url: str, query: str) -> Path:
        digest = xxhash.xxh3_128_hexdigest("\0".join((engine, url, query)).encode("utf-8", "replace"))
        return self.folder / f"{engine}-{digest}.json"
