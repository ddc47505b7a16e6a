"""Whole crawls over a web that stands still, one after another or several at a time."""

import contextlib
import gc
import multiprocessing
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import msgspec

from analecta.crawl.local import crawl_here
from analecta.errors import AnalectaError, ResourceError, UsageError
from analecta.evaluate.graph import Node, read_nodes
from analecta.model import Tally
from analecta.settings.load import load, merge, parse, recipe_names, recipe_text
from analecta.settings.schema import Settings
from analecta.signals import leave_stop_to_parent, stop_handler
from analecta.store.library import LibraryFolder
from analecta.testweb.webs import StillWeb, open_web
from analecta.urls import canonical
from analecta.views.rows import LeftOut, pages


class CrawlTask(msgspec.Struct, frozen=True):
    """A crawl to be done: a recipe (or a settings file), the seeds of each topic, and how many pages."""

    recipe: str
    topics: dict[str, tuple[str, ...]]
    draw: int
    pages: int
    settings: dict[str, Any] = {}


class TracedFetch(msgspec.Struct, frozen=True):
    """A page of a crawl, in the order of fetching."""

    id: int
    host: str
    topic: str
    confidence: float
    depth: int
    twin: bool


class CrawlTrace(msgspec.Struct):
    """What a crawl fetched, and what it cost."""

    fetched: list[TracedFetch]
    tally: Tally
    reason: str
    cpu: float
    seconds: float


def check_recipe(recipe: str, settings: Mapping[str, Any]) -> None:
    """Say at once if there is no such recipe, or if the settings make no sense."""
    text = _text(recipe) if _is_file(recipe) else recipe_text(recipe)
    try:
        msgspec.convert(merge(parse(text, recipe), settings), Settings, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"{recipe} and --set do not go together: {error}") from error


def recipe_label(recipe: str) -> str:
    """What a recipe is called: its name, or that of its file."""
    return Path(recipe).stem if _is_file(recipe) else recipe


def run(web: StillWeb, task: CrawlTask, scratch: Path | None = None) -> CrawlTrace:
    """Crawl, and read what came of it; the library is thrown away."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        library = LibraryFolder.create(Path(folder) / "library", _text(task.recipe) if _is_file(task.recipe) else "")
        settings = settings_of(library, task)
        began, cpu = time.perf_counter(), time.process_time()
        ending = crawl_here(library, settings, web)
        cpu, took = time.process_time() - cpu, time.perf_counter() - began
        if ending.code:
            raise AnalectaError(f"the crawl of {recipe_label(task.recipe)} ended early: {ending.reason}")
        fetched = [_fetch(row) for row in pages(library, LeftOut(), everything=True)]
        return CrawlTrace(fetched, ending.tally, ending.reason, cpu, took)


def settings_of(library: LibraryFolder, task: CrawlTask) -> Settings:
    """The settings of an evaluation's crawl: as the recipe has them, repeatable, with no network and no waiting."""
    asked: dict[str, Any] = {
        "topics": [{"name": name, "seeds": list(seeds)} for name, seeds in task.topics.items()],
        "crawl": {"workers": 1, "ordered": True, "seed": task.draw},
        "fetch": {"delay": 0},
        # Reach is counted over links, so pages that only a sitemap knows would be found beyond it.
        "policy": {"sitemaps": False},
        "stop": {"pages": task.pages, "idle": 1},
    }
    if not _is_file(task.recipe):
        asked["recipe"] = task.recipe
    return load(library.settings_path, merge(asked, task.settings))


def setting(text: str) -> dict[str, Any]:
    """`policy.decay=0.3` as a layer of settings."""
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set wants KEY=VALUE, such as policy.decay=0.3, not {text!r}")
    try:
        found: Any = msgspec.json.decode(value)
    except msgspec.DecodeError:
        found = value
    for part in reversed(key.strip().split(".")):
        found = {part: found}
    return dict(found)


def _is_file(recipe: str) -> bool:
    return recipe.endswith(".toml") and recipe not in recipe_names()


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the settings {file}: {error}") from error


def _fetch(row: Mapping[str, Any]) -> TracedFetch:
    target = canonical(row["final_url"])
    assert target is not None
    confidence = row["confidence"] or 0.0
    return TracedFetch(target.id, row["host"], row["topic"], confidence, row["depth"], bool(row["duplicate_of"]))


# --- The processes that crawl: each reads the web once and then does one crawl after another -------------------------


_web: dict[str, StillWeb] = {}  # of this process


class CrawlPool:
    """Does crawls in `jobs` processes; with one job, in this one."""

    def __init__(self, web: StillWeb, name: str, jobs: int) -> None:
        self.web, self.name, self.jobs = web, name, jobs
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> "CrawlPool":
        self._scratch = tempfile.TemporaryDirectory()  # ours: a crawl that is broken off leaves nothing behind
        if self.jobs > 1:
            # Not by fork: this process may have threads, and theirs would not go along.
            context = multiprocessing.get_context("spawn")
            self._others = set(multiprocessing.active_children())
            stopped: list[bool] = []
            with stop_handler(lambda: stopped.append(True)):  # half a process that starts would complain
                self._executor = ProcessPoolExecutor(self.jobs, context, _begin, (self.name,))
                self._executor.submit(int)  # which starts them all
            if stopped:
                self.__exit__(KeyboardInterrupt)
                raise KeyboardInterrupt
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        if self._executor:
            if kind:  # nobody waits for the crawls that are under way
                for child in set(multiprocessing.active_children()) - self._others:
                    child.terminate()
            self._executor.shutdown(cancel_futures=True)
        self._scratch.cleanup()

    def nodes(self) -> list[Node]:
        """All nodes of the web."""
        if not self._executor:
            return read_nodes(self.web)
        parts = [self._executor.submit(_nodes, part, self.jobs) for part in range(self.jobs)]
        with _told_if_broken():
            return [node for part in parts for node in part.result()]

    def crawls(self, tasks: Sequence[CrawlTask]) -> Iterator[tuple[int, CrawlTrace]]:
        """Each crawl as soon as it is done, with its number; the longest are begun first."""
        scratch = Path(self._scratch.name)
        if not self._executor:
            yield from ((n, run(self.web, task, scratch)) for n, task in enumerate(tasks))
            return
        order = sorted(range(len(tasks)), key=lambda n: -tasks[n].pages)
        waiting = {self._executor.submit(_run, tasks[n], scratch): n for n in order}
        with _told_if_broken():
            for done in as_completed(waiting):
                yield waiting[done], done.result()


@contextlib.contextmanager
def _told_if_broken() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise ResourceError("a process of the evaluation was killed: is there enough memory? Try --jobs 1") from error


def _begin(name: str) -> None:
    leave_stop_to_parent(signal.SIGTERM)  # with which the parent ends it, and clears up what it leaves
    gc.set_threshold(50_000, 20, 100)  # as the worker of a crawl has it
    _web["web"] = open_web(name)


def _nodes(part: int, parts: int) -> list[Node]:
    return read_nodes(_web["web"], part, parts)


def _run(task: CrawlTask, scratch: Path) -> CrawlTrace:
    return run(_web["web"], task, scratch)
