"""The command that lets a library learn from what a person said, and shows what changed."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import busy, console, print_json, print_next, stoppable
from analecta.errors import LibraryBusy, UsageError
from analecta.learning import retrain as work
from analecta.learning.retrain import Retrained, can_undo
from analecta.settings.load import load
from analecta.store.library import LibraryFolder
from analecta.store.library_db import DROP, learnt, said
from analecta.store.schema import MetaKey
from analecta.text.display import many, plain

_SHOWN = 10  # pages of each kind of change
_KINDS = {"in": "came in", "out": "went out", "moved": "moved here"}


@app.command()
def retrain(
    lib: Lib,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Put the model and all verdicts back as they were.")] = False,
    json: Json = False,
) -> None:
    """Learn anew from the examples and your feedback, judge all stored pages again, and show what changed.

    While a crawl runs it is asked to learn now.
    """
    if dry_run and undo:
        raise UsageError("--dry-run and --undo do not go together")
    library = LibraryFolder(lib)
    settings = load(library.settings_path)
    before = _stands(library)

    def stopped() -> str:
        if before == _stands(library):
            return "Nothing was changed."
        return "The model is changed; pages that it has not judged yet are judged by the next retraining or crawl."

    with stoppable(stopped), busy("learning") as status:

        def doing(done: int, all: int) -> None:
            status.update(f"judging {done:,} of {all:,} pages")

        try:
            done = work.undo(library, settings, doing) if undo else work.retrain(library, settings, dry_run, doing)
        except LibraryBusy:
            if dry_run or undo or not work.ask_crawl(library):
                raise
            done = None
    if done is None:
        _asked(lib, json)
    else:
        _tell(library, done, json, dry_run, undo)


def _stands(library: LibraryFolder) -> tuple[str, int]:
    """The model in use, and how many retrainings led to it."""
    return str(library.get(MetaKey.MODEL, "")), can_undo(library)


def _asked(lib: Path, json: bool) -> None:
    if json:
        print_json({"library": str(lib), "asked_the_crawl": True})
        return
    console().print(
        "A crawl is running: it was asked to learn from your feedback now, and judges by that from then on.\n"
        "When it is over, retrain once more: pages that it kept long ago are judged again then.",
        soft_wrap=True,
    )
    print_next(lib, "status LIB")


def _tell(library: LibraryFolder, done: Retrained, json: bool, dry: bool, undone: bool) -> None:
    listed = _listed(library, done, undone)
    if json:
        facts = {"library": str(library.folder), "dry_run": dry, "undone": undone, "before": done.before}
        facts |= {"model": done.model, "about": done.about, "pages": done.pages, "seconds": round(done.seconds, 2)}
        print_json(facts | {"changes": listed})
        return
    screen = console()
    if done.about:
        screen.print(f"Learnt from {plain(done.about)}.", soft_wrap=True)
    _diff(screen, done, listed)
    would = "would change" if dry else "changed"
    screen.print(f"{many(len(listed), 'page')} of {done.pages:,} {would} ({done.seconds:.1f} s).")
    if undone and not learnt(library):
        screen.print(
            "Your words stay: the next crawl or retraining learns from them again, unless you take them back too.",
            soft_wrap=True,
        )
        last = "feedback LIB --undo"
    else:
        last = "retrain LIB --undo" if can_undo(library) and not undone else "crawl LIB"
    print_next(library.folder, *(("retrain LIB",) if dry else ("collection LIB", last)))


def _diff(screen: Console, done: Retrained, listed: list[dict[str, object]]) -> None:
    """What changed, by topic: what came in, what went out, what came from another topic."""
    for topic in done.topics:
        for kind, words in _KINDS.items():
            where = "before" if kind == "out" else "after"
            pages = [one for one in listed if one["change"] == kind and one[where] == topic]
            if not pages:
                continue
            screen.print(f"{plain(topic)}: {len(pages):,} {words}", style="bold", soft_wrap=True)
            for one in pages[:_SHOWN]:
                came = f" from {plain(str(one['before']))}" if kind == "moved" else ""
                came += " (you said so)" if one["said"] else ""
                # Where a person has the last word, no judge's confidence counts.
                sure = f"{one['sure_before']:.2f} -> {'   —' if one['said'] else format(one['sure_after'], '.2f')}"
                screen.print(f"  {sure}  {plain(str(one['title'] or one['url']))}{came}", soft_wrap=True)
                if one["title"]:
                    screen.print(f"                {plain(str(one['url']))}", style="dim", soft_wrap=True)
            if len(pages) > _SHOWN:
                screen.print(f"  and {len(pages) - _SHOWN:,} more (--json has all)")


def _listed(library: LibraryFolder, done: Retrained, undone: bool) -> list[dict[str, object]]:
    """The changes with names, titles and addresses."""
    named = {-1: "", **dict(enumerate(done.topics))}
    last = {} if undone else {word.page: word.says for word in said(library)}
    spoken = {page for page, says in last.items() if says != DROP}
    with library.snapshot() as snapshot:
        known = snapshot.titles([one.id for one in done.changes])
    return [
        {
            "url": known[one.id][0],
            "title": known[one.id][1],
            "change": "in" if one.before < 0 else "out" if one.after < 0 else "moved",
            "before": named.get(one.before, ""),
            "sure_before": round(one.sure_before, 4),
            "after": named.get(one.after, ""),
            "sure_after": round(one.sure_after, 4),
            "said": one.id in spoken,
        }
        for one in done.changes
        if one.id in known
    ]
