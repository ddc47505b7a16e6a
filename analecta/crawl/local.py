"""A crawl in this process, without sockets and threads, over the network or with a `fetch` of one's own.

For evaluation and repeated crawls, which ask an archive: a hundred short crawls would otherwise start a hundred
processes, each of which reads the archive again.
"""

import asyncio
import contextlib
import time
from collections import defaultdict

from analecta.crawl.build import partition
from analecta.crawl.control import EngineStatus, Message, decode
from analecta.crawl.coordinator import Coordinator, CrawlStatus
from analecta.crawl.engine import Engine
from analecta.crawl.run import Crawl, Progress
from analecta.errors import ResourceError
from analecta.protocols import FetchFunction
from analecta.settings.schema import Settings
from analecta.store import OperationalError
from analecta.store.library import LibraryFolder


def crawl_here(library: LibraryFolder, settings: Settings, fetch: FetchFunction | None = None) -> CrawlStatus:
    """Crawl in this process until it is over; with a `fetch` no site is asked, and needs no contact."""
    return LocalCrawl(library, settings, fetch).run()


class LocalCrawl(Crawl):
    """A run whose partitions are engines in one event loop."""

    def __init__(
        self,
        library: LibraryFolder,
        settings: Settings,
        fetch: FetchFunction | None = None,
        only_examples: bool = False,
    ) -> None:
        super().__init__(library, settings, only_examples, contact=fetch is None)
        self.fetch = fetch

    def run_partitions(self, coordinator: Coordinator, progress: Progress) -> None:
        """Run the engines until the coordinator has ended the crawl."""
        try:
            asyncio.run(self._run_engines(coordinator, progress))
        except ExceptionGroup as errors:
            error = errors.exceptions[0]
            if isinstance(error, (OSError, OperationalError)):
                raise ResourceError(f"cannot write to the library: {error}") from error
            raise error from errors  # which has those of other partitions

    async def _run_engines(self, coordinator: Coordinator, progress: Progress) -> None:
        count = coordinator.partitions
        boxes: defaultdict[int, list[bytes]] = defaultdict(list)
        async with contextlib.AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
            for n in range(count):
                control = LocalControl(coordinator, n, boxes, progress)
                parts = partition(self.settings, self.library, n, count, control, control.send, self.fetch)
                engine = await stack.enter_async_context(parts)
                tasks.create_task(_run_engine(engine, coordinator, n))


async def _run_engine(engine: Engine, coordinator: Coordinator, n: int) -> None:
    await engine.run()
    coordinator.ended(n)


class LocalControl:
    """A Control that asks the coordinator itself: each status is followed by a decision.

    Messages between partitions lie in `boxes` by their numbers, of which `n` is ours.
    """

    def __init__(
        self, coordinator: Coordinator, n: int, boxes: defaultdict[int, list[bytes]], progress: Progress
    ) -> None:
        self.coordinator = coordinator
        self.n = n
        self.boxes = boxes
        self.progress = progress
        self._heard = 0

    def receive(self) -> list[Message]:
        """Links from other partitions, and the directive, if there is a new one."""
        messages = [decode(message) for message in self.boxes.pop(self.n, [])]
        if self.coordinator.serial > self._heard:
            self._heard = self.coordinator.serial
            messages.append(self.coordinator.directive(self.n))
        return messages

    def report(self, status: EngineStatus) -> None:
        """Let the coordinator see it, and decide."""
        self.coordinator.observe(status)
        self.progress(self.coordinator.status())
        self.coordinator.step(time.monotonic())

    def send(self, to: int, message: bytes) -> None:
        """Put it into another partition's box."""
        self.boxes[to].append(message)
