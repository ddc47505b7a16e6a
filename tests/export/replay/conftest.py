import os
import shutil
import subprocess
from pathlib import Path

import pytest

from analecta.model import FoundBy
from analecta.store.partition import NOARCHIVE, NOINDEX
from tests.publish.shelf import Shelf

# pywb needs brotlipy, which puts itself in the place of our brotli: such tools live in an environment of their own,
# which `make validators` makes.
TOOLS = Path(__file__).parents[3] / ".validators" / "tools" / "bin"


@pytest.fixture
def tool():
    """Runs a program of others; the test is skipped where it is not installed."""

    def found(name: str) -> str:
        path = shutil.which(name, path=os.pathsep.join((str(TOOLS), os.environ.get("PATH", ""))))
        return path or pytest.skip(f"{name} is not installed (see docs/wacz.md)")

    return found


@pytest.fixture
def run(tool):
    def ran(name: str, *arguments: str | Path, **more) -> subprocess.CompletedProcess[str]:
        command = [tool(name), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, **more)

    return ran


@pytest.fixture(scope="session")
def shelf(tmp_path_factory):
    """Two birds, an owl and a bee; a copy, a redirect in two steps, a 404, and two pages that want no copy shown."""
    with Shelf(tmp_path_factory.mktemp("shelf") / "lib") as shelf:
        shelf.said("http://h.test/robots.txt", b"User-agent: *")
        shelf.page("http://h.test/wren", found=FoundBy.SEED)
        shelf.page("http://h.test/robin", confidence=0.9)
        shelf.page("http://h.test/owl", topic=1)
        shelf.page("http://h.test/bee", topic=2)
        shelf.page("http://h.test/wren-copy", like="http://h.test/wren")
        shelf.page("http://h.test/secret", flags=NOARCHIVE)
        shelf.page("http://h.test/secret-copy", like="http://h.test/secret")
        shelf.page("http://h.test/unlisted", topic=-1, flags=NOINDEX)
        shelf.page("http://h.test/other", topic=-1)
        shelf.redirect("http://h.test/w", "http://h.test/moved")
        shelf.redirect("http://h.test/moved", "http://h.test/wren")
        shelf.said("http://h.test/gone", status=404, head=b"HTTP/1.1 404 Not Found\r\n\r\n")
    return shelf.library
