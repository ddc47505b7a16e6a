"""Whether two versions of Analecta do the same: for changes of structure, which must not change what it does.

python gates/same.py --against main~5            # the working tree against a commit; as `make same AGAINST=main~5`
python gates/same.py --against main~5 --only order reading
python gates/same.py --quick                     # the working tree against itself, on small webs: is it repeatable?

Both versions run as commands, in processes of their own, over the same webs and libraries, so nothing here depends on
how their modules are called. Parts: `order` (seeded crawls of every recipe fetch, judge and store the same), `reading`
(all that is shown and exported of two libraries is the same to the byte), `disk` (each continues what the other wrote,
also after kill -9), `speed` (CPU per page, interleaved runs). What is meant to differ is listed in `gates/same.toml`.
"""

import argparse
import contextlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from gates.same_library import Dump, crawl, dump, new_library, read_all, reading_libraries  # noqa: E402
from gates.same_run import DATA, Version, Web, checkout, differences, served  # noqa: E402

RECIPES = ("adaptive", "bingo", "breadth-first", "panorama", "synthesis")
SLOWER = 1.03  # the CPU that the new version may take per page, by the median


def order(old: Version, new: Version, folder: Path, quick: bool) -> Iterator[str]:
    """Seeded crawls with one worker: URLs, pages and models, in their order."""
    webs = [("pocket", 200 if quick else 800, 120 if quick else 400)]
    if not quick and DATA.exists():
        webs.append(("debdocs", 0, 400))
    for name, size, pages in webs:
        with served(old, name, size, folder.parent) as web:
            for recipe in ("adaptive", "bingo") if quick else RECIPES:
                found: list[Dump] = []
                for version in (old, new):
                    library = folder / version.name / f"{name}-{recipe}"
                    new_library(version, library, web, recipe)
                    crawl(version, library, web, pages)
                    found.append(dump(library))
                yield from (f"{name} {recipe}: {line}" for line in differences(*found))
                print(f"  {name}, {recipe}: {len(found[0]['pages'])} pages", flush=True)
    yield from _community_sets(old, new, folder, quick)


def _community_sets(old: Version, new: Version, folder: Path, quick: bool) -> Iterator[str]:
    """Which sites are together; the order in which a crawl of sites finds them is not repeatable."""
    with served(old, "villages", 100 if quick else 200, folder.parent) as web:
        sets: list[set[frozenset[str]]] = []
        for version in (old, new):
            library = folder / version.name / "villages"
            new_library(version, library, web, "communities")
            crawl(version, library, web, 0)
            shown = version.json("communities", library)
            found = shown["found"]["communities"]
            sets.append({frozenset(member["site"] for member in one["members"]) for one in found})
    print(f"  villages: {len(sets[0])} communities", flush=True)
    if sets[0] != sets[1]:
        yield f"villages: {len(sets[0] - sets[1])} communities are gone, {len(sets[1] - sets[0])} are new"


def reading(old: Version, new: Version, folder: Path, quick: bool) -> Iterator[str]:
    """All that is shown, exported and published of libraries that the old version made."""
    for library in reading_libraries(old, folder / "made", quick):
        outputs = []
        for version in (old, new):
            place = folder / version.name / f"read-{library.name}"
            shutil.copytree(library, place / library.name)
            outputs.append(read_all(version, place, library.name))
        print(f"  {library.name}: {len(outputs[0])} outputs", flush=True)
        yield from (f"{library.name} {line}" for line in differences(*outputs))


def disk(old: Version, new: Version, folder: Path, quick: bool) -> Iterator[str]:
    """Each continues what the other wrote as it continues its own; and what was killed in the middle."""
    with served(old, "pocket", 200 if quick else 600, folder.parent) as web:
        found: dict[str, Dump] = {}
        for first in (old, new):
            for second in (old, new):
                library = folder / f"{first.name}-{second.name}"
                new_library(first, library, web, "adaptive")
                crawl(first, library, web, 60)
                if words := _refusal(second, library, web):
                    yield words
                else:
                    found[library.name] = dump(library)
        names = list(found)
        for name in names[1:]:
            yield from (f"{name}: {line}" for line in differences(found[names[0]], found[name]))
        for first, second in ((old, new), (new, old)):
            library = folder / f"killed-{first.name}-{second.name}"
            new_library(first, library, web, "adaptive")
            crawl(first, library, web, 0, workers=2, killed=1.5)
            if words := _refusal(second, library, web, workers=2):
                yield words
                continue
            for version in (first, second):
                if words := version.run("verify", library, check=False).problem():
                    yield f"{library.name}: verify by {version.name}: {words}"
    print(f"  {len(found)} ways to continue, and 2 after kill -9", flush=True)


def _refusal(version: Version, library: Path, web: Web, workers: int = 1) -> str:
    """Continue a crawl; what was said where that could not be done."""
    try:
        crawl(version, library, web, 60, workers)
    except subprocess.CalledProcessError as error:
        return f"{library.name}: {version.name} refused it: {error.stderr.strip()}"
    return ""


def speed(old: Version, new: Version, folder: Path, quick: bool) -> Iterator[str]:
    """CPU of a whole crawl, in turns."""
    name = "debdocs" if DATA.exists() and not quick else "pocket"
    spent: dict[str, list[float]] = {old.name: [], new.name: []}
    with served(old, name, 300, folder.parent) as web:
        for turn in range(1 if quick else 5):
            for version in (old, new) if turn % 2 else (new, old):
                library = folder / version.name / f"speed-{turn}"
                new_library(version, library, web, "adaptive")
                spent[version.name].append(crawl(version, library, web, 100 if quick else 2000))
    before, after = (statistics.median(spent[version.name]) for version in (old, new))
    print(f"  CPU of a crawl, medians: {before:.2f} s and {after:.2f} s, ratio {after / before:.3f}", flush=True)
    if after > SLOWER * before and not quick:
        yield f"a crawl takes {after / before:.3f} x the CPU, more than {SLOWER}"


Part = Callable[[Version, Version, Path, bool], Iterator[str]]
PARTS: Mapping[str, Part] = {"order": order, "reading": reading, "disk": disk, "speed": speed}


def expected(part: str) -> Sequence[tuple[str, str]]:
    """Differences that are meant: a pattern of the line that tells them, and why."""
    found = tomllib.loads((HERE / "same.toml").read_text()).get(part, [])
    return [(one["difference"], one["why"]) for one in found]


def show(part: str, found: Sequence[str], most: int = 40) -> bool:
    """Print the differences of a part; whether all were expected."""
    meant = expected(part)
    whys = {line: [why for pattern, why in meant if fnmatch(line, pattern)] for line in found}
    for line in [line for line in found if whys[line]][:most]:
        print(f"  expected: {line[:300]} ({whys[line][0]})")
    wrong = [line for line in found if not whys[line]]
    for line in wrong[:most]:
        print(f"  DIFFERS: {line[:1000]}")
    if len(wrong) > most:
        print(f"  and {len(wrong) - most} more")
    return not wrong


def main() -> int:
    """Compare; 1 where something differs that is not expected to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="COMMIT", help="the version to compare with; without, this one itself")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--quick", action="store_true", help="small webs, two recipes, no figures")
    parser.add_argument("--folder", type=Path, help="keep libraries and outputs there")
    asked = parser.parse_args()
    same = True
    with contextlib.ExitStack() as stack:
        folder = asked.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="same-")))
        tree = stack.enter_context(checkout(asked.against)) if asked.against else HERE.parent
        old, new = Version("old", tree), Version("new", HERE.parent)
        for name in asked.only:
            print(name, flush=True)
            try:
                same &= show(name, list(PARTS[name](old, new, folder / name, asked.quick)))
            except subprocess.CalledProcessError as error:
                print(f"  FAILED: {error}\n{error.stderr}")
                same = False
    print("the same" if same else "NOT the same")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
