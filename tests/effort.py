"""Bounds on work for input that was made to be slow, the same on a fast, a slow and a busy machine."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def little_work(seconds: float = 10.0) -> Iterator[None]:
    """Fails if the block takes that much CPU in this process.

    That is many times what it needs: a slow machine passes, work that grows with the square of its input does not.
    """
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds
