"""How long does it take to learn from feedback? 100,000 generated pages judged again by the new model, and put back.

The pages are those of the pocket web, written straight into two shards: no crawl. Processor time is that of all
processes together, and tells more than the clock where others use the machine too.
"""

import argparse
import re
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from analysis import BATCH, PAGES, cards, target
from measure import keep, machine, show

from analecta.frontier.policy import EXAMPLE_PRIORITY
from analecta.learning import retrain as work
from analecta.learning.reclassify import judged, stored
from analecta.model import Candidate, UrlState
from analecta.settings.edit import first_settings
from analecta.settings.load import load
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder
from analecta.store.library_db import GOOD, Mark, say
from analecta.store.partition import PageRecord, Shard
from analecta.store.schema import pack_text
from analecta.testweb.pocket import PocketWeb

OUT = Path(__file__).parent / "out" / "reclassify.json"
SEEDS = 8
_TAG = re.compile(r"<[^>]*>")


def write(folder: Path, count: int) -> LibraryFolder:
    """A library of so many pages in two partitions, eight of each topic its examples; ten pages called good."""
    web = PocketWeb(size=count * 5 // 4)
    seeds = {name: web.seeds(name, SEEDS) for name in web.topics}
    examples = {target(url).id for urls in seeds.values() for url in urls}
    words: list[Mark] = []
    folder.mkdir()
    shards = [Shard(folder / f"p{n:02d}.db") for n in range(2)]
    for n, card in enumerate(cards(web, count), 1):
        own, shard = target(card.url), shards[n % 2]
        example = own.id in examples
        if not example and len(words) < 10:
            words.append(Mark(own.id, own.url, GOOD, card.topic))
        topic = web.topics.index(card.topic)
        found = Candidate(own, EXAMPLE_PRIORITY if example else 0.5, topic)
        text = _TAG.sub("", web.writer.page(card))
        values = {
            "id": own.id, "kept_at": 1.0, "fetched_at": 1.0, "status": 200, "flags": 0, "title": card.title,
            "mime": "text/html", "topic": topic, "confidence": 0.75, "text": pack_text(text), "model": "0" * 32,
        }  # fmt: skip
        shard.add([(n, found, UrlState.DONE, False, "")])
        shard.add_page(PageRecord(**values), UrlState.DONE, 0, 0)
        if n % BATCH == 0:
            for one in shards:
                one.commit()
    for one in shards:
        one.commit()
        one.close()
    topics = [Topic(name, tuple(urls)) for name, urls in seeds.items()]
    library = LibraryFolder.create(folder / "lib", first_settings(topics, "adaptive"))
    for n in range(2):
        shutil.move(folder / f"p{n:02d}.db", library.shard_path(n))
    library.topic_names(web.topics)
    library.put("partitions", 2)
    library.put("model", "0" * 32)
    say(library, words)
    return library


def processor() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(library: LibraryFolder) -> dict[str, Any]:
    """Retrain and undo; whether all is as before then."""
    settings = load(library.settings_path)
    before = stored(library)
    cpu = processor()
    done = work.retrain(library, settings)
    used, end = processor() - cpu, time.monotonic()
    work.undo(library, settings)
    return {
        "pages": done.pages,
        "seconds": done.seconds,
        "cpu_s": used,
        "changed": len(done.changes),
        "undo_s": time.monotonic() - end,
        "exact": stored(library) == before,
    }


def judging(library: LibraryFolder, jobs: int) -> dict[str, Any]:
    """Judging alone, nothing written."""
    settings = load(library.settings_path)
    lesson = work._lesson(library, settings, library.topic_names(), library.models)
    model = work.TrainedModel(str(library.models), lesson.model, settings.judge.kind)
    start, cpu = time.monotonic(), processor()
    pages = sum(len(rows) for _, rows in judged([library.shard_path(n) for n in range(2)], model, {}, jobs))
    return {"jobs": jobs, "pages": pages, "seconds": time.monotonic() - start, "cpu_s": processor() - cpu}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5,000 pages")
    parser.add_argument("-o", type=Path, default=OUT)
    given = parser.parse_args()
    figures: dict[str, Any] = {"machine": machine()}
    with tempfile.TemporaryDirectory() as folder:
        library = write(Path(folder) / "made", PAGES // 20 if given.quick else PAGES)
        figures["judging"] = [judging(library, jobs) for jobs in (1, 2)]
        figures["retrain"] = [timed(library)]
    columns = {"Pages": "pages", "Seconds": "seconds:.1f", "CPU s": "cpu_s:.1f"}
    columns |= {"Pages that changed": "changed", "Undo, s": "undo_s:.1f", "All as before": "exact"}
    show("Retraining: learn, judge all again, write, compare", figures["retrain"], columns)
    show(
        "Judging alone",
        figures["judging"],
        {"Processes": "jobs", "Pages": "pages", "Seconds": "seconds:.1f", "CPU s": "cpu_s:.1f"},
    )
    keep(given.o, figures)


if __name__ == "__main__":
    main()
