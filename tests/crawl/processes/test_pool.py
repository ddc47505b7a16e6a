"""The processes of the partitions, without processes: what is counted where one dies."""

from types import SimpleNamespace

from analecta.crawl.control import EngineStatus, encode
from analecta.crawl.coordinator import Coordinator
from analecta.crawl.processes.pool import WorkerPool
from analecta.model import Tally
from analecta.settings.schema import Settings, Topic
from analecta.store.library import LibraryFolder

STATUS = EngineStatus(0, Tally(pages=3), 0, 0, 0, 0, 0, 0, "model", -1.0, 0, [], serial=1)


class Link:
    """A line on which one status lies."""

    def __init__(self):
        self.messages = [encode(STATUS)]

    def receive(self):
        taken, self.messages = self.messages, []
        return taken


def test_f01_a_status_that_came_just_before_a_partition_died_counts_once(tmp_path):
    settings = Settings(topics=(Topic("t"),))
    training = SimpleNamespace(topics=["t"], hubs=(), before=0, model="model")
    coordinator = Coordinator(settings, 1, training)
    pool = WorkerPool(LibraryFolder.create(tmp_path / "lib", ""), settings, coordinator)
    started = []
    process = SimpleNamespace(poll=lambda: -9)
    pool.workers = [SimpleNamespace(process=process, restarts=0, last_words="", start=lambda: started.append(0))]
    pool.links = [Link()]
    pool.look_after()
    pool.receive()
    assert (coordinator.status().tally.pages, coordinator.status().engines) == (3, [])
    assert started == [0]
