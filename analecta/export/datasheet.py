"""The datasheet of a corpus: what is in it, how it was made, what was left out and why, and its limits.

It is a README in Markdown that begins with the card that dataset hubs read. Names that come from the web are escaped.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analecta import __version__
from analecta.store.library import LibraryFolder
from analecta.store.schema import MetaKey
from analecta.text.display import iso, many, one_line
from analecta.views.rows import Row

_MOST = 20  # lines of a table
_SEEDS = 10  # of a topic that are named
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_MARKS = re.compile(r"([\\`*_{}\[\]<>|~$&])")

REASONS = {
    "reserved": "reserved by their owners against use for training",
    "noindex": "with noindex: kept out of everything published",
    "noarchive": "with noarchive: a corpus is a copy",
    "copies": "found to be copies of another page, or nearly",
    "same text": "with a main text that another page has",
    "no text": "without text that could be read",
    "soft404": "without content (soft 404)",
    "not whole": "with another status than 200",
    "off topic": "on none of the topics",
    "other topics": "on topics that were not asked for",
}
HOW = {"link": "a link marked rel=license", "meta": "Dublin Core in the head", "words": "words about the page itself"}


class Counts(msgspec.Struct):
    """What is in a corpus, and what was left out."""

    pages: int = 0
    words: int = 0
    characters: int = 0
    first: str = ""  # fetched at
    last: str = ""
    topics: Counter[str] = msgspec.field(default_factory=Counter)
    langs: Counter[str] = msgspec.field(default_factory=Counter)
    mimes: Counter[str] = msgspec.field(default_factory=Counter)
    years: Counter[str] = msgspec.field(default_factory=Counter)
    hosts: Counter[str] = msgspec.field(default_factory=Counter)
    licences: Counter[str] = msgspec.field(default_factory=Counter)
    licences_by: Counter[str] = msgspec.field(default_factory=Counter)
    left: Counter[str] = msgspec.field(default_factory=Counter)  # pages, by reason
    reserved: Counter[str] = msgspec.field(default_factory=Counter)  # what owners say, of those left out

    def add(self, row: Row) -> None:
        """Count a row that is in it."""
        self.pages += 1
        self.words += row["words"]
        self.characters += len(row["text"])
        self.first = min(self.first or row["fetched_at"], row["fetched_at"])
        self.last = max(self.last, row["fetched_at"])
        for counter, value in (
            (self.topics, row["topic"]), (self.langs, row["lang"]), (self.mimes, row["mime"]),
            (self.years, row["date"][:4]), (self.hosts, row["host"]), (self.licences, row["licence"]),
        ):  # fmt: skip
            counter[value] += 1
        if row["licence"]:
            self.licences_by[row["licence_by"]] += 1


def provenance(library: LibraryFolder, file: str, for_training: bool, made_at: float) -> dict[str, Any]:
    """Read from a library how its corpora come about."""
    with library.snapshot() as snapshot:
        runs = snapshot.runs()
    asked: dict[str, Any] = orjson.loads(runs[-1].asked).get("settings", {}) if runs else {}
    digest = hashlib.sha256(library.settings_path.read_bytes()).hexdigest()
    return {
        "name": library.folder.resolve().name,
        "file": file,
        "made_at": made_at,
        "for_training": for_training,
        "version": __version__,
        "recipe": str(asked.get("recipe", "")),
        "seeds": {topic["name"]: list(topic.get("seeds", ())) for topic in asked.get("topics", ())},
        "runs": [(run.began, run.ended or 0, "not over" if run.reason is None else run.reason) for run in runs],
        "model": str(library.get(MetaKey.MODEL, "")),
        "settings": f"sha256:{digest}",
    }


def datasheet(counts: Counts, made: Mapping[str, Any]) -> str:
    """The README of a corpus."""
    return _TEMPLATES.get_template("datasheet.md").render(
        counts=counts,
        made=made,
        languages=[lang for lang, _ in counts.langs.most_common() if re.fullmatch("[a-z]{2,3}", lang)],
        size=next((name for most, name in _SIZES if counts.pages < most), "n>1M"),
        dates=_dates(counts),
        reasons=REASONS,
        how=HOW,
        table=_table,
        named=_named,
        most=_MOST,
        most_seeds=_SEEDS,
    )


def escaped(text: str) -> str:
    """A text in which Markdown and HTML find nothing to do."""
    return _MARKS.sub(r"\\\1", one_line(text))


def _quoted(value: str | list[str]) -> str:
    """As JSON, which YAML reads too."""
    return orjson.dumps(one_line(value) if isinstance(value, str) else value).decode()


def _named(seeds: Sequence[str]) -> str:
    """The first seeds, those that are addresses."""
    return ", ".join(f"<{seed}>" for seed in seeds[:_SEEDS] if re.fullmatch(r"https?://[^\s<>]+", seed))


def _dates(counts: Counts) -> str:
    first, last = counts.first[:10], counts.last[:10]
    return f"on {last or '-'}" if first == last else f"from {first} to {last}"


def _table(title: str, counter: Mapping[str, int], nothing: str = "-") -> str:
    """The largest counts, and the rest in one line."""
    ranked: Sequence[tuple[str, int]] = sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))
    lines: Iterable[str] = (f"| {escaped(name) or nothing} | {n:,} |" for name, n in ranked[:_MOST])
    rest = sum(n for _, n in ranked[_MOST:])
    more = [f"| {len(ranked) - _MOST:,} others | {rest:,} |"] if rest else []
    return "\n".join([f"| {title} | Pages |", "|---|--:|", *lines, *more])


_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=False,  # it is Markdown: what comes from the web goes through `escaped`
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.filters |= {"escaped": escaped, "iso": iso, "many": many, "number": "{:,}".format, "quoted": _quoted}
