"""The command that measures recipes by whole crawls over webs of this machine, and how communities are found."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from typer.core import TyperCommand

from analecta.cli.app import Json, app
from analecta.cli.progress import step_progress
from analecta.cli.render import console, print_json, rows_table
from analecta.errors import UsageError
from analecta.evaluate import communities_crawl, communities_report
from analecta.evaluate.communities import CommunityTrials, made_up, open_graph
from analecta.evaluate.communities import evaluate_communities as measure_communities
from analecta.evaluate.communities_crawl import SITES, CrawlTrial, crawl_communities
from analecta.evaluate.crawls import setting
from analecta.evaluate.evaluation import Evaluation
from analecta.evaluate.evaluation import evaluate as run_evaluation
from analecta.evaluate.questions import EvaluationPlan
from analecta.evaluate.report import about, write
from analecta.evaluate.summary import comparison_rows, comparisons, costs, means
from analecta.settings.load import merge
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


@app.command(cls=WithCommunities)
def evaluate(
    web: Annotated[str, typer.Option(metavar="FILE", help="WARC file or folder; or pocket[:SIZE].")],
    recipes: Annotated[str, typer.Option(metavar="A,B,...", help="What to compare; also settings files (.toml).")],
    labels: Annotated[
        Path | None, typer.Option(metavar="TSV", help="URL<TAB>subject|subject..., or host<TAB>subject.")
    ] = None,
    topics: Annotated[
        list[str] | None, typer.Option(metavar="PREFIX...", help="Which subjects (default: those of level two).")
    ] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="[PREFIX]...", hidden=True)] = None,
    examples: Annotated[
        list[str] | None, typer.Option(metavar="TOPIC=FILE", help="On-topic URLs, for a web without labels.")
    ] = None,
    together: Annotated[bool, typer.Option("--together", help="All topics in one crawl.")] = False,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Pages to start and to learn from.")] = 10,
    draws: Annotated[int, typer.Option(metavar="N", min=1, help="How often seeds are drawn.")] = 3,
    budget: Annotated[str, typer.Option(metavar="4R|N", help="Pages a crawl may fetch.")] = "4R",
    seed_hosts: Annotated[int, typer.Option(metavar="N", min=0, help="Draw seeds from N hosts only; 0: all.")] = 0,
    min_pages: Annotated[int, typer.Option(metavar="N", min=1, help="Pages that a topic must have.")] = 40,
    jobs: Annotated[int, typer.Option(metavar="N", min=0, help="Processes (default: one a core).")] = 0,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting for all crawls.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where to write.")] = Path("evaluation"),
    json: Json = False,
) -> None:
    """Measure how well recipes find a topic, by whole crawls over an archived web.

    Writes evaluation.json, evaluation.md and pictures into DIR. Communities of sites: analecta evaluate communities.
    """
    check_outside(output / "evaluation.json")
    settings: dict[str, Any] = {}
    for one in set_ or ():
        settings = merge(settings, setting(one))
    plan = EvaluationPlan(
        web=web,
        recipes=_listed(recipes),
        labels=str(labels or ""),
        examples=dict(_example(text) for text in examples or ()),
        topics=_listed(*(topics or ()), *(more or ())),
        together=together,
        seeds=seeds,
        draws=draws,
        budget=budget,
        seed_hosts=seed_hosts,
        min_pages=min_pages,
        jobs=jobs,
        settings=settings,
    )
    with step_progress(console(stderr=True)) as step:
        found = run_evaluation(plan, output, step)
    write(found, output)
    print_json(found) if json else console().print(show(found, output))


def _example(text: str) -> tuple[str, str]:
    topic, equals, file = text.partition("=")
    if not equals or not topic or not file:
        raise UsageError(f"--examples wants TOPIC=FILE, not {text!r}")
    return topic.strip(), file


def _listed(*texts: str) -> list[str]:
    """What stands between commas."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def show(found: Evaluation, folder: Path) -> RenderableType:
    """The means of each recipe and the tests, for the screen."""
    parts: list[RenderableType] = [*about(found), "", rows_table(means(found))]
    if comparisons(found):
        parts += ["", "From the same seeds (one-tailed t-test over pairs):", ""]
        parts.append(rows_table(comparison_rows(found)))
    if found.alone:
        parts += ["", *costs(found)]
    return Group(*parts, "", f"More, with pictures: {folder / 'evaluation.md'}")


# --- communities of sites --------------------------------------------------------------------------------------------


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
    numbers = _numbers(seeds or ("100" if crawl else "1,10,100,1000"))
    if crawl:
        made, rules = made_up(web, SITES), {"wt": wt, "metric": metric}
        with step_progress(console(stderr=True)) as step:
            trials = [crawl_communities(made, n, rules, draw, step) for n in numbers]
        communities_crawl.write(trials, output)
        print_json(trials) if json else console().print(show_crawled(trials, output))
        return
    with step_progress(console(stderr=True)) as step:
        step("Reading the web", 0, 0)
        found = measure_communities(open_graph(web, graph), numbers, wt, metric, draw, step)
    communities_report.write(found, output)
    print_json(found) if json else console().print(show_grown(found, output))


def show_grown(found: CommunityTrials, folder: Path) -> RenderableType:
    """The tables, for the screen."""
    head = f"{found.graph}: {found.sites:,} sites, {found.links:,} links; metric {found.metric}"
    tables = [part for title, rows, _ in communities_report.TABLES for part in ("", title, rows_table(rows(found)))]
    words = "P, R and f: precision, recall and f-value, against global clustering (tree) or against the truth."
    return Group(head, *tables, "", words, f"More, with pictures: {folder / 'communities.md'}")


def show_crawled(trials: Sequence[CrawlTrial], folder: Path) -> RenderableType:
    """The tables, for the screen."""
    webs = ", ".join(dict.fromkeys(one.web for one in trials))
    parts = [part for title, rows in communities_crawl.tables(trials) for part in ("", title, rows_table(rows))]
    return Group(f"Crawls of {webs}", *parts, "", f"The same with a legend: {folder / 'communities-crawled.md'}")


def _numbers(text: str) -> list[int]:
    parts = _listed(text)
    if not parts or not all(part.isdecimal() and 0 < int(part) < 10**7 for part in parts):
        raise UsageError(f"--seeds wants numbers with commas between them, as in 1,10,100, not {text!r}")
    return sorted({int(part) for part in parts})
