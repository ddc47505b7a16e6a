"""The command that shows which sites belong together: names and sites whole, so that they can be copied."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from analecta.cli.app import Force, Json, Lib, app
from analecta.cli.render import FittingText, console, print_json, print_next
from analecta.communities.view import Community, CommunityList, CommunityMember, find
from analecta.communities.view import communities as communities_of
from analecta.export.graphs import write_community_graph
from analecta.store.library import LibraryFolder
from analecta.store.output import check_outside
from analecta.text.display import many, plain

_LINKS = 3  # other communities that are named for each
_SITES = 10  # sites that belong nowhere, of each kind


@app.command()
def communities(
    lib: Lib,
    community: Annotated[
        str, typer.Option(metavar="C", help="Only this one, with all its sites: number, name or a site.")
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.gexf|.graphml", help="Also write the graph of the sites."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Show which sites belong together and why; works while a crawl runs.

    Communities are seen best in a library that was grown site by site: recipe = "communities".
    """
    if output is not None:
        check_outside(output)
    library = LibraryFolder(lib)
    found = communities_of(library)
    one = find(found, community) if community else None
    written = None if output is None else write_community_graph(library, found, output, force)
    if json:
        print_json(one or {"library": str(lib), "crawling": library.holder(), "found": found})
        return
    console().print(tell_one(found, one) if one else tell(found))
    if written is not None:
        console().print(f"{output}: the links between {many(written, 'site')}")
    number = one.number if one else 1
    deeper = f"{'collection' if one else 'communities'} LIB --community {number}"
    steps = (f"crawl LIB --community {number}", deeper) if found.communities else ("crawl LIB",)
    print_next(lib, *steps)


def tell(found: CommunityList, members: int = 5) -> RenderableType:
    """All communities, with the first of their members."""
    if not found.communities:
        return Text("No communities yet: they are seen once sites of the seeds have been crawled.")
    parts: list[RenderableType] = [Text(_summary(found))]
    near = _near(found)
    for one in found.communities:
        parts += ["", _headline(one), *_members(one, members), *near.get(one.number, ())]
        if one.merged:
            words = f"{len(one.merged) + 1:,} seeds grew together: `--community {one.number}` tells why"
            parts.append(_set_in(Text(words, "dim")))
    return Group(*parts, *_nowhere(found))


def tell_one(found: CommunityList, one: Community) -> RenderableType:
    """One community, with all of its members."""
    merged = [_set_in(Text(plain(words), "dim")) for words in one.merged]
    return Group(_headline(one), *_members(one, len(one.members)), *merged, *_near(found).get(one.number, ()))


def _summary(found: CommunityList) -> str:
    """How many there are, and where all sites went."""
    inside = sum(len(one.members) for one in found.communities)
    seen = f"{many(len(found.communities), 'community', 'communities')} of {many(inside, 'site')}"
    if apart := found.crawled - inside:
        seen += f"; {apart:,} more of the {found.crawled:,} that were read belong to none"
    return f"{seen}; {many(found.waiting, 'site')} would come next" if found.waiting else seen


def _nowhere(found: CommunityList) -> Iterator[RenderableType]:
    """The sites that belong to no community, and why."""
    if found.everywhere:
        yield Text(f"\n{many(len(found.everywhere), 'site')} of no community, because everybody links there:")
        yield from _some([f"{site}: {why}" for site, why in found.everywhere.items()])
    if found.apart:
        yield Text(f"\n{many(len(found.apart), 'site')} of no community, with too few links into any:")
        yield from _some(found.apart)


def _some(lines: Sequence[str]) -> Iterator[RenderableType]:
    yield from (_set_in(Text(plain(line), "dim")) for line in lines[:_SITES])
    if len(lines) > _SITES:
        yield _set_in(Text(f"and {len(lines) - _SITES:,} more (--json has all)", "dim"))


def _headline(one: Community) -> Text:
    size = f"{many(len(one.members), 'site')}, {many(one.pages, 'page')}"
    return Text(f"{one.number}  {plain(one.name)}: {size}", "bold", overflow="fold")


def _members(one: Community, most: int) -> Iterator[RenderableType]:
    members = one.members[:most]
    yield _set_in(FittingText(_table(members), Group(*(line for member in members for line in _lines(member)))))
    if len(one.members) > most:
        yield _set_in(Text(f"and {len(one.members) - most:,} more"))


def _table(members: Sequence[CommunityMember]) -> Table:
    columns = Column(no_wrap=True), Column(no_wrap=True, justify="right"), Column(no_wrap=True, style="dim")
    table = Table.grid(*columns, padding=(0, 2))
    for member in members:
        table.add_row(Text(plain(member.site)), many(member.pages, "page"), Text(plain(member.reason)))
    return table


def _lines(member: CommunityMember) -> tuple[RenderableType, RenderableType]:
    head = Text(f"{plain(member.site)}  {many(member.pages, 'page')}", overflow="fold")
    return head, _set_in(Text(plain(member.reason), "dim", overflow="fold"))


def _near(found: CommunityList) -> dict[int, list[RenderableType]]:
    """The communities that each links to most, by its number."""
    names = {other.number: other.name for other in found.communities}
    near: dict[int, list[RenderableType]] = {}
    for link in found.between:
        told = near.setdefault(link.source, [])
        if len(told) < _LINKS:
            words = f"{many(link.links, 'link')} to {link.target}  {plain(names[link.target])}"
            told.append(_set_in(Text(words, "dim", overflow="fold")))
    return near


def _set_in(what: RenderableType) -> Padding:
    return Padding.indent(what, 3)
