"""The command that finds out what the pages of a topic are about."""

import shlex
from typing import Annotated

import typer
from rich.table import Column, Table

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import busy, console, print_json, print_next, shown, stoppable, table
from analecta.errors import UsageError
from analecta.store.library import LibraryFolder
from analecta.text.display import many, plain
from analecta.views.clusters import WORST, TopicClusters, save, survey

_MOST_CLUSTERS = 100
_EXAMPLES = 3


@app.command()
def analyse(
    lib: Lib,
    topic: Annotated[str, typer.Option(metavar="T", help="Only the pages of this topic; else of all.")] = "",
    clusters: Annotated[
        str, typer.Option(metavar="K|auto", help="How many clusters; auto finds out how many there are.")
    ] = "auto",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Start of the dice: the same gives the same.")] = 1,
    json: Json = False,
) -> None:
    """Find what pages are about: clusters with labels, best pages, hubs and authorities."""
    wanted = _number(clusters)
    library = LibraryFolder(lib)
    with stoppable(lambda: "Nothing was changed."), busy("Reading pages ...") as status:
        found = survey(library, topic, wanted, seed, doing=lambda what: status.update(f"{what} ..."))
    path = save(library, found)
    if json:
        print_json(found)
        return
    console().print(_table(found))
    why = library.keeps_nothing()
    kept = f"Not kept in the library: {why}" if why else f"Kept in {plain(str(path))}"
    console(stderr=True).print(f"{_told(found)}\n{kept}", soft_wrap=True)
    which = f" --topic {shlex.quote(topic)}" if topic else ""
    steps = [f"map LIB{which} -o map.html"]
    steps += [] if wanted else [f"analyse LIB{which} --clusters 5"]
    steps += [f"topics split LIB {shlex.quote(topic)} --dry-run"] if topic else []
    print_next(lib, *steps)


def _number(clusters: str) -> int:
    """The number of clusters asked for; 0 for auto."""
    if clusters == "auto":
        return 0
    if not clusters.isascii() or not clusters.isdigit() or not 1 <= int(clusters) <= _MOST_CLUSTERS:
        raise UsageError(f"--clusters {clusters!r} is neither a number from 1 to {_MOST_CLUSTERS} nor auto")
    return int(clusters)


def _table(found: TopicClusters) -> Table:
    left = Column(justify="right", style="dim"), Column("Cluster"), Column("Pages", justify="right")
    rows = table(*left, Column("Examples", ratio=1), pad_edge=False)
    for number, cluster in enumerate(found.clusters, 1):
        titles = "; ".join(page.title or page.url for page in cluster.examples[:_EXAMPLES])
        rows.add_row(str(number), shown(cluster.label, "bold"), f"{cluster.size:,}", shown(titles))
    return rows


def _told(found: TopicClusters) -> str:
    """How many pages there are, and why others are left out: of the good ones, those without a word that counts."""
    unsure = int(WORST * found.pages)
    told = f"{many(len(found.clusters), 'cluster')} of {many(found.pages - found.dropped, 'page')}; left out: "
    told += f"{unsure:,} of which the judge was least sure"
    wordless = found.dropped - unsure
    return f"{told}, {wordless:,} that share no telling word with others" if wordless else told
