"""Commands that fetch: the crawl, and the look at its examples before it."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analecta.cli.app import Force, Json, Lib, app, console, print_json, write_text
from analecta.errors import BadUse

if TYPE_CHECKING:
    from analecta.settings.schema import Settings


@app.command()
def crawl(
    context: typer.Context,
    lib: Lib,
    pages: Annotated[int | None, typer.Option(metavar="N", min=1, help="Stop after N pages of this run.")] = None,
    minutes: Annotated[float | None, typer.Option(metavar="M", min=0.01, help="Stop after M minutes.")] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="P", min=1, help="Processes; fixed by the first crawl (default: one a core).")
    ] = None,
    connect_to: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Send every request there, as curl's --connect-to does.")
    ] = "",
    delay: Annotated[
        float | None, typer.Option(metavar="S", min=0, help="Seconds between two requests to one host.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="INT", help="Take answers in order: the same web gives the same crawl.")
    ] = None,
    refresh: Annotated[
        float | None, typer.Option(metavar="DAYS", min=0, help="Ask again for pages kept longer ago than DAYS.")
    ] = None,
    community: Annotated[
        str, typer.Option(metavar="C", help="Only inside this community, and all of it: its number, name or a site.")
    ] = "",
    publish: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep collection pages there, made anew as the crawl goes on.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object at the end.")] = False,
) -> None:
    """Start a crawl, or go on with it. Ctrl-C once ends it cleanly, twice at once.

    Exit codes: 0 stopped by a rule, 2 bad use, 3 nothing to do, 4 disk or network, 130 interrupted.
    """
    from analecta.cli.render import next_steps
    from analecta.cli.watch import told, watch
    from analecta.store.library import Library

    library = Library(lib)
    override = _override(pages, minutes, workers, connect_to, delay, seed, refresh)
    if community:
        from analecta.communities.view import deeper
        from analecta.settings.load import merge

        override = merge(override, deeper(library, community))
    settings = _settings(library.settings_path, override)
    result = watch(library, settings, console(stderr=True), health=not json, publish=publish)
    if json:
        print_json(result)
    else:
        screen = console()
        screen.print(told(result))
        screen.print(next_steps(lib, *_steps(settings, result.code, _given(context))), soft_wrap=True)
    raise typer.Exit(result.code)


def _given(context: typer.Context) -> str:
    """The options of this run, for the one that goes on with it; what --refresh queued is queued already."""
    given = [(name, value) for name, value in context.params.items() if value is not None and value != ""]
    kept = [(name, value) for name, value in given if name not in ("lib", "refresh", "json")]
    return "".join(f" --{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in kept)


def _steps(settings: "Settings", code: int, given: str = "") -> list[str]:
    """Where to go from a crawl; one that was interrupted is gone on with by the options that were `given`."""
    on = [f"crawl LIB{given}"] if code == 130 else []
    sites = ["communities LIB"] if settings.communities.grow else []
    looks = ["status LIB", "collection LIB", "search LIB WORDS", "feedback LIB URL --good"]
    return [*on, *looks, *sites, "analyse LIB", "publish LIB -o site"]


def _override(
    pages: int | None,
    minutes: float | None,
    workers: int | None,
    connect_to: str,
    delay: float | None,
    seed: int | None,
    refresh: float | None,
) -> dict[str, Any]:
    """The layer of settings that the command line is."""
    asked: dict[str, dict[str, Any]] = {
        "stop": {"pages": pages, "minutes": minutes},
        "fetch": {"connect_to": connect_to or None, "delay": delay},
        "crawl": {"workers": workers, "seed": seed, "ordered": None if seed is None else True, "refresh": refresh},
    }
    return {table: {k: v for k, v in values.items() if v is not None} for table, values in asked.items()}


def _settings(path: Path, override: dict[str, Any]) -> "Settings":
    from analecta.settings.load import load

    settings = load(path, override)
    if not settings.topics:
        raise BadUse(f"{path} names no topic: it needs [[topics]] with seeds")
    return settings


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
    from analecta.cli.health_table import tell
    from analecta.cli.watch import examine
    from analecta.publish.pages import health_page
    from analecta.store.library import Library
    from analecta.store.output import check_output

    if output is not None:
        check_output(output, "html", force)
    library = Library(lib)
    settings = _settings(library.settings_path, _override(None, None, None, connect_to, delay, None, None))
    found = examine(library, settings, console(stderr=True))
    if output is not None:
        write_text(output, health_page(found, lib.resolve().name), "html", force)
    print_json(found) if json else console().print(tell(found))
    if output is not None and not json:
        console().print(f"The drawing is in {output}.")
