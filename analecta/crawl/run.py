"""One run over a library: locked, with its settings and its result written down."""

import contextlib
import os
import time
from collections.abc import Callable

import msgspec

from analecta.crawl.checks import check, check_files
from analecta.crawl.coordinator import Coordinator, CrawlStatus
from analecta.crawl.processes.duplicates import settle_twins
from analecta.crawl.processes.pool import WorkerPool
from analecta.crawl.site_growth import SiteGrowth
from analecta.crawl.stop import disk_is_short
from analecta.crawl.training_schedule import TrainingSchedule
from analecta.errors import AnalectaError, ResourceError, UsageError
from analecta.model import Tally
from analecta.settings.schema import Settings
from analecta.store import SqliteError
from analecta.store.library import LibraryFolder
from analecta.store.library_db import record

Progress = Callable[[CrawlStatus], None]


class Crawl:
    """One run. `run` returns when it is over; `interrupt` asks it to end."""

    def __init__(
        self, library: LibraryFolder, settings: Settings, only_examples: bool = False, contact: bool = True
    ) -> None:
        """With `only_examples` it is over when the examples are fetched and learned from.

        Sites must be told a `contact`, unless none is asked.
        """
        check(settings, library.settings_path, contact)
        self.library = library
        self.settings = settings
        self.only_examples = only_examples
        self.topics: list[str] = []
        self.training = TrainingSchedule(library, settings)
        self.interrupts = 0
        self.coordinator: Coordinator | None = None

    def interrupt(self) -> None:
        """Once: finish what is under way. Twice: stop now."""
        self.interrupts += 1
        if self.coordinator is not None:
            self.coordinator.interrupts = self.interrupts

    @property
    def tally(self) -> Tally:
        """The sum over all partitions."""
        return self.coordinator.status().tally if self.coordinator else Tally()

    def run(self, progress: Progress = lambda _: None) -> CrawlStatus:
        """Crawl until a rule, the person or the end of the web says stop."""
        with self.library.lock():
            count = partitions(self.library, self.settings)
            check_files(self.settings, count)
            self.topics = self.library.topic_names(tuple(topic.name for topic in self.settings.topics))
            asked = msgspec.to_builtins(self.settings)
            run = self.library.begin_run({"settings": asked, "partitions": count})
            try:
                result = self._crawl(count, progress)
                if count > 1 and self.interrupts < 2:
                    result.tally.elsewhere += settle_twins(self.library)
                record(self.library, result.tally.pages)
            except Exception as error:
                words = str(error) if isinstance(error, AnalectaError) else f"{type(error).__name__}: {error}"
                with contextlib.suppress(SqliteError, ResourceError):  # of a full disk, the first words count
                    self.library.end_run(run, words, msgspec.to_builtins(self.tally))
                raise
            self.library.end_run(run, result.reason, msgspec.to_builtins(result.tally))
            return result

    def run_partitions(self, coordinator: Coordinator, progress: Progress) -> None:
        """Run the partitions until the coordinator has ended the crawl: each in a process of its own."""
        WorkerPool(self.library, self.settings, coordinator).run(progress)

    def _crawl(self, count: int, progress: Progress) -> CrawlStatus:
        self.training.prepare(self.topics)
        self.coordinator = Coordinator(
            self.settings,
            count,
            self.training,
            SiteGrowth(self.library, self.settings) if self.settings.communities.grow else None,
            disk=lambda: disk_is_short(self.library.folder, self.settings.stop.free_disk),
            note=self.library.note,
            now=time.monotonic(),
            only_examples=self.only_examples,
        )
        self.coordinator.interrupts = self.interrupts
        with contextlib.closing(self.training):
            self.run_partitions(self.coordinator, progress)
        return self.coordinator.status()


def partitions(library: LibraryFolder, settings: Settings) -> int:
    """How many partitions this library has; chosen at its first crawl."""
    wanted = settings.crawl.workers or os.cpu_count() or 1
    made = library.partitions
    if not made:
        library.make_shards(wanted)
        return wanted
    if settings.crawl.workers and settings.crawl.workers != made:
        raise UsageError(
            f"this library is split into {made} partitions: crawl it with --workers {made}, or leave that out"
        )
    return made
