"""The application: all commands by name, and the options that several of them have."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

# Each command, with the first sentence of its help. The list goes the way a library goes: begun, grown, looked at,
# understood, shown, passed on.
COMMANDS = {
    "new": "Make a library from what you have: pages you like, files, bookmarks, an outline, feeds, sites, a question.",
    "add": "Add topics and examples to a library; your comments in its settings stay.",
    "crawl": "Start a crawl, or go on with it. Ctrl-C once ends it cleanly, twice at once.",
    "health": "Look at the examples before a crawl: topics that are too close, pages that look wrong.",
    "status": "Show how a library stands; works while a crawl runs.",
    "explain": "Tell why a page is in, out, refused, failed, waiting or was never seen.",
    "collection": "Show the best pages of each topic and why they are; works while a crawl runs.",
    "search": "Find pages of a library by their words; works while a crawl runs.",
    "index": "Bring the index that `search` uses up to date; search does so too. The folder LIB/index may be deleted.",
    "feedback": "Say which pages are right and which are wrong; works while a crawl runs.",
    "retrain": "Learn anew from the examples and your feedback, judge all stored pages again, and show what changed.",
    "analyse": "Find what pages are about: clusters with labels, best pages, hubs and authorities.",
    "communities": "Show which sites belong together and why; works while a crawl runs.",
    "sites": "Say what a site is, where the settings `sites` do not say it well; shows what was said.",
    "map": "Draw the groups of pages of a library as one HTML file that needs no network.",
    "publish": "Write a site of the best pages of each topic, to read without a network or to put on a web server.",
    "export": "Write tables, collections, a corpus with texts, graphs, or the archive, for other tools to read.",
    "serve-oai": "Serve the records of a library by OAI-PMH 2.0; works while a crawl runs.",
    "bundle": "Write settings, seeds, models, versions, decisions and digests into one file, to repeat the crawl.",
    "repeat": "Repeat a crawl over its archive, without a network, and compare the pages and their order.",
    "recipes": "List the recipes and what each is for, or print one to start your own from.",
    "demo": "Crawl a small made-up web on this machine and show the result; needs no network.",
    "replay": "Serve archived pages as a web on this machine, under their own host names; or a made-up web.",
    "evaluate": "Measure how well recipes find a topic, by whole crawls over an archived web.",
    "verify": "Check every file of a library for damage; an interrupted check continues where it stopped.",
    "topics": "Show the tree of topics, split a topic into subtopics, undo a split.",
}


class LazyCommand(TyperCommand):
    """The name and help of a command, whose module is imported when the command is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself."""
        return load_command(str(self.name)).make_context(info_name, args, parent, **extra)


class LazyGroup(TyperGroup):
    """All commands in the order of `COMMANDS`; those whose modules are imported already are ready to be called."""

    def __init__(self, *, commands: Any = None, **extra: Any) -> None:
        listed = {name: LazyCommand(name, help=words) for name, words in COMMANDS.items()}
        super().__init__(commands=listed | commands, **extra)


def load_command(name: str) -> Any:
    """The command itself, from the module of its name."""
    import_module(f"analecta.cli.{name.replace('-', '_')}")
    return typer.main.get_group(app).commands[name]


app = typer.Typer(
    name="analecta",
    cls=LazyGroup,
    help="Grow a library on any topic from the web: give it pages you like, and it finds more of their kind.",
    epilog="Start with: analecta demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Lib = Annotated[Path, typer.Argument(metavar="LIB", help="The library's folder.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file of another kind that is there.")]
