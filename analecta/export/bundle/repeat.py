"""A crawl is repeated from a bundle, over the archive of the web that it saw, and compared with the first.

Nothing is asked over the network. What the archive does not hold fails as it failed the first time. The order of pages
can be promised where one partition took answers in order and had nobody to wait for; else the pages as a set.
"""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from analecta.crawl.coordinator import CrawlStatus
from analecta.crawl.local import LocalCrawl
from analecta.errors import ResourceError, UsageError
from analecta.export.bundle import FILES, BundleRun, Decision, Manifest, allowed, examples_of, file_digest
from analecta.export.bundle.read import Bundle, open_bundle
from analecta.export.bundle.write import decisions, in_order
from analecta.model import FetchResult, NoResponse, Request
from analecta.settings.load import parse
from analecta.settings.schema import Settings
from analecta.signals import stop_handler, was_stopped
from analecta.store.library import LibraryFolder, whole_or_nothing
from analecta.testweb.server import ServedResponse
from analecta.testweb.warc_index import WarcIndex, warc_files
from analecta.testweb.webs import as_answer
from analecta.text.display import many
from analecta.urls import canonical, is_loopback

_EXAMPLES_ONLY = "the examples are fetched"  # how a run of `analecta health` ends
_INTERRUPTED = "interrupted"
_COMES_AGAIN = 0.5  # of the pages at least, where there is no order: 0.81 to 0.91 did in crawls of 80 to 1,500 pages
_MISSING = ServedResponse(404, b"Content-Type: text/plain\r\n", b"Not in the archive.\n")


class Agreement(msgspec.Struct, frozen=True):
    """How two crawls compare. `differs` is the first place, from 1, where the order is another; 0 where it is none."""

    then: int  # pages
    now: int
    shared: int  # in both
    beyond: int  # URLs that the second asked for and the first did not, so that the archive cannot have them
    jaccard: float  # share of the pages that both have, of all that one or the other asked for
    identical: bool  # the same pages in the same order
    differs: int
    wanted: str  # the page at that place in the first crawl, and in this
    got: str
    topics: float  # share of the shared pages that are on the same topic
    archive: bool  # whether the WARC files are those of the first crawl
    ordered: bool  # whether the order was to be the same
    why: str  # why it was not
    held: bool  # whether what could be promised came true


class ArchivedWeb:
    """The Fetch of a repeated crawl: an archive, and the failures that no archive holds.

    `beyond` are URLs that the first crawl never asked for: nobody knows what they would have been.
    """

    def __init__(self, archives: WarcIndex, failures: Mapping[int, str]) -> None:
        self.archives = archives
        self.failures = failures
        self.beyond: set[int] = set()

    async def __call__(self, request: Request) -> FetchResult:
        """The archived answer; or why there was none."""
        if (found := self.archives.answer(request.url)) is not None:
            return as_answer(request.url, found)
        target = canonical(request.url)
        reason = self.failures.get(target.id, "") if target else ""
        if target and not reason and not request.url.endswith("/robots.txt"):
            self.beyond.add(target.id)
        if reason and not reason.startswith("http-"):
            return NoResponse(request.url, reason, "as the first time")
        return as_answer(request.url, _MISSING)


def repeat(
    path: Path, folder: Path, archives: Sequence[Path] = (), progress: Callable[[CrawlStatus], None] = lambda _: None
) -> Agreement:
    """Make a new library from a bundle and an archive (its own where it has one), and compare."""
    LibraryFolder.check_new(folder)
    with open_bundle(path) as bundle, _archive(bundle, archives, folder.absolute().parent) as files:
        asked = [(run, _asked(run, bundle)) for run in bundle.runs()]
        gone = _check_files(bundle, [settings for _, settings in asked])
        runs = [(run, _settings(run, settings, bundle)) for run, settings in asked]
        if not any(run.tally.get("pages") for run, _ in runs):
            raise UsageError(f"the bundle {path} holds no crawl that kept a page")
        first = list(bundle.decisions())
        web = ArchivedWeb(WarcIndex(files), _failures(first))
        try:
            library = _planted(bundle, folder)
            for run, settings in runs:
                crawl = LocalCrawl(library, settings, web, only_examples=run.reason == _EXAMPLES_ONLY)
                with stop_handler(crawl.interrupt):
                    crawl.run(_until(web, crawl, progress))
                if was_stopped():
                    raise KeyboardInterrupt
        finally:
            web.archives.close()
        why = not_ordered(bundle.manifest, runs) or (f"the example {gone!r} is not in the bundle" if gone else "")
        pages = in_order(iter(first)), in_order(decisions(library))
        return compare(*pages, len(web.beyond), _same(bundle, files), why)


def _until(
    web: ArchivedWeb, crawl: LocalCrawl, progress: Callable[[CrawlStatus], None]
) -> Callable[[CrawlStatus], None]:
    """End a crawl that has strayed so far that it would only look for the last pages which the archive has."""
    before = len(web.beyond)

    def look(status: CrawlStatus) -> None:
        progress(status)
        if not status.interrupts and status.tally.pages + len(web.beyond) - before > status.limit:
            crawl.interrupt()

    return look


def compare(
    then: Sequence[Decision], now: Sequence[Decision], beyond: int = 0, archive: bool = True, why: str = ""
) -> Agreement:
    """How the pages of two crawls compare, each in its order; `beyond` were asked for by the second alone, in vain."""
    old, new = [one.url for one in then], [one.url for one in now]
    pairs = enumerate(zip(old, new, strict=False), 1)
    place = next((n for n, (a, b) in pairs if a != b), 0 if len(old) == len(new) else min(len(old), len(new)) + 1)
    both, either = {*old} & {*new}, {*old} | {*new}
    on = {one.url: one.topic for one in now}
    alike = sum(on[one.url] == one.topic for one in then if one.url in both)
    jaccard = len(both) / (len(either) + beyond) if either else 1.0
    return Agreement(
        then=len(old),
        now=len(new),
        shared=len(both),
        beyond=beyond,
        jaccard=jaccard,
        identical=not place,
        differs=place,
        wanted=old[place - 1] if 0 < place <= len(old) else "",
        got=new[place - 1] if 0 < place <= len(new) else "",
        topics=alike / len(both) if both else 1.0,
        archive=archive,
        ordered=not why,
        why=why,
        held=len(both) >= _COMES_AGAIN * len(old) if why else not place,
    )


def not_ordered(manifest: Manifest, runs: Sequence[tuple[BundleRun, Settings]]) -> str:
    """Why the order of pages need not come again; "" where it must."""
    if manifest.partitions > 1:
        return f"{manifest.partitions} partitions worked side by side"
    for run, settings in runs:
        asked = Settings() if not run.asked else msgspec.convert(run.asked["settings"], Settings)
        free = asked.fetch.delay == 0 or (asked.fetch.delay is None and is_loopback(asked.fetch.connect_to))
        if not settings.crawl.ordered:
            return "answers were taken as they came (no --seed)"
        if not free:
            return "hosts were given time between requests"
        if run.ended is None or run.reason == _INTERRUPTED:
            return "a crawl was interrupted"
    return f"{many(manifest.waited, 'host')} had to be waited for" if manifest.waited else ""


def _asked(run: BundleRun, bundle: Bundle) -> Settings:
    """The settings of a run."""
    try:
        return msgspec.convert(run.asked["settings"], Settings)
    except (KeyError, msgspec.ValidationError) as error:
        raise UsageError(
            f"the bundle {bundle.path} is refused: the settings of run {run.n} make no sense: {error}"
        ) from error


def _check_files(bundle: Bundle, asked: Sequence[Settings]) -> str:
    """A bundle may hold what its settings name and what is in `topics/`; they may name nothing outside.

    An example that it no longer holds, if there is one.
    """
    files, learnt = {*bundle.names()}, {name for settings in asked for name in examples_of(settings)}
    gone = sorted(learnt - files)
    named = learnt | {*examples_of(_written(bundle))}
    if stray := next((name for name in sorted(named - files) if not allowed(FILES + name)), ""):
        raise UsageError(f"the bundle {bundle.path} is refused: the example {stray!r} is not in it")
    if stray := next((name for name in sorted(files - named) if not name.startswith("topics/")), ""):
        raise UsageError(f"the bundle {bundle.path} is refused: its settings know nothing of the file {stray!r}")
    return gone[0] if gone else ""


def _written(bundle: Bundle) -> Settings:
    return msgspec.convert(parse(bundle.settings(), f"the settings in {bundle.path}"), Settings)


def _settings(run: BundleRun, asked: Settings, bundle: Bundle) -> Settings:
    """What a run had, for as many pages as it kept, over an archive that bothers nobody."""
    pages = run.tally.get("pages", 0)
    if asked.crawl.refresh is not None:
        raise UsageError(
            "a run that asked again for pages it had cannot be repeated: an archive shows one moment of each"
        )
    replace = msgspec.structs.replace
    return replace(
        asked,
        fetch=replace(asked.fetch, delay=0.0),
        stop=replace(asked.stop, pages=pages if isinstance(pages, int) and pages > 0 else 1, minutes=0.0, idle=1.0),
        crawl=replace(asked.crawl, workers=bundle.manifest.partitions),
    )


def _planted(bundle: Bundle, folder: Path) -> LibraryFolder:
    """A fresh library with the settings and files of the first."""
    with whole_or_nothing(folder):
        library = LibraryFolder.create(folder, bundle.settings())
        for name in bundle.names():
            _put(folder / name, bundle.file(name))
    return library


def _put(target: Path, content: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise ResourceError(f"cannot write {target}: {error.strerror}") from error


def _failures(found: Sequence[Decision]) -> dict[int, str]:
    """URLs that gave no answer, by id, with the reason."""
    failed = ((canonical(one.url), one.reason) for one in found if one.state == "failed")
    return {target.id: reason for target, reason in failed if target is not None}


@contextlib.contextmanager
def _archive(bundle: Bundle, archives: Sequence[Path], beside: Path) -> Iterator[list[Path]]:
    """The WARC files to crawl: those that were named, or those of the bundle, for as long as they are needed."""
    if archives:
        yield warc_files(archives)
        return
    if not bundle.manifest.archived:
        raise UsageError(f"the bundle {bundle.path} has no archive in it: name the WARC files with --archive PATH")
    with tempfile.TemporaryDirectory(dir=beside if beside.is_dir() else None) as scratch:
        yield bundle.take_archive(Path(scratch))


def _same(bundle: Bundle, files: Sequence[Path]) -> bool:
    """Whether these are the WARC files of the first crawl."""
    return sorted(map(file_digest, files)) == sorted(entry.sha256 for entry in bundle.manifest.archive)
