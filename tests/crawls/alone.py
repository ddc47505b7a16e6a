"""One partition in this process, without a coordinator: for tests that need to reach into the engine (its clocks)."""

import asyncio
from collections.abc import Callable

from analecta.crawl.build import partition
from analecta.crawl.control import Directive, EngineStatus, MessageControl, decode, encode
from analecta.crawl.engine import Engine
from analecta.judge import new_judge
from analecta.model import UNLIMITED
from analecta.settings.load import load
from analecta.store.library import LibraryFolder


class Leader:
    """The other end of the partition's line: says go, and stop when twice nothing was left (or time is over)."""

    def __init__(self, model: str) -> None:
        self.order = Directive(UNLIMITED, model)
        self.quiet = 0

    def send(self, _to: int, message: bytes) -> None:
        """Take a report."""
        report = decode(message)
        if isinstance(report, EngineStatus):
            self.quiet = self.quiet + 1 if report.model and not report.queued and not report.in_flight else 0

    def receive(self) -> list[bytes]:
        """Give the order."""
        if self.quiet >= 2:
            self.order.stop = "now"
        return [encode(self.order)]


def crawl_alone(library: LibraryFolder, tweak: Callable[[Engine], None], seconds: float = 30.0) -> None:
    """Crawl with an engine that `tweak` may change before it starts; at most so long."""
    settings = load(library.settings_path)
    library.put("partitions", 1)
    topics = library.topic_names(tuple(topic.name for topic in settings.topics))
    leader = Leader(new_judge(settings).fit([], topics).save(library.models))

    async def run() -> None:
        async with partition(settings, library, 0, 1, MessageControl(leader), leader.send) as engine:
            tweak(engine)
            asyncio.get_running_loop().call_later(seconds, setattr, leader.order, "stop", "now")
            await engine.run()

    asyncio.run(run())
