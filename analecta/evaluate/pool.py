"""The processes that crawl: each reads the web once and then does one crawl after another."""

import contextlib
import gc
import multiprocessing
import signal
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from analecta.errors import Environment
from analecta.evaluate.crawls import Task, Trace, run
from analecta.evaluate.graph import Node, read_nodes
from analecta.signals import leave_stop_to_parent, stop_handler
from analecta.testweb.webs import Web, open_web

_web: dict[str, Web] = {}  # of this process


class Pool:
    """Does crawls in `jobs` processes; with one job, in this one."""

    def __init__(self, web: Web, name: str, jobs: int) -> None:
        self.web, self.name, self.jobs = web, name, jobs
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Pool":
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

    def crawls(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Trace]]:
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
        raise Environment("a process of the evaluation was killed: is there enough memory? Try --jobs 1") from error


def _begin(name: str) -> None:
    leave_stop_to_parent(signal.SIGTERM)  # with which the parent ends it, and clears up what it leaves
    gc.set_threshold(50_000, 20, 100)  # as the worker of a crawl has it
    _web["web"] = open_web(name)


def _nodes(part: int, parts: int) -> list[Node]:
    return read_nodes(_web["web"], part, parts)


def _run(task: Task, scratch: Path) -> Trace:
    return run(_web["web"], task, scratch)
