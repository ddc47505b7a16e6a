"""The command that serves a library's records to harvesters."""

import threading
import time
from typing import Annotated

import typer

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import busy, console, print_json
from analecta.publish.oai.server import OaiServerOptions, serve
from analecta.settings.load import load
from analecta.store.library import LibraryFolder
from analecta.text.display import many, plain


@app.command("serve-oai")
def serve_oai(
    lib: Lib,
    host: Annotated[str, typer.Option(metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Its port; 0 takes a free one.")] = 8099,
    base_url: Annotated[str, typer.Option(metavar="URL", help="The address that harvesters use, behind a proxy.")] = "",
    admin_email: Annotated[
        str,
        typer.Option(metavar="E", help="Who answers for it (default: contact of the settings)."),
    ] = "",
    page_size: Annotated[int, typer.Option(metavar="N", min=1, max=5000, help="Records in an answer.")] = 100,
    json: Json = False,
) -> None:
    """Serve the records of a library by OAI-PMH 2.0; works while a crawl runs."""
    library = LibraryFolder(lib)
    contact = load(library.settings_path).contact
    asked = OaiServerOptions(host, port, base_url, admin_email or (contact if "@" in contact else ""), page_size)
    waiting = busy("Reading the library")

    def ready(url: str, records: int) -> None:
        waiting.stop()
        if json:
            print_json({"url": url, "records": records})
            return
        console().print(f"Serving {many(records, 'record')} of {plain(str(lib))} on {url}. Ctrl-C ends it.")
        console().print(f"  {url}?verb=ListRecords&metadataPrefix=oai_dc", style="cyan", soft_wrap=True)

    def trouble(words: str) -> None:
        console(stderr=True).print(plain(words))

    waiting.start()
    try:
        serve(library, asked, time.time, ready, threading.Event(), trouble)
    finally:
        waiting.stop()
