"""Commands for the tree of topics: how it stands, how it grows, and the way back."""

from pathlib import Path
from typing import Annotated

import typer

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import console, next_steps, print_json
from analecta.store.library import LibraryFolder
from analecta.text.display import many, plain
from analecta.topics.split import Branch, Split, branches, choose, grow, plan, suggested
from analecta.topics.split import undo as undo_split
from analecta.views.clusters import PageCluster, TopicClusters

topics = typer.Typer(help="Show the tree of topics, split a topic into subtopics, undo a split.", no_args_is_help=True)
app.add_typer(topics, name="topics")

_SHOWN = 3  # examples of a suggested subtopic


@topics.command("list")
def list_(lib: Lib, json: Json = False) -> None:
    """Show the tree of topics, with their seeds and pages."""
    found = branches(LibraryFolder(lib))
    if json:
        print_json({"library": str(lib), "topics": found})
        return
    for branch in found:
        console().print(_line(branch), soft_wrap=True)
    if not found:
        console().print("There are no topics yet.")


def _line(branch: Branch) -> str:
    counts = [many(branch.seeds, "seed")] if branch.topic else []
    counts += [many(branch.files, "file")] if branch.files else []
    counts += [many(branch.pages, "page")] if branch.topic or branch.pages else []
    counts += [f"{branch.below:,} below"] if branch.below else []
    gone = " (no longer in the settings)" if not branch.topic and branch.pages else ""
    return f"{'  ' * branch.depth}{plain(branch.name)}: {', '.join(counts)}{gone}".removesuffix(": ")


@topics.command()
def split(
    lib: Lib,
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic's whole name.", show_default=False)],
    clusters: Annotated[str, typer.Option(metavar="1,3|all", help="Which suggestions to take up.")] = "all",
    examples: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Pages that show each.")] = 10,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the suggestions.")] = False,
    json: Json = False,
) -> None:
    """Make the clusters that `analecta analyse` found in a topic its subtopics.

    Exit codes: 0 split, 2 bad use, 3 nothing new, 4 disk, or a crawl holds the library.
    """
    library = LibraryFolder(lib)
    found = suggested(library, topic)
    chosen = choose(found, clusters)
    made, before = (plan(library, topic, chosen, examples), None) if dry_run else grow(library, topic, chosen, examples)
    if json:
        print_json(_as_json(lib, topic, found, made, before))
    else:
        _tell(lib, found, chosen, made, before, dry_run)
    raise typer.Exit(0 if made.added else 3)


def _as_json(lib: Path, topic: str, found: TopicClusters, made: Split, before: Path | None) -> dict[str, object]:
    suggestions = [
        {"number": n, "label": one.label, "terms": one.terms, "pages": one.size, "examples": one.examples}
        for n, one in enumerate(found.clusters, 1)
    ]
    return {
        "library": str(lib),
        "topic": topic,
        "suggestions": suggestions,
        "topics": made.added.topics,
        "more": made.added.more,
        "shared": made.shared,
        "written": before is not None,
    }


def _tell(
    lib: Path, found: TopicClusters, chosen: list[PageCluster], made: Split, before: Path | None, dry_run: bool
) -> None:
    screen = console()
    screen.print(f"{plain(found.topic)}: {many(found.pages, 'page')} in {many(len(found.clusters), 'cluster')}")
    for n, one in enumerate(found.clusters, 1):
        mark = "+" if one in chosen else " "
        screen.print(f"{mark} {n:>2}  {plain(one.label)}: {many(one.size, 'page')}", soft_wrap=True)
        for page in one.examples[:_SHOWN]:
            screen.print(f"        {plain(page.title or page.url)}", soft_wrap=True, style="dim")
    if before is None:
        screen.print("Nothing is written: --dry-run only shows it." if dry_run and made.added else "Nothing is new.")
        return
    new, shared = many(len(made.added.topics), "new topic"), many(len(made.shared), "seed")
    screen.print(f"{new}; {shared} of {plain(found.topic)} went to them. The judge learns them in the next crawl:")
    screen.print(next_steps(lib, "health LIB", "crawl LIB --pages 1000", "topics undo LIB"), soft_wrap=True)


@topics.command()
def undo(
    lib: Lib,
    force: Annotated[bool, typer.Option("--force", help="Also where the settings were edited since.")] = False,
    json: Json = False,
) -> None:
    """Take the last split back: settings, tree and pages as they were before it; again, the one before that."""
    found = undo_split(LibraryFolder(lib), force)
    if json:
        print_json(found)
        return
    screen = console()
    gone = ", ".join(map(plain, found.gone)) or "no topic"
    screen.print(f"The split of {plain(found.topic)} is undone. Gone: {gone}.", soft_wrap=True)
    if found.kept:
        screen.print(f"The settings that were in force: {plain(found.kept)}", soft_wrap=True)
    screen.print(f"{many(found.left, 'earlier split')} can be undone." if found.left else "No other split is left.")
