"""The command that looks at the examples before a crawl: a table that fits 80 columns, and what to do about it."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from analecta.cli.app import Force, Json, Lib, app
from analecta.cli.health_table import health_of_crawl, load_settings, tell
from analecta.cli.progress import progress
from analecta.cli.render import console, print_json
from analecta.crawl.run import Crawl
from analecta.errors import ResourceError
from analecta.judge.health import Health
from analecta.publish.pages import health_page
from analecta.settings.schema import Settings
from analecta.signals import INTERRUPTED, stop_handler
from analecta.store.library import LibraryFolder
from analecta.store.output import check_output
from analecta.store.output import output as open_output


@app.command()
def health(
    lib: Lib,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.html", help="Also write a page with a drawing.")
    ] = None,
    connect_to: Annotated[str, typer.Option(metavar="HOST:PORT", help="As for crawl.")] = "",
    delay: Annotated[float | None, typer.Option(metavar="S", min=0, help="As for crawl.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Look at the examples before a crawl: topics that are too close, pages that look wrong.

    Examples that are not here yet are fetched, and nothing else.
    """
    if output is not None:
        check_output(output, "html", force)
    library = LibraryFolder(lib)
    asked = {"fetch": {"connect_to": connect_to or None, "delay": delay}}
    settings = load_settings(library.settings_path, asked)
    found = examine(library, settings, console(stderr=True))
    if output is not None:
        with open_output(output, "html", force) as file:
            file.write(health_page(found, lib.resolve().name).encode())
    print_json(found) if json else console().print(tell(found))
    if output is not None and not json:
        console().print(f"The drawing is in {output}.")


def examine(library: LibraryFolder, settings: Settings, console: Console) -> Health:
    """How the topics are shown by their examples; those that are not here yet are fetched, and nothing else."""
    crawl = Crawl(library, settings, only_examples=True)
    with stop_handler(crawl.interrupt), progress(console, library.folder.name) as show:
        ending = crawl.run(show)
    if ending.code == INTERRUPTED:
        raise KeyboardInterrupt
    if ending.code:
        raise ResourceError(f"the examples were not fetched: {ending.reason}")
    return health_of_crawl(crawl)
