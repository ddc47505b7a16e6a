"""The process of one partition: `python -m analecta.crawl.processes.worker`, started by the coordinator."""

import asyncio
import contextlib
import gc
import os
import socket
import sys
from pathlib import Path

import msgspec

from analecta.crawl.build import partition
from analecta.crawl.control import COORDINATOR, MessageControl
from analecta.crawl.processes.transport import PeerGone, SocketTransport, WorkerJob
from analecta.errors import AnalectaError, ResourceError
from analecta.signals import leave_stop_to_parent
from analecta.store import OperationalError
from analecta.store.library import LibraryFolder


async def work(job: WorkerJob) -> None:
    """Run the partition until the coordinator says stop, or is gone."""
    pipes = SocketTransport({peer: socket.socket(fileno=fd) for peer, fd in job.ends.items()})
    with contextlib.closing(pipes):
        library = LibraryFolder(Path(job.library))
        control = MessageControl(pipes)
        async with partition(job.settings, library, job.me, job.partitions, control, pipes.send) as engine:
            asyncio.get_running_loop().add_reader(pipes.ends[COORDINATOR], engine.wake)
            with contextlib.suppress(PeerGone):
                await engine.run()


def main() -> None:
    """Read the job and do it. Ctrl-C goes to the coordinator, which tells us."""
    leave_stop_to_parent()
    # A page makes thousands of objects that die with it: young collections of 700 would look at them again and again.
    gc.set_threshold(50_000, 20, 100)
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=WorkerJob)
    try:
        asyncio.run(work(job))
    except AnalectaError as error:
        _give_up(str(error), error.exit_code)
    except (OSError, OperationalError) as error:
        _give_up(f"cannot write to the library: {error}", ResourceError.exit_code)


def _give_up(words: str, code: int) -> None:
    print(words, file=sys.stderr, flush=True)
    os._exit(code)


if __name__ == "__main__":
    main()
    os._exit(0)  # all is committed and closed: to take a million objects apart one by one is 0.1 s for nothing
