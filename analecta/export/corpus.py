"""A corpus for people who study or train: one row a page, with its main text, and a datasheet beside it.

Owners come first (F36): pages that say noindex or noarchive are never in it, for a corpus is a copy; pages whose owners
reserve them against training are left out unless the corpus is not for training. All that is left out is counted.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, cast

import msgspec
import numpy as np
import xxhash
import zstandard

from analecta.errors import BadUse
from analecta.export.datasheet import Counts, datasheet, provenance
from analecta.export.licences import licence_of
from analecta.export.tables import write_jsonl, write_parquet
from analecta.files import whole_folder
from analecta.store.library import Library
from analecta.store.output import check_replaceable
from analecta.store.partition import NOINDEX, SOFT404
from analecta.store.rows import Item, items, text_of
from analecta.store.topic_names import topic_numbers
from analecta.text.display import iso
from analecta.text.tokens import words
from analecta.views.copies import HTML, MainTexts, answer_of, html_of
from analecta.views.rows import Row

COLUMNS: dict[str, type] = {
    "url": str, "title": str, "text": str, "lang": str, "topic": str, "confidence": float, "topics": dict,
    "author": str, "date": str, "host": str, "mime": str, "words": int, "digest": str, "fetched_at": str,
    "licence": str, "licence_by": str, "reserved": str,
}  # fmt: skip
DATA = {"parquet": "pages.parquet", "jsonl": "pages.jsonl.zst"}
README, SUMMARY = "README.md", "corpus.json"
_OURS = frozenset((README, SUMMARY, *DATA.values()))
_AT_ONCE = 50  # pages whose words are counted together
_LEFT = f"""SELECT CASE WHEN flags & {NOINDEX} THEN 'noindex' WHEN flags & {SOFT404} THEN 'soft404'
  WHEN duplicate_of IS NOT NULL THEN 'copies' WHEN status != 200 THEN 'not whole' WHEN topic < 0 THEN 'off topic'
  END AS why, count(*) FROM pages GROUP BY why HAVING why IS NOT NULL"""


def write_corpus(
    library: Library,
    folder: Path,
    format: str = "parquet",
    topics: Sequence[str] | None = None,
    for_training: bool = True,
    now: float | None = None,
) -> Counts:
    """Write a corpus of these topics, or of all, into a folder of its own; what is in it, and what was left out."""
    if format not in DATA:
        raise BadUse(f"a corpus can be written as {' or '.join(DATA)}, not {format}")
    wanted = set(topic_numbers(library, topics))
    counts = Counts()
    check_replaceable(folder)
    with whole_folder(folder, is_corpus) as part:
        with (part / DATA[format]).open("wb") as out:
            _write(format, corpus_rows(library, wanted, for_training, counts), out)
        made = provenance(library, DATA[format], for_training, time.time() if now is None else now)
        (part / README).write_text(datasheet(counts, made), encoding="utf-8")
        (part / SUMMARY).write_bytes(msgspec.json.format(msgspec.json.encode(counts)) + b"\n")
    return counts


def corpus_rows(library: Library, wanted: set[int], for_training: bool, counts: Counts) -> Iterator[Row]:
    """The rows of a corpus one after another; `counts` is complete when they are over."""
    names = library.topic_names()
    with library.shards() as shards, MainTexts() as main:
        for shard in shards:
            counts.left.update(dict(shard.execute(_LEFT)))
        kept = (item for item in items(shards) if _may_be_in(item, wanted, for_training, counts))
        rows = (_row(library.archive, item, text_of(shards, item), main, names) for item in kept)
        fresh = _each_text_once(rows, counts)
        while several := list(islice(fresh, _AT_ONCE)):
            lengths = np.diff(words([row["text"] for row in several]).starts).tolist()
            for row, length in zip(several, lengths, strict=True):
                row["words"] = length
                counts.add(row)
                yield row


def is_corpus(folder: Path) -> bool:
    """Whether a folder holds a corpus of ours, and nothing else."""
    return (folder / SUMMARY).is_file() and {path.name for path in folder.iterdir()} <= _OURS


def _may_be_in(item: Item, wanted: set[int], for_training: bool, counts: Counts) -> bool:
    """Whether a page may be in the corpus; if not, the reason is counted."""
    if wanted.isdisjoint(topic for topic, _ in item.topics):
        counts.left["other topics"] += 1
    elif item.noarchive:
        counts.left["noarchive"] += 1
    elif for_training and item.reserved:
        counts.left["reserved"] += 1
        counts.reserved.update(item.reserved.split("; "))
    else:
        return True
    return False


def _row(archive: Path, item: Item, everything: str, main: MainTexts, names: Sequence[str]) -> Row:
    answer = answer_of(archive, item) if item.mime in HTML else None
    text = main.of(item, answer) if answer else ""
    licence = licence_of(html_of(answer) if answer else "", everything)
    return {
        "url": item.url,
        "title": item.title,
        "text": text or everything.strip(),
        "lang": item.lang,
        "topic": names[item.topic],
        "confidence": item.confidence,
        "topics": {names[topic]: confidence for topic, confidence in item.topics},
        "author": item.author,
        "date": item.date,
        "host": item.host,
        "mime": item.mime,
        "words": 0,
        "digest": item.digest,
        "fetched_at": iso(item.fetched_at),
        "licence": licence.name,
        "licence_by": licence.by,
        "reserved": item.reserved,
    }


def _each_text_once(rows: Iterator[Row], counts: Counts) -> Iterator[Row]:
    """The rows that have a text that none before had: pages may differ only in what surrounds it."""
    seen: set[int] = set()  # 60 bytes a page: all that grows
    for row in rows:
        mark = xxhash.xxh3_64_intdigest(row["text"].encode("utf-8", "replace"))
        if not row["text"]:
            counts.left["no text"] += 1
        elif mark in seen:
            counts.left["same text"] += 1
        else:
            seen.add(mark)
            yield row


def _write(format: str, rows: Iterator[Row], out: IO[bytes]) -> None:
    if format == "parquet":
        write_parquet(rows, COLUMNS, out)
        return
    with zstandard.ZstdCompressor(10).stream_writer(out, closefd=False) as packed:
        write_jsonl(rows, COLUMNS, cast(IO[bytes], packed))
