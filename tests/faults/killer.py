"""`python -m tests.faults.killer LIBRARY`: a partition that dies of kill -9 whenever it parses a page named /deadly."""

import os
import signal
import sys
from pathlib import Path

from analecta.crawl.engine import Engine
from analecta.model import Page, Response, UrlRef
from analecta.parse import Parser
from analecta.store.library import LibraryFolder
from tests.crawls.alone import crawl_alone


class Deadly(Parser):
    """A parser with a fault that no `except` catches."""

    def __call__(self, answer: Response, target: UrlRef, heavy: bool | None = None) -> Page:
        if target.url.endswith("/deadly"):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(answer, target, heavy)


def abort(_answer: Response, _target: UrlRef, _mime: str) -> Page:
    """A parser for the sandbox's child that ends as a C library with a fault does."""
    os.abort()


def tweak(engine: Engine) -> None:
    """Put the deadly parser in place."""
    engine.fetcher.parser = Deadly()


if __name__ == "__main__":
    crawl_alone(LibraryFolder(Path(sys.argv[1])), tweak)
