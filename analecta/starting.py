"""What a person brought, read and searched, until every topic has pages to begin with: for `new` and `add`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from analecta.errors import BadUse, Environment
from analecta.seed import READERS
from analecta.seed.combining import combine
from analecta.seed.papers import Paper, read_brought
from analecta.seed.papers import queries as phrases_of
from analecta.seed.reading import Reading
from analecta.seeking import cache_folder, find_examples
from analecta.settings import Settings

Busy = Callable[[str], AbstractContextManager[object]]  # shows what takes a while


def engines_of(given: Sequence[str]) -> dict[str, str]:
    """Search engines by name, with the URLs that were given: NAME or NAME=URL."""
    return {name: url for name, _, url in (one.strip().partition("=") for one in given)}


def read_papers(given: Sequence[Path], engines: Mapping[str, str], grobid: str, busy: Busy) -> list[Paper]:
    """What was read of research papers."""
    if given and not engines:
        raise BadUse("a paper wants a search engine: name one with --engine, such as openalex or searxng=URL")
    with busy("Reading papers ..."):
        papers = [read_brought(path, grobid) for path in given]
    for path, paper in zip(given, papers, strict=True):
        if not paper.title:
            raise BadUse(f"no title was found in {path}: is it a research paper?")
    return papers


def start(
    topic: str,
    files: Mapping[str, Sequence[Path] | None],
    queries: Sequence[str],
    papers: Sequence[Paper],
    engines: Mapping[str, str],
    settings: Settings,
    busy: Busy,
) -> tuple[Reading, list[str]]:
    """All that the files (by kind), questions and papers come to; what went wrong with search engines, in sentences."""
    if queries and not engines:
        raise BadUse("a question wants a search engine: name one with --engine, such as mediawiki or searxng=URL")
    given = [(kind, path) for kind, paths in files.items() for path in paths or ()]
    if not given and not queries and not papers:
        kinds = ", ".join(f"--{kind} FILE" for kind in (*READERS, "paper"))
        raise BadUse(f"there is nothing to begin with: give {kinds} or --query TEXT")
    reading = combine([(path, READERS[kind](path, topic)) for kind, path in given], searching=bool(engines))
    if not engines:
        return reading, []
    with busy("Asking search engines ..."):
        found, troubles = find_examples(
            reading,
            engines,
            queries,
            {paper.title: phrases_of([paper]) for paper in papers},
            contact=settings.contact,
            search=settings.search,
            cache=cache_folder(),
            fetch=settings.fetch,
        )
    if not found.topics:
        raise Environment("no page was found for any topic: " + ("; ".join(troubles) or "try another --engine"))
    return found, troubles
