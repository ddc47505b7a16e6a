"""The command that writes a library as a site."""

from pathlib import Path
from typing import Annotated

import typer

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import busy, console, print_json, stoppable
from analecta.publish.site import publish as write_site
from analecta.publish.site.content import SiteOptions
from analecta.store.library import LibraryFolder
from analecta.text.display import many


@app.command()
def publish(
    lib: Lib,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    top: Annotated[int, typer.Option(metavar="N", help="Pages of each topic, the best.", min=1)] = 50,
    per_host: Annotated[
        int, typer.Option(metavar="K", help="Most pages of one host in a topic; 0 = no limit.", min=0)
    ] = 5,
    base_url: Annotated[str, typer.Option(metavar="URL", help="Where it will stand on the web.")] = "",
    title: Annotated[str, typer.Option(metavar="TITLE", help="What it is called (default: the folder's name).")] = "",
    copies: Annotated[bool, typer.Option("--copies/--no-copies", help="With archived copies, or without.")] = True,
    json: Json = False,
) -> None:
    """Write a site of the best pages of each topic, to read without a network or to put on a web server."""
    with stoppable(lambda: f"{output} is as it was."), busy("Writing the site"):
        done = write_site(LibraryFolder(lib), output, SiteOptions(title, base_url, copies, top, per_host))
    if json:
        print_json(done)
        return
    screen = console()
    screen.print(
        f"{many(done.items, 'page')} of {many(done.topics, 'topic')} (with the examples), "
        f"{done.copies:,} with an archived copy: open {output / 'index.html'}",
        soft_wrap=True,
    )
    if not base_url:
        screen.print(
            "Without --base-url it has no sitemap.xml, opensearch.xml and 404.html: these want whole addresses."
        )
