"""The command that draws the map of what a library holds."""

from pathlib import Path
from typing import Annotated

import typer

from analecta.cli.app import Force, Lib, app
from analecta.cli.render import busy, console
from analecta.communities.view import neighbourhood
from analecta.publish.map import copies_of, map_page
from analecta.store.library import LibraryFolder
from analecta.store.output import check_output
from analecta.store.output import output as open_output
from analecta.text.display import many, plain
from analecta.views.clusters import TopicClusters, load, save, survey


@app.command("map")
def draw_map(
    lib: Lib,
    topic: Annotated[
        str, typer.Option("--topic", metavar="TOPIC", help="Only the pages of this topic (default: all).")
    ] = "",
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to.")] = Path("map.html"),
    force: Force = False,
) -> None:
    """Draw the groups of pages of a library as one HTML file that needs no network."""
    check_output(output, "map", force)
    library = LibraryFolder(lib)
    found = _analysis(library, topic)
    with busy("Drawing"), library.snapshot() as snapshot:
        kept, copies = copies_of(snapshot, found)
        title, homes = topic or library.folder.resolve().name, neighbourhood(library).homes
        page = map_page(kept, title, copies, homes=homes)
    with open_output(output, "map", force) as file:
        file.write(page.encode())
    groups = many(len(kept.clusters), "group")
    console().print(
        f"{plain(str(output))}: {groups} of pages, {len(page.encode()) / 1e6:.1f} MB. Open it in a browser."
    )


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
