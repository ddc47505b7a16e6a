"""How fast is search, and how well does it find? 100,000 generated pages indexed, asked, and indexed anew.

The pages are those of the pocket web, written straight into a shard: no crawl. With `--known LIB` pages of a crawled
library are asked for by the words of their titles (known items): nDCG at 10, where only the page itself counts, and
where a page with the same title counts as well, for nobody could tell the two apart.
"""

import argparse
import json
import math
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from analysis import write
from measure import keep, machine, show

from analecta.search import SearchRequest, SearchResult, opened
from analecta.search.update import folder_of, sync
from analecta.store.library import LibraryFolder
from analecta.store.rows import PageRow

OUT = Path(__file__).parent / "out" / "search.json"
PAGES, QUERIES = 100_000, 500
_WORDS = re.compile(r"\w+")


def build(folder: Path) -> dict[str, Any]:
    """Index all pages of a library, in this process and its threads."""
    library = LibraryFolder(folder)
    began, cpu = time.monotonic(), time.process_time()
    done = sync(library, rebuild=True)
    wall, cpu = time.monotonic() - began, time.process_time() - cpu
    size = sum(path.stat().st_size for path in folder_of(library).rglob("*") if path.is_file())
    with library.snapshot() as snapshot:
        some = [len(snapshot.text(item)) for item in islice(snapshot.shown_pages(), 2000)]
    return {
        "pages": done.pages, "characters": sum(some) / len(some), "seconds": wall, "cpu_s": cpu,
        "pages_s": done.pages / wall, "mb": size / 1e6,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }  # fmt: skip


def questions(library: LibraryFolder, count: int) -> dict[str, list[str]]:
    """Questions of several kinds, made of what is in the pages."""
    rng = Random(1)
    with library.snapshot() as snapshot:
        pages = rng.sample(list(snapshot.shown_pages()), count)
        texts = [_WORDS.findall(snapshot.text(page)) for page in pages]
    words = [rng.sample(text, min(3, len(text))) for text in texts]
    at = [rng.randrange(max(1, len(text) - 3)) for text in texts]
    names = library.topic_names()
    return {
        "one word": [some[0] for some in words],
        "three words": [" ".join(some) for some in words],
        "either of three": [" OR ".join(some) for some in words],
        "a phrase": [f'"{" ".join(text[n : n + 3])}"' for text, n in zip(texts, at, strict=True)],
        "words, site, topic": [
            f'{some[0]} site:{page.host} topic:"{names[page.topic]}"'
            for some, page in zip(words, pages, strict=True)
        ],
        "a title": [" ".join(_WORDS.findall(page.title)) for page in pages],
    }  # fmt: skip


def ask(folder: Path, count: int) -> dict[str, Any]:
    """How long answers take, all of each: counting, ranking, facets, snippets of ten."""
    library = LibraryFolder(folder)
    began = time.monotonic()
    search = opened(library)
    opening = time.monotonic() - began
    rows, answers = [], []
    for kind, asked in questions(library, count).items():
        times, found = [], []
        for query in asked:
            began = time.perf_counter()
            found.append(search.find(SearchRequest(query)))
            times.append((time.perf_counter() - began) * 1000)
        answers += [_answer(one) for one in found]
        rows.append({"kind": kind, **_times(times), "found": sum(one.total for one in found) / len(found)})
    return {"open_s": opening, "rows": rows, "answers": answers}


def _answer(found: SearchResult) -> list[Any]:
    return [found.total, [(hit.page.id, round(hit.placed.score, 4)) for hit in found.hits], found.facets]


def _times(times: list[float]) -> dict[str, float]:
    times = sorted(times)
    return {"p50": times[len(times) // 2], "p95": times[int(len(times) * 0.95)], "most": times[-1]}


def known_items(folder: Path, count: int) -> list[dict[str, Any]]:
    """nDCG at 10 of questions that are the words of a page's title."""
    library = LibraryFolder(folder)
    search = opened(library)
    with library.snapshot() as snapshot:
        titled = [item for item in snapshot.shown_pages() if _WORDS.search(item.title)]
    often = Counter(map(_title, titled))
    asked = Random(1).sample(titled, min(count, len(titled)))
    answers = [search.find(SearchRequest(" ".join(_WORDS.findall(item.title)), facets=False)) for item in asked]
    own = [_gain([hit.page.id == item.id for hit in found.hits]) for item, found in zip(asked, answers, strict=True)]
    alike = [
        _gain([_named(hit.page.title) == _title(item) for hit in found.hits])
        for item, found in zip(asked, answers, strict=True)
    ]
    alone = [gain for item, gain in zip(asked, own, strict=True) if often[_title(item)] == 1]
    return [
        {"counts": "the page itself", "questions": len(own), "ndcg": _mean(own)},
        {"counts": "the page itself, of titles that no other has", "questions": len(alone), "ndcg": _mean(alone)},
        {"counts": "any page with that title", "questions": len(alike), "ndcg": _mean(alike)},
    ]


def _gain(right: Sequence[bool]) -> float:
    """One right answer: its gain is 1 at the first place and less at each after it."""
    return 1 / math.log2(right.index(True) + 2) if True in right else 0.0


def _mean(gains: Sequence[float]) -> float:
    return sum(gains) / max(len(gains), 1)


def _title(item: PageRow) -> str:
    return _named(item.title)


def _named(title: str) -> str:
    return " ".join(title.casefold().split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5,000 pages, 100 questions of each kind")
    parser.add_argument("--known", type=Path, help="a crawled library: known items by their titles")
    parser.add_argument("--keep", type=Path, help="where the generated library is left, or found, for another run")
    parser.add_argument("--step", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ask", type=int, help=argparse.SUPPRESS)
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    if given.step:
        print(json.dumps(ask(given.step, given.ask) if given.ask else build(given.step)))
        return
    figures: dict[str, Any] = {"machine": machine()}
    if given.known:
        figures["known"] = known_items(given.known, 200 if given.quick else 2000)
        show("Known items", figures["known"], {"Counts": "counts", "Questions": "questions", "nDCG@10": "ndcg:.4f"})
    else:
        measured(given, figures)
    keep(given.o, figures)


def measured(given: argparse.Namespace, figures: dict[str, Any]) -> None:
    """Index, ask, index anew, ask again: each in a process of its own."""
    pages, count = (PAGES // 20, QUERIES // 5) if given.quick else (PAGES, QUERIES)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary) / "lib"
        if not folder.exists():
            write(folder, pages)
        figures["build"] = [run("--step", str(folder))]
        first = run("--step", str(folder), "--ask", str(count))
        shutil.rmtree(folder / "index")
        figures["build"].append(run("--step", str(folder)))
        second = run("--step", str(folder), "--ask", str(count))
    figures["same"] = first.pop("answers") == second.pop("answers")
    figures["ask"] = first
    columns = {"Pages": "pages", "Characters": "characters:.0f", "Seconds": "seconds:.1f", "CPU s": "cpu_s:.1f"}
    show("Indexing", figures["build"], columns | {"Pages/s": "pages_s:.0f", "MB": "mb:.0f", "Peak GB": "peak_gb:.2f"})
    columns = {"Questions": "kind", "p50 ms": "p50:.1f", "p95 ms": "p95:.1f", "Most ms": "most:.1f"}
    show(f"Asking ({count} of each)", first["rows"], columns | {"Found": "found:.0f"})
    said = "equal" if figures["same"] else "DIFFER"
    print(f"Opened in {first['open_s']:.2f} s. Answers of the index made anew: {said}")


def run(*args: str) -> dict[str, Any]:
    """One step in a process of its own."""
    done = subprocess.run([sys.executable, __file__, *args], stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    main()
