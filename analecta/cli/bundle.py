"""The command that writes all that is needed to repeat a crawl."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from analecta.cli.app import Force, Json, Lib, app
from analecta.cli.render import busy, console, print_json
from analecta.export.bundle.write import write_bundle
from analecta.store.library import LibraryFolder
from analecta.text.display import many, plain


@app.command()
def bundle(
    lib: Lib,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.zip", help="Where to.")] = Path("bundle.zip"),
    archive: Annotated[bool, typer.Option("--archive", help="Also put the WARC files in.")] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write settings, seeds, models, versions, decisions and digests into one file, to repeat the crawl."""
    with busy("Writing the bundle ..."):
        found = write_bundle(LibraryFolder(lib), output, archive, force)
    if json:
        print_json({"bundle": str(output), "manifest": found})
        return
    size = output.stat().st_size / 1e6
    screen = console()
    words = f"{many(found.pages, 'page')}, {many(len(found.files), 'file')}, {size:,.1f} MB"
    screen.print(f"{plain(str(output))}: {words}. The order of the pages: {found.order[:16]}", soft_wrap=True)
    archives = "" if archive else f" --archive {quote(str(lib / 'archive'))}"
    for name in found.gone:
        words = f"  {plain(name)} was learnt from and is gone: the order of pages cannot be promised"
        screen.print(words, soft_wrap=True, markup=False)
    screen.print(f"  analecta repeat {quote(str(output))} again{archives}", style="cyan", soft_wrap=True)
