"""Communities of sites in words, for a terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analecta.publish.communities import Community, Found
from analecta.publish.plain import many, plain, shown

_LINKS = 3  # other communities that are named for each


def tell(found: Found, members: int = 5) -> RenderableType:
    """All communities, with the first of their members."""
    if not found.communities:
        return Text("No communities yet: they are seen once sites of the seeds have been crawled.")
    parts: list[RenderableType] = [Text(_summary(found))]
    for one in found.communities:
        parts += [Text(f"\n{one.number}  {_headline(one)}", style="bold"), _members(one, members)]
        if near := _near(found, one):
            parts.append(Text(f"   links to {near}", style="dim"))
        parts += [Text(f"   {plain(words)}", style="dim") for words in one.merged[:members]]
    if found.everywhere:
        parts.append(Text("\nSites that everybody links to, which belong nowhere:"))
        parts += [shown(f"   {site}: {why}", "dim") for site, why in list(found.everywhere.items())[: 2 * members]]
    return Group(*parts)


def tell_one(found: Found, one: Community) -> RenderableType:
    """One community, with all of its members."""
    parts: list[RenderableType] = [Text(f"{one.number}  {_headline(one)}", style="bold")]
    parts.append(_members(one, len(one.members)))
    parts += [Text(plain(words), style="dim") for words in one.merged]
    if near := _near(found, one):
        parts.append(Text(f"links to {near}", style="dim"))
    return Group(*parts)


def _summary(found: Found) -> str:
    seen = f"{_communities(len(found.communities))} among {many(found.crawled, 'site')}"
    return f"{seen}; {many(found.waiting, 'site')} would come next" if found.waiting else seen


def _headline(one: Community) -> str:
    return f"{plain(one.name)}: {many(len(one.members), 'site')}, {many(one.pages, 'page')}"


def _members(one: Community, most: int) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right")
    table.add_column(style="dim", overflow="ellipsis", no_wrap=True)
    for member in one.members[:most]:
        table.add_row(shown(f"   {member.site}"), many(member.pages, "page"), shown(member.reason))
    if len(one.members) > most:
        table.add_row(f"   and {len(one.members) - most:,} more", "", "")
    return table


def _near(found: Found, one: Community) -> str:
    """The communities that it links to most."""
    names = {other.number: other.name for other in found.communities}
    links = [link for link in found.between if link.source == one.number][:_LINKS]
    return " · ".join(f"{link.target} {plain(names[link.target])} ({link.links:,})" for link in links)


def _communities(count: int) -> str:
    return "1 community" if count == 1 else f"{count:,} communities"
