"""The datasheet of a corpus: what is in it, how it was made, what was left out and why, and its limits.

It is a README in Markdown that begins with the card that dataset hubs read. Names that come from the web are escaped.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import orjson

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


class Provenance(msgspec.Struct, frozen=True):
    """How a corpus came about."""

    name: str
    file: str
    made_at: float
    for_training: bool
    recipe: str
    seeds: dict[str, list[str]]  # by topic
    runs: list[tuple[float, float, str]]  # began, ended, why it ended
    model: str
    settings: str  # digest of analecta.toml
    version: str = __version__


def provenance(library: LibraryFolder, file: str, for_training: bool, made_at: float) -> Provenance:
    """Read from a library how its corpora come about."""
    with library.snapshot() as snapshot:
        runs = snapshot.runs()
    asked: dict[str, Any] = orjson.loads(runs[-1].asked).get("settings", {}) if runs else {}
    digest = hashlib.sha256(library.settings_path.read_bytes()).hexdigest()
    return Provenance(
        library.folder.resolve().name, file, made_at, for_training, str(asked.get("recipe", "")),
        {topic["name"]: list(topic.get("seeds", ())) for topic in asked.get("topics", ())},
        [(run.began, run.ended or 0, "not over" if run.reason is None else run.reason) for run in runs],
        str(library.get(MetaKey.MODEL, "")), f"sha256:{digest}",
    )  # fmt: skip


def datasheet(counts: Counts, made: Provenance) -> str:
    """The README of a corpus."""
    parts = (_card(counts, made), _beginning(counts, made), _inside(counts), _licences(counts), _left_out(counts, made),
             _making(made), _limits(), _citing(counts, made))  # fmt: skip
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """A text in which Markdown and HTML find nothing to do."""
    return _MARKS.sub(r"\\\1", one_line(text))


def _card(counts: Counts, made: Provenance) -> str:
    languages = [lang for lang, _ in counts.langs.most_common() if re.fullmatch("[a-z]{2,3}", lang)]
    size = next((name for most, name in _SIZES if counts.pages < most), "n>1M")
    lines = [f"pretty_name: {_quoted(made.name)}", f"language: {_quoted(languages)}", "license: other"]
    lines += [f"size_categories: {_quoted([size])}", "configs:", "- config_name: default"]
    return "\n".join(["---", *lines, f"  data_files: {_quoted(made.file)}", "---"])


def _quoted(value: str | list[str]) -> str:
    """As JSON, which YAML reads too."""
    return orjson.dumps(one_line(value) if isinstance(value, str) else value).decode()


def _beginning(counts: Counts, made: Provenance) -> str:
    topics = ", ".join(escaped(topic) for topic in counts.topics) or "no topic"
    return (
        f"# {escaped(made.name)}\n\n{many(counts.pages, 'web page')} on {topics}: {counts.words:,} words, fetched "
        f"{_dates(counts)}. The rows are in `{made.file}`; one is one page, as it was when it was fetched. "
        "`corpus.json` has the figures below, complete."
    )


def _inside(counts: Counts) -> str:
    tables = [
        _table("Topic", counts.topics), _table("Language", counts.langs, "not known"), _table("Type", counts.mimes),
        _table("Year, as pages say", counts.years, "not said"), _table("Host", counts.hosts),
    ]  # fmt: skip
    return "## What is in it\n\n" + "\n\n".join(tables)


def _licences(counts: Counts) -> str:
    known = counts.pages - counts.licences[""]
    how = "; ".join(f"{n:,} by {HOW[by]}" for by, n in counts.licences_by.most_common())
    return (
        f"## Licences\n\nPages that say which licence they are under: {known:,} of {counts.pages:,}"
        f"{f' ({how})' if how else ''}. A page that says nothing is not free for that: the rights are its owner's, and "
        "what you may do with it is for the law where you are to say.\n\n"
        + _table("Licence", counts.licences, "nothing is said")
    )


def _left_out(counts: Counts, made: Provenance) -> str:
    lines = [f"- {many(counts.left[key], 'page')} {why}" for key, why in REASONS.items() if counts.left[key]]
    if said := "; ".join(f"{escaped(what)}: {n:,}" for what, n in counts.reserved.most_common()):
        lines.append(f"\nWhat owners reserve, in the words of Content-Usage, Content-Signal and TDMRep: {said}.")
    if not made.for_training:
        lines.append(
            "\nThis corpus is **not for training**: it may hold pages whose owners reserve them against that. The "
            "column `reserved` says which."
        )
    return "## What was left out\n\n" + ("\n".join(lines) or "Nothing.")


def _making(made: Provenance) -> str:
    lines = [
        f"- Made with Analecta {made.version} on {iso(made.made_at)[:10]}, recipe `{made.recipe or '-'}`.",
        f"- Settings `{made.settings}`, the judge's model `{made.model or '-'}`.",
    ]
    for topic, seeds in made.seeds.items():
        named = ", ".join(f"<{seed}>" for seed in seeds[:_SEEDS] if re.fullmatch(r"https?://[^\s<>]+", seed))
        more = f" and {len(seeds) - _SEEDS:,} more" if len(seeds) > _SEEDS else ""
        lines.append(f"- {escaped(topic)} began with {len(seeds):,} examples: {named or '-'}{more}.")
    for began, ended, reason in made.runs[-_MOST:]:
        until = f" to {iso(ended)[:16]}Z" if ended else ""
        lines.append(f"- A crawl from {iso(began)[:16]}Z{until}: {escaped(reason)}.")
    return (
        "## How it was made\n\nA focused crawl followed links from example pages, a judge trained on them decided "
        "which pages are on a topic (`confidence` says how sure it was), and robots.txt was obeyed throughout. `text` "
        "is the main text of a page, without menus and footers, where it could be told apart, else all its text.\n\n"
        + "\n".join(lines)
    )


def _limits() -> str:
    return (
        "## Known limits\n\n"
        "- It is a sample that a judge chose: what is unlike the examples is missing, and some pages are on another "
        "topic than `topic` says. Filter by `confidence`.\n"
        "- Texts may hold names and other personal data, errors and offence; nothing was taken out.\n"
        "- `author`, `date` and `lang` are what pages say of themselves. `date` may be of the last change.\n"
        "- Licences are recognised by few sure signs; text that a page quotes may be under another.\n"
        "- What owners reserve is as it was when pages were fetched. Ask again before you use an old corpus."
    )


def _citing(counts: Counts, made: Provenance) -> str:
    year = iso(made.made_at)[:4]
    return (
        f"## How to cite it\n\n> {escaped(made.name)}: {many(counts.pages, 'web page')} fetched {_dates(counts)}, "
        f"collected with Analecta {made.version}. {year}.\n\n"
        "Cite single pages by their `url` and `fetched_at`."
    )


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
