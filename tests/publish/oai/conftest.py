import contextlib

import pytest

from analecta.publish.oai.sync import keeping
from tests.publish.oai.growing import Growing, Now, bare, serving


@pytest.fixture
def growing(tmp_path):
    made = Growing(tmp_path / "lib")
    yield made
    made.shard.close()


@pytest.fixture
def now():
    return Now()


@pytest.fixture
def keeper(growing, now):
    with keeping(growing.library, now, "r.test") as keeper:
        yield keeper


@pytest.fixture
def few(tmp_path):
    """Records of no library, two in an answer."""
    with bare(tmp_path) as made:
        yield made


@pytest.fixture
def served(monkeypatch):
    """Serves libraries that are looked at often; gives the address."""
    monkeypatch.setattr("analecta.publish.oai.sync.EVERY", 0.05)
    monkeypatch.setattr("analecta.publish.oai.sync._SHARE", 1)
    with contextlib.ExitStack() as stack:
        yield lambda *asked, **more: stack.enter_context(serving(*asked, **more))
