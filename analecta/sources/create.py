"""What a person brought, read and searched, until there is something to learn from and to begin at: `new` and `add`."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import zip_longest
from pathlib import Path

import msgspec

from analecta.errors import ResourceError, UsageError
from analecta.fetch.client import fetch_one
from analecta.model import Page
from analecta.parse import Parser
from analecta.parse.saved_page import read_page
from analecta.settings.edit import Added, rewrite
from analecta.settings.schema import FetchSettings, Settings, Topic
from analecta.settings.topics import merge, once
from analecta.sources import SOURCES
from analecta.sources.collector import clean, combine, sound
from analecta.sources.engines.client import LIBRARY, check_known
from analecta.sources.engines.examples import PaperPhrases, cache_folder, find_examples, private
from analecta.sources.files import bring, take_back
from analecta.sources.lists import feed_of
from analecta.sources.papers.paper import Paper, to_toml
from analecta.sources.papers.queries import in_words, own_text, related, weighed_queries
from analecta.sources.papers.reader import read_brought
from analecta.sources.result import SkippedLine, SourceResult
from analecta.store.library import LibraryFolder, whole_or_nothing
from analecta.text.display import clean as safe
from analecta.urls import origin

Busy = Callable[[str], AbstractContextManager[object]]  # shows what takes a while

MAX_STARTS = 200  # of a topic, from its files
_OF_FILE = 50
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def engines_of(given: Sequence[str]) -> dict[str, str]:
    """Search engines by name, with the URLs that were given: NAME or NAME=URL."""
    engines = {name: url for name, _, url in (one.strip().partition("=") for one in given)}
    check_known(engines)
    if engines.get(LIBRARY):  # it is written down, and people change folders
        engines[LIBRARY] = str(Path(engines[LIBRARY]).expanduser().resolve())
    return engines


def read_papers(given: Sequence[Path], engines: Mapping[str, str], grobid: str, busy: Busy) -> list[Paper]:
    """What was read of research papers."""
    if given and not engines:
        raise UsageError("a paper wants a search engine: name one with --engine, such as openalex or searxng=URL")
    with busy("Reading papers ..."):
        papers = [read_brought(path, grobid) for path in given]
    for path, paper in zip(given, papers, strict=True):
        if not paper.title:
            raise UsageError(f"no title was found in {path}: is it a research paper?")
    return papers


def start(
    topic: str,
    files: Mapping[str, Sequence[Path | str] | None],
    queries: Sequence[str],
    papers: Sequence[Paper],
    engines: Mapping[str, str],
    settings: Settings,
    busy: Busy,
) -> tuple[SourceResult, list[str]]:
    """All that the files (by kind), questions and papers come to; what went wrong with search engines, in sentences.

    Without a `topic` all pages must stand below a name of their own.
    """
    if queries and not engines:
        raise UsageError("a question wants a search engine: name one with --engine, such as mediawiki or searxng=URL")
    given = [(kind, path) for kind, paths in files.items() for path in paths or ()]
    if not given and not queries and not papers:
        kinds = ", ".join(f"--{kind} {'DIR' if kind == 'examples' else 'FILE'}" for kind in (*SOURCES, "paper"))
        raise UsageError(f"there is nothing to begin with: give {kinds} or --query TEXT")
    readings = [(path, _read(kind, path, topic, settings, busy)) for kind, path in given]
    reading = combine(readings, searching=bool(engines))
    if not all(one.name for one in reading.topics):
        raise UsageError(
            "the library has several topics: say with --topic which of them, or which new one, the pages show"
        )
    if reading.files:
        with busy("Reading examples ..."):
            reading = _looked_into(reading)
    if not engines:
        _check_begins(reading)
        return reading, []
    found, troubles = _searched(reading, [*map(sound, queries)], papers, engines, settings, busy)
    _check_begins(found, troubles or ["try another --engine"])
    return found, troubles


def _read(kind: str, given: Path | str, topic: str, settings: Settings, busy: Busy) -> SourceResult:
    if kind != "feed" or not _ADDRESS.match(str(given)):
        return SOURCES[kind](Path(given), topic)
    with busy("Asking for the feed ..."):
        answer = fetch_one(str(given), settings.contact, settings.fetch)
    return public_only(feed_of(answer.body, given, topic, answer.url), str(given), settings.fetch)


def public_only(reading: SourceResult, named: str, fetch: FetchSettings) -> SourceResult:
    """What came over the network without pages at private addresses, but for those at the address that was named."""
    named = origin(named)
    why = {
        url: said for t in reading.topics for url in t.seeds if (said := private(url, fetch)) and origin(url) != named
    }
    kept = [msgspec.structs.replace(t, seeds=tuple(url for url in t.seeds if url not in why)) for t in reading.topics]
    topics = tuple(topic for topic in kept if topic.seeds)
    if not topics:
        raise UsageError(f"all pages of {named} are at private addresses: {next(iter(why.values()))}")
    skipped = [SkippedLine(0, sound(url), f"a private address: {said}") for url, said in why.items()]
    return msgspec.structs.replace(reading, topics=topics, skipped=(*reading.skipped, *skipped))


# --- search engines --------------------------------------------------------------------------------------------------


def _searched(
    reading: SourceResult,
    queries: Sequence[str],
    papers: Sequence[Paper],
    engines: Mapping[str, str],
    settings: Settings,
    busy: Busy,
) -> tuple[SourceResult, list[str]]:
    """The same with pages that search engines found; a topic that files show only needs pages to begin at."""
    shown = {t.name: t for t in reading.topics if t.examples and not t.seeds and not t.starts}
    asked = msgspec.structs.replace(reading, queries=reading.queries | {name: name for name in shown})
    groups = related(papers)
    with busy("Asking search engines ..."):
        found, troubles = find_examples(
            asked,
            engines,
            queries,
            {_name(group): PaperPhrases(weighed_queries(group), in_words(group)) for group in groups},
            settings=settings,
            cache=cache_folder(),
        )
    topics = tuple(
        msgspec.structs.replace(shown[t.name], starts=t.seeds + t.starts) if t.name in shown else t
        for t in found.topics
    )
    topics, _ = merge([*topics, *_as_examples(papers, groups)])
    many = [group for group in groups if len(group) > 1]
    told = [f"{paper.title}: {paper.why}" for paper in papers if paper.why]
    told += [f"{len(group)} papers are one topic, {_name(group)}: they share references" for group in many]
    return msgspec.structs.replace(found, topics=topics), told + troubles


def paper_files(papers: Sequence[Paper]) -> dict[str, str]:
    """What a library keeps of papers, in `topics/`: what was read, to be corrected, and the text, to learn from."""
    read = {f"paper-{i}.toml": to_toml(paper) for i, paper in enumerate(papers, 1)}
    return read | {f"paper-{i}.txt": safe(own_text(paper)) for i, paper in enumerate(papers, 1)}


def _as_examples(papers: Sequence[Paper], groups: Sequence[Sequence[Paper]]) -> list[Topic]:
    """A paper is itself the best example of what it is about."""
    files = {id(paper): f"topics/paper-{i}.txt" for i, paper in enumerate(papers, 1)}
    return [Topic(_name(group), examples=tuple(files[id(paper)] for paper in group)) for group in groups]


def _name(group: Sequence[Paper]) -> str:
    """What the topic of some papers is called."""
    return clean(group[0].title)


def _check_begins(reading: SourceResult, troubles: Sequence[str] = ()) -> None:
    """There must be a page to fetch; `troubles` is what search engines said, if they were asked."""
    if any(topic.seeds or topic.starts for topic in reading.topics):
        return
    if troubles:
        raise ResourceError(f"no page was found for any topic: {'; '.join(troubles)}")
    raise UsageError(
        "the files show what is meant, but not where to begin: none of them links to a page. "
        "Give some addresses too, in a list *.urls or with --seeds FILE, or name a search engine with --engine"
    )


# --- files that are examples -----------------------------------------------------------------------------------------


def _looked_into(reading: SourceResult) -> SourceResult:
    """The same, without files that hold no text, and with the pages that the others link to."""
    with Parser() as parser:
        pages = {path: read_page(Path(path), name, parser) for path, name in reading.files.items()}
    good = {path: page for path, page in pages.items() if page.text}
    bad = [(Path(path), page.limits) for path, page in pages.items() if path not in good]
    skipped = [SkippedLine(0, sound(path.name), why, sound(str(path.parent))) for path, why in bad]
    topics = [_with_starts(topic, good) for topic in reading.topics]
    others = msgspec.structs.replace(reading.others, examples=_readable(reading.others.examples, good))
    left = tuple(topic for topic in topics if topic.seeds or topic.examples)
    if not left:
        raise UsageError(f"{next(iter(pages))}: {skipped[0].why}; nor does any other file show what is meant")
    return msgspec.structs.replace(
        reading,
        topics=left,
        others=others,
        skipped=(*reading.skipped, *skipped),
        files={path: name for path, name in reading.files.items() if path in good},
    )


def _readable(paths: Sequence[str], good: Mapping[str, Page]) -> tuple[str, ...]:
    return tuple(path for path in paths if path in good)


def _with_starts(topic: Topic, good: Mapping[str, Page]) -> Topic:
    """Begin also where pages were saved from and at what they link to: the first link of each file, the second ..."""
    examples = _readable(topic.examples, good)
    links = zip_longest(*(_links(good[path])[:_OF_FILE] for path in examples))
    seeds = once(topic.seeds)
    found = once([*seeds, *(url for row in links for url in row if url)])[len(seeds) :]
    starts = once([*topic.starts, *found[:MAX_STARTS]])
    return msgspec.structs.replace(topic, starts=starts, examples=examples)


def _links(page: Page) -> list[str]:
    """Where a page was saved from, if it says so, then what it links to."""
    own = [page.url] if _ADDRESS.match(page.url) else []
    return own + [link.target.url for link in page.links if not (link.nofollow or page.nofollow)]


# --- writing ---------------------------------------------------------------------------------------------------------


def make(folder: Path, settings: str, reading: SourceResult, texts: Mapping[str, str]) -> None:
    """Make a library with what was brought, or nothing."""
    with whole_or_nothing(folder):
        LibraryFolder.create(folder, settings, texts)
        bring(reading.files, folder)


def write(library: LibraryFolder, added: Added, files: Mapping[str, str]) -> Path:
    """Add to a library what was brought, or nothing; where its former settings are."""
    made = bring(files, library.folder)
    try:
        return rewrite(library.settings_path, added.text)
    except BaseException:
        take_back(made, library.folder)
        raise
