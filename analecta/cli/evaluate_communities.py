"""`analecta evaluate communities`: how well communities of sites are found."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from typer.core import TyperCommand

from analecta.cli.app import Json
from analecta.cli.progress import step_progress
from analecta.cli.render import console, print_json, rows_table
from analecta.errors import UsageError
from analecta.evaluate import communities_crawl, communities_report
from analecta.evaluate.communities import CommunityTrials, made_up, open_graph
from analecta.evaluate.communities import evaluate_communities as measure_communities
from analecta.evaluate.communities_crawl import SITES, CrawlTrial, crawl_communities
from analecta.store.output import check_outside

_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
NAME = "communities"


class WithCommunities(TyperCommand):
    """A command to which `communities` may be added, to mean another one."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The other command's, if it is meant."""
        if args[:1] == [NAME]:
            other = typer.main.get_command(_app)
            return other.make_context(f"{info_name} {NAME}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@_app.command(name=NAME, context_settings={"help_option_names": ["-h", "--help"]})
def evaluate_communities(
    web: Annotated[
        str, typer.Option(metavar="villages[:SITES]", help="A made-up web of communities, as of replay (villages).")
    ] = "",
    graph: Annotated[
        Path | None, typer.Option(metavar="FILE.gml", help="A graph of sites; `value` says which community.")
    ] = None,
    crawl: Annotated[
        bool, typer.Option("--crawl", help="Serve the web and really crawl it (1,100 sites if not said otherwise).")
    ] = False,
    seeds: Annotated[
        str, typer.Option(metavar="N,N,...", help="From how many seeds (default: 1,10,100,1000; with --crawl 100).")
    ] = "",
    wt: Annotated[float, typer.Option(metavar="X", min=0.0001, max=1, help="The least share of links.")] = 0.01,
    metric: Annotated[str, typer.Option(help="outLink, both, co-citation or coupling.")] = "outLink",
    draw: Annotated[int, typer.Option(metavar="N", min=0, help="Which seeds are drawn.")] = 1,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where to write.")] = Path("evaluation"),
    json: Json = False,
) -> None:
    """Measure how well communities of sites are found, against the truth and against global clustering.

    Writes communities.json, communities.md and pictures into DIR; with --crawl communities-crawled.json and .md.
    """
    if crawl and graph:
        raise UsageError("a graph has no pages to crawl: leave out --graph or --crawl")
    if web and graph:
        raise UsageError("--graph is measured instead of a web: leave out --graph or --web")
    check_outside(output / "communities.json")
    web = web or "villages"
    if crawl:
        _crawl(web, _numbers(seeds or "100"), {"wt": wt, "metric": metric}, draw, output, json)
    else:
        _grow(web, graph, _numbers(seeds or "1,10,100,1000"), wt, metric, draw, output, json)


def _grow(
    web: str, graph: Path | None, seeds: list[int], wt: float, metric: str, draw: int, output: Path, json: bool
) -> None:
    with step_progress(console(stderr=True)) as step:
        step("Reading the web", 0, 0)
        found = measure_communities(open_graph(web, graph), seeds, wt, metric, draw, step)
    communities_report.write(found, output)
    print_json(found) if json else console().print(show_grown(found, output))


def _crawl(web: str, seeds: list[int], rules: dict[str, Any], draw: int, output: Path, json: bool) -> None:
    graph = made_up(web, SITES)
    with step_progress(console(stderr=True)) as step:
        found = [crawl_communities(graph, n, rules, draw, step) for n in seeds]
    communities_crawl.write(found, output)
    print_json(found) if json else console().print(show_crawled(found, output))


def show_grown(found: CommunityTrials, folder: Path) -> RenderableType:
    """The tables, for the screen."""
    about = f"{found.graph}: {found.sites:,} sites, {found.links:,} links; metric {found.metric}"
    tables = [part for title, rows, _ in communities_report.TABLES for part in ("", title, rows_table(rows(found)))]
    words = "P, R and f: precision, recall and f-value, against global clustering (tree) or against the truth."
    return Group(about, *tables, "", words, f"More, with pictures: {folder / 'communities.md'}")


def show_crawled(trials: Sequence[CrawlTrial], folder: Path) -> RenderableType:
    """The tables, for the screen."""
    about = ", ".join(dict.fromkeys(one.web for one in trials))
    parts = [part for title, rows in communities_crawl.tables(trials) for part in ("", title, rows_table(rows))]
    return Group(f"Crawls of {about}", *parts, "", f"The same with a legend: {folder / 'communities-crawled.md'}")


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and 0 < int(part) < 10**7 for part in parts):
        raise UsageError(f"--seeds wants numbers with commas between them, as in 1,10,100, not {text!r}")
    return sorted({int(part) for part in parts})
