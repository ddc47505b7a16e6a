"""The commands that search a library, and keep the index for it."""

import shlex
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperOption

from analecta.cli.app import Json, Lib, app, busy, console, print_json
from analecta.errors import Environment

if TYPE_CHECKING:
    from rich.text import Text

    from analecta.search.update import Synced

_Sort = Literal["relevance", "confidence", "authority", "date"]
_Rebuild = Annotated[bool, typer.Option("--rebuild", help="Make the index anew first.")]


class _Asking(TyperCommand):
    """Takes -word for a word of the question: a shell has taken away the quotation marks that would say so."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Make `NOT word` of it, which means the same."""
        valued = {name for one in self.params if isinstance(one, TyperOption) and not one.is_flag for name in one.opts}
        end, found = args.index("--") if "--" in args else len(args), list[str]()
        for before, arg in zip(["", *args], args[:end], strict=False):
            minus = arg[:1] == "-" and arg[1:2].strip("- ") and arg not in ctx.help_option_names
            found += ["NOT", arg[1:]] if minus and before not in valued else [arg]
        return super().parse_args(ctx, found + args[end:])


@app.command(cls=_Asking)
def search(
    lib: Lib,
    query: Annotated[
        list[str],
        typer.Argument(metavar="QUERY...", help='Words, "phrases", OR, -not, site:, topic:, title:, after: …'),
    ],
    topic: Annotated[str, typer.Option("--topic", metavar="T", help="Only this topic and those below it.")] = "",
    vague: Annotated[bool, typer.Option("--vague", help="Also pages that are only close to the topic.")] = False,
    community: Annotated[
        str, typer.Option("--community", metavar="C", help="Only this community: its number, name or a site of it.")
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="Also pages on no topic; topic:none finds only those.")] = False,
    inside: Annotated[
        bool, typer.Option("--inside", help="Only the communities that fit best, with the best pages of each.")
    ] = False,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, max=10_000, help="Pages to show (--inside: of each).")
    ] = 10,
    sort: Annotated[_Sort, typer.Option("--sort", help="The order of the pages.")] = "relevance",
    weights: Annotated[
        str, typer.Option("--weights", metavar="text=A,confidence=B,authority=C", help="What relevance is made of.")
    ] = "",
    rebuild: _Rebuild = False,
    json: Json = False,
) -> None:
    """Find pages of a library by their words; works while a crawl runs.

    Words side by side must all be there, in any of their forms; "in quotes" exactly so. -word must not be there; OR and
    brackets work too. Fields: title: url: site: topic: community: lang: type: after: before:
    Pages on no topic are found with --all. A question in 'single quotes' reaches the search as you write it.
    """
    from analecta.cli.search_results import as_values, show
    from analecta.search import Asked, opened
    from analecta.search.ranking import read_weights
    from analecta.search.update import sync
    from analecta.store.library import Library

    library = Library(lib)
    asked = Asked(
        " ".join(query), topic, vague, top, sort, read_weights(weights), community=community, inside=inside, every=every
    )  # fmt: skip
    with busy("Looking whether the index is up to date") as status:
        if rebuild:
            sync(library, rebuild=True, doing=status.update)
        here = opened(library, doing=status.update)
    found = here.find(asked)
    if json:
        print_json({"library": str(lib), "query": asked.query, **as_values(found, asked, here.names)})
        return
    console().print(show(found, asked, here.names), crop=False)
    if found.hits:
        step = f"explain LIB {shlex.quote(found.hits[0].page.url)}"
    elif found.left_out:
        step = f"search LIB --all {shlex.quote(asked.query)}"
    else:
        step = "collection LIB" if len(here.stand.ids) else "crawl LIB"
    console(stderr=True).print(_next(lib, step), soft_wrap=True)


@app.command()
def index(lib: Lib, rebuild: _Rebuild = False, json: Json = False) -> None:
    """Bring the index that `search` uses up to date; search does so too. The folder LIB/index may be deleted."""
    from analecta.search.update import sync
    from analecta.store.library import Library

    library = Library(lib)
    if why := library.keeps_nothing():
        raise Environment(f"no index can be kept in {lib}: {why}; each `analecta search` makes its own")
    with busy("Looking at the library") as status:
        done = sync(library, rebuild=rebuild, doing=status.update)
    if json:
        print_json({"library": str(lib), "index": done})
        return
    console().print(_told(done))
    console(stderr=True).print(_next(lib, "search LIB WORDS" if done.pages else "crawl LIB"), soft_wrap=True)


def _told(done: "Synced") -> str:
    from analecta.text.display import many

    if done.rebuilt:
        return f"{many(done.pages, 'page')} indexed in {done.seconds:.1f} s: all anew ({done.rebuilt})."
    if not done.changed and not done.deleted:
        return f"The index of {many(done.pages, 'page')} is up to date."
    return f"{many(done.changed, 'page')} indexed, {done.deleted:,} taken out; {done.pages:,} in all."


def _next(lib: Lib, step: str) -> "Text":
    from analecta.cli.render import next_steps

    return next_steps(lib, step)
