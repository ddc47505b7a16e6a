"""What do documents cost a crawl? The same pages with and without PDFs among them: a fifth of all that is fetched.

The PDFs are pieces of real papers, each with a remark of its own so that no two are the same to the byte. Both crawls
end when nothing is left. HTML pages a second are counted until the last of them is kept; `after_s` tells how long the
documents that waited were read after that.
"""

import argparse
import io
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import measure
import pypdfium2
import webroot

from analecta.store.library import LibraryFolder

PAPERS = webroot.PROJECT.parent / "shared" / "data" / "papers"
OUT = Path(__file__).parent / "out" / "mixed.json"
HOSTS = 20  # with PDFs
SHELF = 25  # PDFs that one page links to


def pieces(folder: Path, length: int) -> list[bytes]:
    """The papers, cut into PDFs of so many pages."""
    found = []
    for path in sorted(folder.glob("*.pdf")):
        paper = pypdfium2.PdfDocument(path)
        for start in range(0, len(paper), length):
            piece = pypdfium2.PdfDocument.new()
            piece.import_pages(paper, list(range(start, min(start + length, len(paper)))))
            file = io.BytesIO()
            piece.save(file)
            found.append(file.getvalue())
    return found


def some(pages: Iterable[tuple[str, bytes]], count: int) -> list[tuple[str, bytes]]:
    """The pages of the first hosts that together have so many."""
    found: list[tuple[str, bytes]] = []
    for url, body in sorted(pages):
        if len(found) >= count and urlsplit(url).netloc != urlsplit(found[-1][0]).netloc:
            break
        found.append((url, body))
    return found


def shelf(top: int) -> str:
    """The address of a page that links to PDFs."""
    return f"http://papers{top // SHELF % HOSTS}.test/{top}.html"


def shelves(papers: list[bytes], count: int) -> Iterator[tuple[str, bytes]]:
    """Sites of PDFs: pages that link to some each, and the PDFs."""
    for top in range(0, count, SHELF):
        numbers = range(top, min(top + SHELF, count))
        links = "".join(f'<a href="/{n}.pdf">paper number {n}</a>\n' for n in numbers)
        yield shelf(top), f"<title>Shelf {top}</title>{links}".encode()
        for n in numbers:
            yield urljoin(shelf(top), f"/{n}.pdf"), papers[n % len(papers)] + f"\n% copy {n}\n".encode()


def crawl(web: webroot.Web, pdfs: int, workers: int, folder: Path) -> dict[str, Any]:
    """A crawl of all pages, and of so many PDFs; how fast the pages came."""
    hosts = [host for host in web.hosts if pdfs or not host.startswith("papers")]
    seeds = [seed for seed in web.seeds if "//papers" not in seed]
    seeds += [shelf(top) for top in range(0, pdfs, SHELF)]
    topics = f'[[topics]]\nname = "T"\nseeds = {json.dumps(seeds)}\n'
    LibraryFolder.create(folder, f'recipe = "breadth-first"\n[scope]\nhosts = {json.dumps(hosts)}\n{topics}')
    asked = ["--workers", str(workers), "--delay", "0", "--connect-to", web.address]
    command = [sys.executable, "-m", "analecta", "crawl", str(folder), *asked, "--json"]
    used = measure.run(command)
    ended = time.time()
    rows: list[tuple[float, str]] = []
    for shard in folder.glob("shards/p*.db"):
        db = sqlite3.connect(shard)
        rows += db.execute("SELECT kept_at, mime FROM pages").fetchall()
        db.close()
    times = sorted(at for at, mime in rows if mime == "text/html")
    took = times[-1] - times[0]
    return {
        "html": len(times),
        "pdf": len(rows) - len(times),
        "html_per_s": len(times) / took,
        "after_s": ended - times[-1],
        "cpu_s": used.cpu,
    }


def main() -> None:
    """Crawl with and without, in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=9000, help="HTML pages that are served (%(default)s)")
    parser.add_argument("--length", type=int, default=4, help="pages of a PDF (%(default)s)")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    papers = pieces(PAPERS, given.length)
    if not papers:
        sys.exit(f"There are no PDFs in {PAPERS}.")
    pages = some(webroot.pages(), given.pages)
    runs: list[dict[str, Any]] = []
    served = [*pages, *shelves(papers, len(pages) // 4)]
    with webroot.serve(served) as web, tempfile.TemporaryDirectory() as scratch:
        for turn in range(2 * given.repeat):
            pdfs = runs[-1]["html"] // 4 if turn % 2 else 0  # some of the pages are linked from nowhere
            runs.append(crawl(web, pdfs, given.workers, Path(scratch) / str(turn)))
            print({name: round(value, 2) for name, value in runs[-1].items()}, flush=True)
    kept = [mixed["html_per_s"] / plain["html_per_s"] for plain, mixed in zip(runs[::2], runs[1::2], strict=True)]
    measure.keep(given.o, {"machine": measure.machine(), "length": given.length, "runs": runs, "kept": kept})
    print(f"with a fifth of PDFs a crawl keeps {statistics.median(kept):.0%} of its HTML pages a second")


if __name__ == "__main__":
    main()
