"""What many tests share: a pocket web, a library that was grown from it once, and how tests are run."""

import os
from collections.abc import Iterator

import hypothesis
import pytest

from analecta.crawl.run import Crawl
from analecta.settings.edit import first_settings
from analecta.settings.load import load
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder
from analecta.store.library_db import record
from analecta.testweb.process import PocketServer
from tests.tools import MISSING

# `make test` tries the same cases each time, so that it fails for those who broke something; `make fuzz` tries others.
hypothesis.settings.register_profile("test", derandomize=True, database=None, deadline=None)
hypothesis.settings.register_profile("fuzz", max_examples=1000, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """In continuous integration a test that misses its program has failed (tests/tools.py)."""
    report = yield
    reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
    if os.environ.get("CI") == "true" and MISSING in reason:
        report.outcome = "failed"
        report.longrepr = f"{reason}. With CI=true it must be installed: see .ci/run"
    return report


@pytest.fixture(scope="session")
def pocket():
    with PocketServer(size=600, moody=False) as server:
        yield server


@pytest.fixture(scope="session")
def grown(pocket, tmp_path_factory):
    """A library of two partitions, grown from the pocket web; one seed is a redirect, so that there surely is one."""
    topics = [Topic(name, tuple(pocket.web.seeds(name, 3))) for name in pocket.web.topics[:2]]
    moved = next(page.url for page in pocket.web.pages(links=False) if page.status == 301 and "/old/" in page.url)
    topics[0] = Topic(topics[0].name, (*topics[0].seeds, moved))
    library = LibraryFolder.create(tmp_path_factory.mktemp("grown") / "lib", first_settings(topics, "adaptive"))
    asked = {
        "fetch": {"connect_to": pocket.address},
        "stop": {"pages": 450, "idle": 1.0},
        "scope": {"exclude": ["/calendar/"]},
        "crawl": {"workers": 2},
    }
    Crawl(library, load(library.settings_path, asked)).run()
    record(library, 450)
    return library
