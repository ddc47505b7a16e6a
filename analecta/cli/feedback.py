"""The command by which a person says which pages are right and wrong."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import console, print_json, print_next
from analecta.errors import UsageError
from analecta.learning.examples import complete_mark
from analecta.settings.load import load
from analecta.sources.files import read_bytes, text_of
from analecta.sources.lists import entries
from analecta.store.library import LibraryFolder
from analecta.store.library_db import BAD, DROP, GOOD, Mark, learnt, said, say, take_back
from analecta.text.display import iso, many, plain

# What may be said along with each.
_TOGETHER = {
    "--good": ("URL", "--file", "--topic", "--note", "--text"),
    "--bad": ("URL", "--file", "--topic", "--note", "--text"),
    "--drop": ("URL", "--file", "--note"),
    "--show": ("URL",),
    "--list": (),
    "--undo": (),
}


@app.command()
def feedback(
    lib: Lib,
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="Pages of the library.")] = None,
    good: Annotated[bool, typer.Option("--good", help="They show the topic: learn from them.")] = False,
    bad: Annotated[bool, typer.Option("--bad", help="They are not of the topic, or of none without --topic.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Learn nothing from them, also if they are seeds.")] = False,
    topic: Annotated[str, typer.Option(metavar="T", help="The topic; needed where it is not clear.")] = "",
    note: Annotated[str, typer.Option(metavar="TEXT", help="Why, for you and others.")] = "",
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Pages from a file, one URL a line.")
    ] = None,
    text: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Learn from this text instead of the page's, which you trimmed."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Print the text that is learnt from a page, to trim it.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="Show what was said so far.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back what was said last; again for what was before.")
    ] = False,
    json: Json = False,
) -> None:
    """Say which pages are right and which are wrong; works while a crawl runs.

    `analecta retrain` learns from it; so does the next crawl, and one that runs, at its next lesson.
    """
    library = LibraryFolder(lib)
    says = [word for word, asked in ((GOOD, good), (BAD, bad), (DROP, drop)) if asked]
    asked = {"--good": good, "--bad": bad, "--drop": drop, "--show": show, "--list": list_, "--undo": undo}
    _check_together(asked, {"URL": urls, "--file": file, "--topic": topic, "--note": note, "--text": text})
    if show:
        _print_text(library, urls or [], json)
    elif list_:
        _show(lib, said(library), learnt(library), json)
    elif undo:
        if not (gone := take_back(library)):
            raise UsageError("nothing is left to take back")
        _taken_back(lib, gone, json)
    else:
        _taken_down(lib, say(library, _words(library, urls or [], file, says[0], topic, note, text)), json)


def _check_together(asked: dict[str, bool], given: dict[str, object]) -> None:
    """Say so where it is not one thing that is asked for, or where something else is of no use to it."""
    what = [name for name, meant in asked.items() if meant]
    if len(what) != 1:
        raise UsageError("say one of --good, --bad, --drop, --show, --list and --undo")
    idle = [name for name, value in given.items() if value and name not in _TOGETHER[what[0]]]
    if idle:
        raise UsageError(f"{what[0]} does not go together with {', '.join(idle)}")


def _words(
    library: LibraryFolder,
    urls: Sequence[str],
    file: Path | None,
    says: str,
    topic: str,
    note: str,
    text: Path | None,
) -> list[Mark]:
    """What is said of each page; where one of them is not here, nothing is."""
    meant = [*urls, *(words for _, words in entries(file))] if file else list(urls)
    if not meant:
        raise UsageError("say of which pages: URLs, or -f FILE with one a line")
    if text is not None and len(meant) > 1:
        raise UsageError("--text is of one page")
    trimmed = text_of(read_bytes(text), text).strip() if text is not None else ""
    if text is not None and not trimmed:
        raise UsageError(f"{text} has no text: --drop learns nothing from a page")
    named, topics = [one.name for one in load(library.settings_path).topics], library.topic_names()
    with library.snapshot() as snapshot:
        pages = {page.id: page for page in map(snapshot.find_page, meant)}
    return [
        complete_mark(Mark(page.id, page.url, says, topic, note=note, text=trimmed), page.topic_names(topics), named)
        for page in pages.values()
    ]


def _print_text(library: LibraryFolder, urls: Sequence[str], json: bool) -> None:
    """The text of a page, as it was read or as a person left it."""
    if len(urls) != 1:
        raise UsageError("--show is of one page: say its URL")
    with library.snapshot() as snapshot:
        page = snapshot.find_page(urls[0])
        trimmed = next((word.text for word in reversed(said(library)) if word.page == page.id), "")
        text = trimmed or page.text
    if json:
        print_json({"library": str(library.folder), "url": page.url, "text": text})
    else:
        lines = text.splitlines()  # in a file they are to be learnt from again: as they are
        typer.echo("\n".join(map(plain, lines) if sys.stdout.isatty() else lines))


def _taken_down(lib: Path, words: Sequence[Mark], json: bool) -> None:
    if json:
        print_json({"library": str(lib), "said": words})
        return
    screen = console()
    for word in words:
        screen.print(f"{_meaning(word)}: {plain(word.url)}", soft_wrap=True)
    screen.print(f"Written down: {many(len(words), 'page')}. Nothing is learnt from it yet.")
    print_next(lib, "retrain LIB --dry-run", "retrain LIB", "feedback LIB --undo")


def _taken_back(lib: Path, words: Sequence[Mark], json: bool) -> None:
    if json:
        print_json({"library": str(lib), "taken_back": words})
        return
    for word in words:
        console().print(f"Taken back: {_meaning(word)}: {plain(word.url)}", soft_wrap=True)
    print_next(lib, "retrain LIB")


def _show(lib: Path, words: Sequence[Mark], known: bool, json: bool) -> None:
    if json:
        print_json({"library": str(lib), "said": words, "learnt": known})
        return
    for word in words:
        note = f" ({plain(word.note)})" if word.note else ""
        note += f" (from {len(word.text):,} characters of it)" if word.text else ""
        console().print(f"{iso(word.at)}  {_meaning(word)}: {plain(word.url)}{note}", soft_wrap=True)
    if not words:
        console().print("Nothing was said yet. `analecta feedback LIB URL --good` says that a page shows its topic.")
    if not known:
        console().print("Not all of this is learnt from yet.")
        print_next(lib, "retrain LIB")


def _meaning(word: Mark) -> str:
    match word.says:
        case "good":
            return f"shows {plain(word.topic)}"
        case "drop":
            return "is not learnt from"
    return f"is not about {plain(word.topic)}" if word.topic else "is about none of the topics"
