"""The command that repeats a crawl, and compares."""

from pathlib import Path
from typing import Annotated

import typer

from analecta.cli.app import Json, app
from analecta.cli.progress import progress
from analecta.cli.render import console, print_json
from analecta.export.bundle.repeat import Agreement
from analecta.export.bundle.repeat import repeat as repeat_crawl
from analecta.text.display import many, plain


@app.command()
def repeat(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="What `analecta bundle` wrote.", show_default=False)],
    lib: Annotated[Path, typer.Argument(metavar="LIB", help="The folder to make.", show_default=False)],
    archive: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="WARC files, where the bundle has none.")
    ] = None,
    json: Json = False,
) -> None:
    """Repeat a crawl over its archive, without a network, and compare the pages and their order.

    Exit codes: 0 as promised, 1 not so, 2 bad use, 4 disk.
    """
    with progress(console(stderr=True), lib.name) as show:
        found = repeat_crawl(bundle, lib, archive or (), show)
    if json:
        print_json(found)
    else:
        for line in told(found):
            console().print(line, soft_wrap=True)
    raise typer.Exit(0 if found.held else 1)


def told(found: Agreement) -> list[str]:
    """The comparison in sentences."""
    lines = [f"{many(found.then, 'page')} then, {found.now:,} now, {found.shared:,} of them the same"]
    lines[0] += f" (Jaccard {found.jaccard:.3f}); {found.topics:.1%} of these on the same topic."
    if found.beyond:
        lines.append(f"{many(found.beyond, 'URL')} asked for now and not then, so that the archive does not have them.")
    if found.identical:
        lines.append("The order is identical.")
    else:
        lines.append(f"The order differs from page {found.differs:,} on:")
        lines += [f"  then {plain(found.wanted) or '(no page)'}", f"  now  {plain(found.got) or '(no page)'}"]
    if not found.ordered:
        lines.append(f"The same order was not to be expected: {found.why}. That half of the pages come again was.")
    if not found.archive:
        lines.append("The WARC files are not those of the first crawl, so that much may differ.")
    lines.append("That is as promised." if found.held else "That is not as promised.")
    return lines
