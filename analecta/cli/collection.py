"""The command that shows the best pages of each topic."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analecta.cli.app import Force, Json, Lib, app, console, print_json, write_text
from analecta.errors import BadUse

if TYPE_CHECKING:
    from analecta.store.library import Library
    from analecta.views.collections import Collection
    from analecta.views.precision import Judged


@app.command()
def collection(
    lib: Lib,
    topic: Annotated[
        list[str] | None, typer.Option("--topic", metavar="T", help="Only this topic (may be said several times).")
    ] = None,
    community: Annotated[
        str, typer.Option("--community", metavar="C", help="Only pages of this one: its number, its name or a site.")
    ] = "",
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Items of each collection.")] = 20,
    per_host: Annotated[
        int, typer.Option("--per-host", metavar="K", min=0, help="Items of one host while others have some; 0: all.")
    ] = 5,
    examples: Annotated[bool, typer.Option("--examples", help="Also the examples that it was begun with.")] = False,
    judged: Annotated[
        Path | None,
        typer.Option("--judged", metavar="FILE", help="Lines of URL TAB yes|no or URL TAB topic|topic: precision."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.html|.svg", help="Draw how the collections came to be."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Show the best pages of each topic and why they are; works while a crawl runs."""
    from analecta.cli.collection_table import as_values, show
    from analecta.cli.render import next_steps
    from analecta.communities.view import everything, neighbourhood
    from analecta.store.library import Library
    from analecta.views.collections import collections
    from analecta.views.precision import check_topics, read_judged, settled

    if output is not None and output.suffix.lower() not in (".html", ".svg"):
        raise BadUse(f"{output}: a picture is FILE.html or FILE.svg")
    library = Library(lib)
    said = settled(library, read_judged(judged)) if judged is not None else None
    if said is not None:
        check_topics(said, library.topic_names())
    near = neighbourhood(library, community) if community or json else None
    found = collections(library, topic or None, top, per_host, examples, near.inside if near else everything)
    if community:  # topics of which it has no page are not worth a line each
        found = [one for one in found if one.items] or found[:1]
    if output is not None:
        write_text(output, _drawn(library, found, said, output), output.suffix.lower()[1:], force)
    if json and near:
        values = as_values(found, near.homes, said)
        print_json({"library": str(lib), "crawling": library.holder(), "collections": values})
        return
    console().print(show(found, said))
    if output is not None:
        console().print(f"The picture is in {output}.")
    best = next((one.items[0].item.url for one in found if one.items), "URL")
    steps = (f"explain LIB {shlex.quote(best)}", "publish LIB -o DIR") if best != "URL" else ("crawl LIB",)
    console(stderr=True).print(next_steps(lib, *steps), soft_wrap=True)


def _drawn(library: "Library", found: "list[Collection]", said: "Judged | None", path: Path) -> str:
    from analecta.publish.pages import as_html, as_svg, pictures

    drawn = pictures(library, found, said)
    return as_svg(drawn) if path.suffix.lower() == ".svg" else as_html(drawn, library.folder.resolve().name)
