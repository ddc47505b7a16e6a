"""Makes docs/map.png, map-dark.png, site.png and collection.png: a library of a real web, in Chromium.

Run it with `make pictures`. The web is the archive of a school encyclopedia (../shared/data), replayed on this
machine; the library has the topics of examples/school_topics.txt. The same web gives the same crawl.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser import shot

HERE = Path(__file__).parent
WEB = HERE.parent.parent / "shared" / "data" / "wikischools.warc.gz"
TOPICS = HERE.parent / "examples" / "school_topics.txt"
ANALECTA = str(Path(sys.executable).parent / "analecta")
WIDTH, HEIGHT = 1280, 800


def analecta(folder: Path, command: str, *more: str) -> None:
    """Run one command, and show it."""
    print("$ analecta", command, *more, flush=True)
    subprocess.run([ANALECTA, *command.split(), *more], cwd=folder, check=True)


@contextmanager
def replayed(archive: Path) -> Iterator[str]:
    """The address at which an archive is served as a web."""
    with subprocess.Popen([ANALECTA, "replay", str(archive), "--port", "0"], stdout=subprocess.PIPE, text=True) as web:
        assert web.stdout
        try:
            served = re.search(r"127\.0\.0\.1:\d+", web.stdout.readline())
            assert served, "the archive is not served"
            yield served[0]
        finally:
            web.terminate()


def grow(folder: Path) -> None:
    """A library, its map and its site."""
    analecta(folder, "new school --outline", str(TOPICS))
    with replayed(WEB) as address:
        analecta(folder, f"crawl school --connect-to {address} --pages 1500 --workers 1 --delay 0 --seed 1")
    analecta(folder, "analyse school --clusters 12")
    analecta(folder, "map school")
    analecta(folder, "publish school -o site --title School")


def draw(folder: Path) -> None:
    """The pages as a reader sees them."""
    collection = folder / "site" / "topics" / "biology.html"
    pages = {"map": folder / "map.html", "site": folder / "site" / "index.html", "collection": collection}
    for name, page in pages.items():
        shot(page, HERE / f"{name}.png", WIDTH, HEIGHT)
    shot(pages["map"], HERE / "map-dark.png", WIDTH, HEIGHT, dark=True)


def main() -> None:
    """Grow the library and draw its pages."""
    if not WEB.exists():
        sys.exit(f"{WEB.name} is not in {WEB.parent}: the map and the site are NOT drawn")
    with tempfile.TemporaryDirectory() as name:
        grow(Path(name))
        draw(Path(name))


if __name__ == "__main__":
    main()
