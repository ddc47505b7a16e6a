"""A corpus for people who study or train: a row a page with its main text and licence, and a datasheet."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
import xxhash
import zstandard

from analecta.errors import UsageError
from analecta.export import TABLES, ExportRequest, load_writer
from analecta.export.datasheet import REASONS, Counts, datasheet, provenance
from analecta.files import check_ours, whole_folder
from analecta.parse import PageSandbox
from analecta.store.library import LibraryFolder
from analecta.store.output import check_replaceable
from analecta.store.rows import PageRow
from analecta.text.display import iso, many
from analecta.text.tokens import words
from analecta.views.copies import HTML, answer_of, html_of, main_text
from analecta.views.rows import Row, row_of

# --- The licence that a page says it is under: by a link of that kind, in its head, or in words about itself ---------
# To be right counts for more than to find many. A licence that is merely mentioned, as of a picture or in an article
# about licences, is not the page's own, so words count only where they speak of the page, near its beginning or end.
# Names are SPDX's where it has one; a page that names several gets all, for only a reader can tell which holds for
# what.

OTHER = "other"  # a licence is named by a link, but we do not know it
_HEAD, _TAIL = 5_000, 3_000  # characters in which pages and papers speak of themselves
_TAG = 1_000  # characters of a tag that are looked at, on each side

_RELATED = re.compile(r"\brel\s{0,3}=\s{0,3}[\"']?[^\"'<>]{0,80}?\blicense\b", re.IGNORECASE)
_LINK = re.compile(r"<(?:a|link|area)\s", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s{0,3}=\s{0,3}(?:\"([^\"]{1,500})\"|'([^']{1,500})'|([^\s\"'<>]{1,500}))", re.IGNORECASE)
_META = re.compile(r"<meta\s[^<>]{0,300}?\b(?:dc|dcterms)\.(?:rights|license)\b[^<>]{0,1000}>", re.IGNORECASE)
_CC = re.compile(
    r"creativecommons\.org/(?:licenses/(by(?:-nc)?(?:-nd|-sa)?)/(\d\.\d)(?:/(?!deed|legal)([a-z]{2,8})\b)?"
    r"|publicdomain/(zero|mark)/1\.0)",
    re.IGNORECASE,
)
_ADDRESSES = (
    (re.compile(r"gnu\.org/(?:licenses|copyleft)/(?:old-licenses/)?fdl", re.IGNORECASE), "GFDL"),
    (re.compile(r"nationalarchives\.gov\.uk/doc/open-government-licence/version/3", re.IGNORECASE), "OGL-UK-3.0"),
    (re.compile(r"opendatacommons\.org/licenses/odbl", re.IGNORECASE), "ODbL-1.0"),
)

_SELF = (
    r"\b(?:this|these|all|our|its|text|texts|content|contents|material|except\s+(?:where|as)|unless)\b"
    r"(?:(?![.!?]\s).){0,240}?"
    r"\b(?:available|licen[sc]ed|released|published|distributed|shared|provided|reused?|used)\b"
    r"(?:\s+\w+){0,3}?\s+under\s+(?:the\s+)?(?:terms\s+(?:and\s+conditions\s+)?of\s+)?(?:(?:an?|the)\s+)?"
)
_CREATIVE = (
    r"(?:(?P<cc>CC(?P<short>[\s-]BY(?:[\s-](?:NC|ND|SA)){0,2}|[\s-]?0|[\s-]?Zero)"
    r"|Creative\s+Commons(?P<long>(?:[\s,/-]+(?:Attribution|Non-?Commercial|No\s?-?Deriv(?:ative|s|atives)?(?:\s+Works)?"
    r"|Share\s?-?\s?Alike|Zero|CC0)){0,4})))"
    r"(?:[\s,-]+(?P<version>[1-4]\.\d)\b)?"
)
_NAMES = (
    rf"(?:{_CREATIVE}|(?P<gfdl>GNU\s+Free\s+Documentation\s+Licen[sc]e|GFDL)"
    r"|(?P<ogl>Open\s+Government\s+Licen[sc]e(?:\s+v?3\.0)?))"
)
_NAMED = re.compile(r"Creative\s+Commons|CC[\s-]?(?:BY|0|Zero)|GNU\s+Free|GFDL|Open\s+Government", re.IGNORECASE)
_WORDS = re.compile(_SELF + _NAMES, re.IGNORECASE)
_PARTS = (("BY", "attribution|by"), ("NC", "non-?commercial|nc"), ("ND", "no\\s?-?deriv|nd"), ("SA", "share|sa"))


class Licence(msgspec.Struct, frozen=True):
    """A licence, "" where nothing is said, and how it was recognised: by "link", "meta" or "words"."""

    name: str = ""
    by: str = ""


def licence_of(html: str, text: str) -> Licence:
    """The licence of a page: its HTML ("" for what is none), and its text."""
    if name := _together(map(_by_address, _linked(html))):
        return Licence(name, "link")
    if name := _together(filter(lambda found: found != OTHER, map(_by_address, _META.findall(html)))):
        return Licence(name, "meta")
    if name := _together(_by_words(match, html) for match in _spoken(text)):
        return Licence(name, "words")
    return Licence()


def _together(names: Iterable[str]) -> str:
    known = sorted(set(filter(None, names)))
    return ", ".join(known[:5])


def _linked(html: str) -> list[str]:
    """Where links go that say of themselves that they lead to the licence."""
    found: list[str] = []
    folded = html.lower()
    at = folded.find("license")
    while at >= 0:
        start, end = html.rfind("<", max(0, at - _TAG), at), html.find(">", at, at + _TAG)
        tag = html[start:end] if start >= 0 and end >= 0 else ""
        if _LINK.match(tag) and _RELATED.search(tag) and (href := _HREF.search(tag)):
            found.append(next(filter(None, href.groups())))
        at = folded.find("license", max(end, at + 1))
    return found


def _by_address(address: str) -> str:
    if found := _CC.search(address):
        return _creative_commons(found)
    return next((name for pattern, name in _ADDRESSES if pattern.search(address)), OTHER)


def _creative_commons(found: "re.Match[str]") -> str:
    kind, version, country, public = found.groups()
    if public:
        return "CC0-1.0" if public.lower() == "zero" else "PDM-1.0"
    return "-".join(filter(None, ("CC", kind.upper(), version, country and country.upper())))


def _spoken(text: str) -> list["re.Match[str]"]:
    """What a text says of its own licence, where texts do: at its beginning and at its end."""
    ends = text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}. {text[-_TAIL:]}"
    if not _NAMED.search(ends):
        return []
    return list(_WORDS.finditer(" ".join(ends.split())))


def _by_words(said: "re.Match[str]", html: str) -> str:
    if said["gfdl"]:
        return "GFDL"
    if said["ogl"]:
        return "OGL-UK-3.0" if "3" in said["ogl"] else ""
    words = (said["short"] or said["long"] or "").lower()
    if "0" in words or "zero" in words:
        return "CC0-1.0"
    kinds = [part for part, forms in _PARTS if re.search(rf"(?<![a-z])(?:{forms})", words)]
    if "BY" in kinds:
        return "-".join(filter(None, ("CC", *kinds, said["version"])))
    # "a Creative Commons licence": the page tells which, if it links to just one.
    linked = {_creative_commons(found) for found in _CC.finditer(html)}
    return linked.pop() if len(linked) == 1 else ""


# --- A corpus for people who study or train: one row a page, with its main text, and a datasheet beside it -----------
# Owners come first (F36): pages that say noindex or noarchive are never in it, for a corpus is a copy; pages whose
# owners reserve them against training are left out unless the corpus is not for training. All that is left out is
# counted.

COLUMNS: dict[str, type] = {
    "url": str, "title": str, "text": str, "lang": str, "topic": str, "confidence": float, "topics": dict,
    "author": str, "date": str, "host": str, "mime": str, "words": int, "digest": str, "fetched_at": str,
    "licence": str, "licence_by": str, "reserved": str,
}  # fmt: skip
DATA = {"parquet": "pages.parquet", "jsonl": "pages.jsonl.zst"}
README, SUMMARY = "README.md", "corpus.json"
_OURS = frozenset((README, SUMMARY, *DATA.values()))
_AT_ONCE = 50  # pages whose words are counted together


def export_corpus(library: LibraryFolder, request: ExportRequest) -> list[str]:
    """Write a corpus of a topic, or of all, into a folder of its own."""
    if (folder := request.path) is None:
        raise UsageError("a corpus is a folder: say which with -o DIR")
    check_ours(folder, is_corpus)
    check_replaceable(folder)
    data, counts, for_training = DATA[request.format], Counts(), not request.with_reserved
    with library.snapshot() as snapshot:
        wanted = set(snapshot.topic_numbers([request.topic] if request.topic else None))
    with whole_folder(folder, is_corpus) as part:
        with (part / data).open("wb") as out:
            _write(request.format, corpus_rows(library, wanted, for_training, counts), out)
        made = provenance(library, data, for_training, request.now)
        (part / README).write_text(datasheet(counts, made), encoding="utf-8")
        (part / SUMMARY).write_bytes(msgspec.json.format(msgspec.json.encode(counts)) + b"\n")
    about = f"{folder}: {many(counts.pages, 'page')} with {many(counts.words, 'word')}; README.md tells all about them."
    return [about, *(f"Left out: {many(count, 'page')} {REASONS[why]}." for why, count in counts.left.items())]


def corpus_rows(library: LibraryFolder, wanted: set[int], for_training: bool, counts: Counts) -> Iterator[Row]:
    """The rows of a corpus one after another; `counts` is complete when they are over."""
    with library.snapshot() as snapshot, closing(PageSandbox()) as child:
        names = snapshot.topic_names()
        for why, pages in snapshot.not_shown():
            counts.left[why] += pages
        kept = (item for item in snapshot.shown_pages() if _may_be_in(item, wanted, for_training, counts))
        rows = (_row(library.archive, item, snapshot.text(item), child, names) for item in kept)
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


def _may_be_in(item: PageRow, wanted: set[int], for_training: bool, counts: Counts) -> bool:
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


def _row(archive: Path, item: PageRow, everything: str, child: PageSandbox, names: Sequence[str]) -> Row:
    answer = answer_of(archive, item) if item.mime in HTML else None
    text = main_text(child, item, answer) if answer else ""
    licence = licence_of(html_of(answer) if answer else "", everything)
    return row_of(
        COLUMNS,
        item,
        text=text or everything.strip(),
        topic=names[item.topic],
        topics={names[topic]: confidence for topic, confidence in item.topics if topic < len(names)},
        words=0,
        fetched_at=iso(item.fetched_at),
        licence=licence.name,
        licence_by=licence.by,
    )


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
    write_rows = load_writer(TABLES[format])
    if format == "parquet":
        write_rows(rows, COLUMNS, out)
        return
    with zstandard.ZstdCompressor(10).stream_writer(out, closefd=False) as packed:
        write_rows(rows, COLUMNS, packed)
