"""The command that searches a library: what was found, and what to try where nothing was."""

import shlex
from itertools import groupby
from typing import Annotated, Any, Literal

import msgspec
import typer
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text
from typer.core import TyperCommand, TyperOption

from analecta.cli.app import Json, Lib, app
from analecta.cli.index import Rebuild
from analecta.cli.render import busy, console, print_json, print_next
from analecta.communities.view import Community
from analecta.search import SearchHit, SearchRequest, SearchResult, opened
from analecta.search.communities import CommunityMatch
from analecta.search.compile import NONE
from analecta.search.index import language, type_of
from analecta.search.query import FIELDS, FILTERS, unknown_field
from analecta.search.ranking import Weights, read_weights
from analecta.search.snippets import Snippet
from analecta.search.update import sync
from analecta.store.library import LibraryFolder
from analecta.text.display import listed, many, plain

_Sort = Literal["relevance", "confidence", "authority", "date"]
_MARK = "bold yellow"
_INDENT = " " * 5
_SAID = 5  # values of a facet that are shown
_FACETS = {"topic": "Topics", "community": "Communities", "host": "Hosts", "year": "Years", "type": "Types"}
_FIELDS = {"name": "its name", "sites": "names of its sites", "links": "links to it", "titles": "titles of its pages"}
_PARTS = {
    "text": "how well the words fit",
    "confidence": "how sure the judge is",
    "authority": "how much the hubs of its topic link to it",
}


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
    topic: Annotated[str, typer.Option(metavar="T", help="Only this topic and those below it.")] = "",
    vague: Annotated[bool, typer.Option("--vague", help="Also pages that are only close to the topic.")] = False,
    community: Annotated[
        str, typer.Option(metavar="C", help="Only this community: its number, name or a site of it.")
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="Also pages on no topic; topic:none finds only those.")] = False,
    inside: Annotated[
        bool, typer.Option("--inside", help="Only the communities that fit best, with the best pages of each.")
    ] = False,
    top: Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="Pages to show (--inside: of each).")] = 10,
    sort: Annotated[_Sort, typer.Option(help="The order of the pages.")] = "relevance",
    weights: Annotated[
        str, typer.Option(metavar="text=A,confidence=B,authority=C", help="What relevance is made of.")
    ] = "",
    rebuild: Rebuild = False,
    json: Json = False,
) -> None:
    """Find pages of a library by their words; works while a crawl runs.

    Words side by side must all be there, in any of their forms; "in quotes" exactly so. -word must not be there; OR and
    brackets work too. Fields: title: url: site: topic: community: lang: type: after: before:
    Pages on no topic are found with --all. A question in 'single quotes' reaches the search as you write it.
    """
    library = LibraryFolder(lib)
    asked = SearchRequest(
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
    print_next(lib, step)


# --- What is said where no page has all that was asked for: what is lacking, and what could help ---------------------


def head(found: SearchResult) -> Text:
    """How many pages there are, and whether they have all of the words."""
    if found.some:
        some = f"{many(found.total, 'page')} with some of them"
        return Text(f"No page has all of the words{plain(_lacking(found))}; {some}:", style="yellow")
    return Text(f"{many(found.total, 'page')} found", style="bold")


def nothing(found: SearchResult, asked: SearchRequest) -> Text:
    """That there is none, and what could help."""
    told = Text().append(f"Nothing found for {plain(found.understood)}.", style="yellow")
    if names := _no_fields(found):
        told.append(f" No field is called {listed(names)}: there are {listed([f'{name}:' for name in FIELDS])}.")
    helps = [_first_help(found)]
    if found.left_out:
        helps.append(f"--all: {fit_too(found)}")
    if asked.inside and not found.communities:
        helps.append("no --inside: no community has such pages, and the words in its name, sites, links or titles")
    if asked.community or "community:" in found.understood:
        helps.append("all communities instead of one")
    if '"' in found.understood:
        helps.append("the phrase without its quotation marks")
    if asked.topic or "topic:" in found.understood:
        helps.append("no topic" if asked.vague else "--vague, which also takes pages close to the topic")
    if any(f"{field}:" in found.understood for field in ("after", "before")):
        helps.append("no date: many pages do not say theirs")
    return told.append(f" What could help: {'; '.join(helps)}.")


def _first_help(found: SearchResult) -> str:
    """What to try first: other words, or the question without what no page has."""
    if not found.missing:
        return "fewer words, or others"
    if found.missing != [found.understood]:
        return f"the question without {plain(listed(found.missing))}, which no page has"
    if found.understood.partition(":")[0] in FILTERS:
        return "the question *, which shows the hosts, types and years that there are"
    return "another word"


def _lacking(found: SearchResult) -> str:
    """Which of them no page has, in brackets."""
    said = [f"none has {listed(found.missing)}"] if found.missing else []
    said += [f"no field is called {listed(names)}"] if (names := _no_fields(found)) else []
    return f" ({'; '.join(said)})" if said else ""


def _no_fields(found: SearchResult) -> list[str]:
    """What looks like a field and is none."""
    return [name for name in map(unknown_field, found.missing) if name]


def fit_too(found: SearchResult) -> str:
    """How many pages on no topic were left out."""
    return f"{many(found.left_out, 'page')} on no topic fit{'s' if found.left_out == 1 else ''} too"


# --- What was found, for a terminal, with the words of the question marked; and as plain values for a machine --------


class Indented:
    """Text under a number; all its lines are set in."""

    def __init__(self, text: Text) -> None:
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.wrap(console, max(20, options.max_width - len(_INDENT))):
            line.rstrip()
            yield Text(_INDENT).append_text(line)


def show(found: SearchResult, asked: SearchRequest, topics: list[str]) -> RenderableType:
    """All that was found, best first; to be printed without cropping, so that addresses are whole."""
    if not found.hits:
        return nothing(found, asked)
    parts = _inside(found, topics) if asked.inside else _anywhere(found, topics)
    more = [f"{fit_too(found)}: --all finds {'it' if found.left_out == 1 else 'them'}."] if found.left_out else []
    parts += ["", *_facets(found), *(Text(line, style="dim") for line in [*more, _explained(asked)])]
    return Group(*parts)


def as_values(found: SearchResult, asked: SearchRequest, topics: list[str]) -> dict[str, Any]:
    """The same as plain values; marks are where the words of the question are in title and snippet."""
    return {
        "understood": found.understood,
        "total": found.total,
        "all_words": not found.some,
        "missing": found.missing,
        "left_out": found.left_out,
        "sort": asked.sort,
        "communities": [_community(fit) for fit in found.communities],
        "weights": {name: {"weight": weight, "of": _PARTS[name]} for name, weight in _weights(asked.weights)},
        "hits": [_values(hit, topics) for hit in found.hits],
        "facets": {name: [{"value": value, "pages": n} for value, n in pairs] for name, pairs in found.facets.items()},
    }


def _anywhere(found: SearchResult, topics: list[str]) -> list[RenderableType]:
    """The communities that fit, then the pages."""
    parts: list[RenderableType] = [Text("Communities", style="bold")] if found.communities else []
    for fit in found.communities:
        parts += _fit(fit)
    parts += ["", head(found)] if parts else [head(found)]
    for hit in found.hits:
        parts += ["", *_hit(hit, topics)]
    return parts


def _inside(found: SearchResult, topics: list[str]) -> list[RenderableType]:
    """The pages under their communities."""
    parts: list[RenderableType] = [head(found)]
    fits = {fit.community.number: fit for fit in found.communities}
    for number, hits in groupby(found.hits, lambda hit: hit.community.number if hit.community else 0):
        parts += ["", *(_fit(fits[number]) if number in fits else [])]
        for hit in hits:
            parts += ["", *_hit(hit, topics, at_home=True)]
    return parts


def _fit(fit: CommunityMatch) -> list[RenderableType]:
    """A community, why it fits, and its first sites."""
    one = fit.community
    size = f"  {many(len(one.members), 'site')}, {many(one.pages, 'page')}, {fit.found:,} of them found"
    first = _numbered(one.number).append(plain(one.name), style="bold magenta").append(size)
    sites = ", ".join(plain(member.site) for member in one.members[:_SAID])
    more = f", and {len(one.members) - _SAID:,} more" if len(one.members) > _SAID else ""
    why = [Indented(Text(plain(_reasons(fit)), style="dim"))] if fit.why else []
    return [first, *why, Indented(Text(f"{sites}{more}", style="cyan"))]


def _reasons(fit: CommunityMatch) -> str:
    """Which words are where, those together that are in the same places."""
    where: dict[str, list[str]] = {}
    for word, fields in fit.why:
        where.setdefault(listed([_FIELDS[field] for field in fields]), []).append(word)
    return "; ".join(f"{listed(words)} in {places}" for places, words in where.items())


def _hit(hit: SearchHit, topics: list[str], at_home: bool = False) -> list[RenderableType]:
    """A page; its address is whole on a line, its community is not named where it stands under it."""
    first = _numbered(hit.rank).append_text(_marked(hit.title, "bold"))
    url = Text(f"{_INDENT}{plain(hit.page.url)}", style="cyan", no_wrap=True, overflow="ignore")
    topic = "on no topic" if hit.page.topic < 0 else _topic(hit, topics)
    home = hit.community.name if hit.community and not at_home else ""
    kind = type_of(hit.page.mime)
    about = [topic, home, hit.page.date, "" if kind == "html" else kind]
    parts, sure = hit.placed, "nearest topic" if hit.page.topic < 0 else "sure"
    why = f"{parts.score:.2f}: words {parts.text:.2f}, {sure} {parts.confidence:.2f}, authority {parts.authority:.2f}"
    lines = [Text(plain("  ".join(filter(None, about)))), _marked(hit.snippet, ""), Text(why, style="dim")]
    return [first, url, *(Indented(line) for line in lines if line)]


def _numbered(number: int) -> Text:
    return Text().append(f"{number:>3}  ", style="dim")


def _marked(shown: Snippet, style: str) -> Text:
    text = Text()
    for piece, mark in shown.parts():
        text.append(plain(piece), style=_MARK if mark else style)
    return text


def _facets(found: SearchResult) -> list[Text]:
    lines = []
    for name, title in _FACETS.items():
        if len(pairs := found.facets.get(name, [])) > 1:
            counted = ", ".join(f"{plain(value)} {n:,}" for value, n in pairs[:_SAID])
            lines.append(Text(f"{title}: {counted}{', …' if len(pairs) > _SAID else ''}", style="dim"))
    return lines


def _explained(asked: SearchRequest) -> str:
    if asked.sort != "relevance":
        return f"In the order of {asked.sort}."
    return "Score: " + " + ".join(f"{weight:g} × {_PARTS[name]}" for name, weight in _weights(asked.weights) if weight)


def _weights(weights: Weights) -> list[tuple[str, float]]:
    return list(msgspec.structs.asdict(weights).items())


def _topic(hit: SearchHit, topics: list[str]) -> str:
    return topics[hit.page.topic] if 0 <= hit.page.topic < len(topics) else NONE


def _values(hit: SearchHit, topics: list[str]) -> dict[str, Any]:
    page, parts = hit.page, hit.placed
    return {
        "rank": hit.rank, "score": parts.score, "text": parts.text, "confidence": parts.confidence,
        "authority": parts.authority, "url": page.url, "host": page.host, "title": page.title,
        "topic": _topic(hit, topics), "date": page.date, "lang": language(page.lang), "type": type_of(page.mime),
        "community": _named(hit.community) if hit.community else None,
        "snippet": hit.snippet.text, "marks": hit.snippet.marks,
    }  # fmt: skip


def _community(fit: CommunityMatch) -> dict[str, Any]:
    return {
        **_named(fit.community),
        "score": fit.score,
        "sites": [member.site for member in fit.community.members],
        "pages": fit.community.pages,
        "found": fit.found,
        "why": [{"word": word, "in": fields} for word, fields in fit.why],
    }


def _named(community: Community) -> dict[str, Any]:
    return {"number": community.number, "name": community.name}
