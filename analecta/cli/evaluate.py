"""The command that measures recipes by whole crawls over webs of this machine."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType

from analecta.cli.app import Json, app
from analecta.cli.evaluate_communities import WithCommunities
from analecta.cli.progress import step_progress
from analecta.cli.render import console, print_json, rows_table
from analecta.errors import UsageError
from analecta.evaluate.crawls import setting
from analecta.evaluate.evaluation import Evaluation, EvaluationPlan
from analecta.evaluate.evaluation import evaluate as run_evaluation
from analecta.evaluate.report import about, write
from analecta.evaluate.summary import comparison_rows, comparisons, costs, means
from analecta.settings.load import merge
from analecta.signals import INTERRUPTED
from analecta.store.output import check_outside


@app.command(cls=WithCommunities)
def evaluate(
    web: Annotated[
        str, typer.Option(metavar="FILE", help="WARC file or folder; or pocket[:SIZE].", show_default=False)
    ],
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
    try:
        with step_progress(console(stderr=True)) as step:
            found = run_evaluation(plan, output, step)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
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
