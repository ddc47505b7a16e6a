"""The command that draws the map of what a library holds."""

from pathlib import Path
from typing import Annotated

import typer

from analecta.cli.app import Force, Lib, app
from analecta.cli.render import busy, console
from analecta.communities.view import index_communities
from analecta.publish.map import copies_of, map_page
from analecta.store.library import LibraryFolder
from analecta.store.output import check_output
from analecta.store.output import output as open_output
from analecta.text.display import many, plain
from analecta.views.clusters import TopicClusters, load, save, survey


@app.command("map")
def draw_map(
    lib: Lib,
    topic: Annotated[str, typer.Option(metavar="TOPIC", help="Only the pages of this topic (default: all).")] = "",
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to.")] = Path("map.html"),
    force: Force = False,
) -> None:
    """Draw the groups of pages of a library as one HTML file that needs no network."""
    check_output(output, "map", force)
    library = LibraryFolder(lib)
    found = _analysis(library, topic)
    with busy("Drawing"):
        groups, size = write_map(library, found, output, topic or library.folder.resolve().name, force)
    told = f"{many(groups, 'group')} of pages, {size / 1e6:.1f} MB"
    console().print(f"{plain(str(output))}: {told}. Open it in a browser.")


def write_map(
    library: LibraryFolder, found: TopicClusters, path: Path, title: str, force: bool = False
) -> tuple[int, int]:
    """Draw an analysis into a file; how many groups there are, and how many bytes."""
    with library.snapshot() as snapshot:
        kept, copies = copies_of(snapshot, found)
    page = map_page(kept, title, copies, homes=index_communities(library)).encode()
    with open_output(path, "map", force) as file:
        file.write(page)
    return len(kept.clusters), len(page)


def _analysis(library: LibraryFolder, topic: str) -> TopicClusters:
    """What `analecta analyse` found; where it has not been run, that is done now."""
    with library.snapshot() as snapshot:
        snapshot.topic_numbers([topic] if topic else None)  # says so where there is none of this name
    if found := load(library, topic):
        return found
    with busy("Reading pages ...") as status:
        found = survey(library, topic, doing=lambda what: status.update(f"{what} ..."))
    save(library, found)
    return found
