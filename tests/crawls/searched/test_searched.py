"""From a paper, or a bare outline, to a crawling library in two commands; a replayed web searches itself."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analecta.settings.load import load
from analecta.store.library import LibraryFolder
from analecta.testweb.process import ServerProcess
from tests.crawls.driver import pages
from tests.crawls.searched import web
from tests.sources.papers.pdf import BOLD, ROMAN, hanging, make_pdf, paragraph


@contextmanager
def replayed(site: web.Site, folder: Path) -> Iterator[ServerProcess]:
    path = web.archive(folder / "web.warc.gz", site.pages)
    with ServerProcess("analecta.testweb.webs:make", {"paths": [str(path)], "search": True}) as server:
        yield server


def analecta(*words: str, cache: Path) -> dict:
    command, home = [sys.executable, "-m", "analecta", *words, "--json"], {"XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | home, timeout=60)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def grown(folder: Path, server: ServerProcess, begin: list[str], number: int) -> LibraryFolder:
    """A library made and crawled, in two commands."""
    lib, engine = str(folder / "lib"), f"searxng=http://{server.address}/search"
    analecta("new", lib, *begin, "--engine", engine, cache=folder)
    analecta("crawl", lib, "--pages", str(number), "--connect-to", server.address, cache=folder)
    return LibraryFolder(folder / "lib")


def sundial_paper() -> bytes:
    """The paper as a PDF, with its references at the end."""
    cited = [f'[{i}] A. Shade, "{title}," Journal of Dials, {1990 + i}.' for i, title in enumerate(web.REFERENCES, 1)]
    head = [(120, 740, 18, BOLD, web.PAPER), (200, 700, 11, ROMAN, "Mina Shade")]
    body = [*paragraph(50, 660, f"Abstract. {web.ABSTRACT}", 9, 90), (50, 600, 12, BOLD, "1 Introduction")]
    text = paragraph(50, 580, "The shadow of a gnomon tells the hour where the sun shines on the dial. " * 12, width=95)
    return make_pdf([*head, *body, *text], [(50, 740, 12, BOLD, "References"), *hanging(50, 715, cited, width=100)])


def test_p1_a_paper_becomes_a_library_on_its_subject(tmp_path: Path) -> None:
    (tmp_path / "paper.pdf").write_bytes(sundial_paper())
    site = web.sundials()
    with replayed(site, tmp_path) as server:
        begin = ["--paper", str(tmp_path / "paper.pdf"), "--recipe", "panorama"]
        library = grown(tmp_path, server, begin, 60)
    (topic,) = load(library.settings_path).topics
    assert topic.name == web.PAPER
    assert {site.about[url] for url in topic.seeds} == {"Sundials"}
    on_topic = [page["url"] for page in pages(library) if page["topic"] == 0]
    good = [url for url in on_topic if site.about[url]]
    assert len(good) >= 24  # 8 are cited by the paper: the others were found by links
    assert len(good) >= 0.9 * len(on_topic)


def test_s1_s7_26_fields_of_mathematics_grow_in_one_crawl_after_two_commands(tmp_path: Path) -> None:
    outline = tmp_path / "mathematics.txt"
    outline.write_text("Mathematics\n" + "".join(f"    {name}\n" for name in web.MATHEMATICS))
    site = web.mathematics()
    with replayed(site, tmp_path) as server:
        library = grown(tmp_path, server, ["--outline", str(outline)], 300)
    names = [*(name.rpartition(" / ")[2] for name in library.topic_names()), ""]
    kept = [(site.about[page["url"]], names[page["topic"]]) for page in pages(library)]
    right = sum(true == said != "" for true, said in kept)
    assert set(names) == {*web.MATHEMATICS, ""}
    assert right >= 240
