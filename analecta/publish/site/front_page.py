"""The front page: what the library is, its topics as a tree, what is new, how it was made."""

from collections.abc import Iterator, Sequence

from analecta.model import BELOW
from analecta.publish.charts import Line, line_chart
from analecta.publish.site.communities_page import front_section
from analecta.publish.site.content import Shelf, Site
from analecta.publish.site.feeds import newest
from analecta.publish.site.frame import feed_link, framed, search_box
from analecta.publish.site.markup import Html, foreign, joined, link, tag
from analecta.publish.site.metadata import front_metadata
from analecta.publish.site.topic_page import fact_list, home_link
from analecta.text.display import day, listed, many

_NEWEST = 10
_FIRST = 3  # titles of a topic beside its name
_LINES = 7  # topics in one picture: as many as there are colours


def front_page(site: Site) -> str:
    """The page that one opens first."""
    head = [feed_link(site.title, "feeds/all.xml"), *front_metadata(site)]
    parts = [
        tag("h1", tag("bdi", site.title)),
        tag("p", _lead(site), class_="lead"),
        search_box(""),
        tag("section", tag("h2", "Topics"), _tree(site.shelves, ()), *_map(site), class_="topics"),
        front_section(site),
        _newest(site),
        _made(site),
    ]
    return framed(site, "index.html", site.title, parts, head)


def overview_chart(site: Site) -> str:
    """The mean confidence of each topic's best items as the crawl went on; "" where there is nothing to draw."""
    drawn = [shelf for shelf in site.shelves if len(shelf.history) > 1][:_LINES]
    if not drawn:
        return ""
    lines = [
        Line(_short(shelf), [float(m.pages) for m in shelf.history], [m.mean for m in shelf.history]) for shelf in drawn
    ]
    last = max(max(line.xs) for line in lines)
    ticks = [(0.0, "0"), (last / 2, f"{last / 2:,.0f}"), (last, f"{last:,.0f}")]
    return line_chart(
        "How sure the judge is of the best items of each topic", lines, "pages fetched", "mean", ticks, 1.0
    )


def _short(shelf: Shelf) -> str:
    name = shelf.topic.split(BELOW)[-1]
    return name if len(name) <= 22 else name[:21] + "…"


def _lead(site: Site) -> str:
    if not site.shelves:
        return "There are no topics yet."
    shown = len(site.found)
    figures = site.figures
    return (
        f"{many(shown, 'page')} about {listed([shelf.topic for shelf in site.shelves])}, "
        f"chosen from {many(figures.pages, 'page')} on {many(figures.hosts, 'host')} that a crawl has read."
    )


def _map(site: Site) -> list[Html]:
    return [tag("p", tag("a", "Map of all pages", href=site.map))] if site.map else []


def _tree(shelves: Sequence[Shelf], above: tuple[str, ...]) -> Html | str:
    """The topics below a part of the tree; parts without pages of their own are only names."""
    names: dict[str, Shelf | None] = {}
    for shelf in shelves:
        parts = tuple(shelf.topic.split(BELOW))
        if parts[: len(above)] == above and len(parts) > len(above):
            name = parts[len(above)]
            names[name] = shelf if len(parts) == len(above) + 1 else names.get(name)
    if not names:
        return ""
    return tag("ul", *(tag("li", _topic(name, one), _tree(shelves, (*above, name))) for name, one in names.items()),
               class_=None if above else "tree")  # fmt: skip


def _topic(name: str, shelf: Shelf | None) -> Html:
    if shelf is None:
        return tag("span", tag("bdi", name), class_="branch")
    count = f"{len(shelf.ranked):,} of {shelf.pages:,}"
    shown = tag("span", tag("span", ", the best ", class_="unseen"), count, class_="count")
    first = joined((foreign(entry.title, entry.item.lang) for entry in shelf.ranked[:_FIRST]), " · ")
    return joined((tag("a", tag("bdi", name), href=shelf.path), " ", shown, tag("span", first, class_="first")))


def _newest(site: Site) -> Html | str:
    found = newest(site.found, _NEWEST)
    if not found:
        return ""
    rows = (
        tag(
            "li",
            link(entry.item.url, foreign(entry.title, entry.item.lang), class_="title"),
            fact_list(
                entry, tag("a", tag("bdi", shelf.topic), href=f"{shelf.path}#i{entry.hex}"), *home_link(entry, "")
            ),
        )
        for shelf, entry in found
    )
    return tag("section", tag("h2", "Newest"), tag("ul", *rows, class_="newest"))


def _made(site: Site) -> Html:
    told = (
        "A person gave example pages for each topic. A crawl followed links from them, a judge that learnt from the "
        "examples looked at every page, and the best pages of each topic stand here: those of which the judge is "
        "surest and to which the others link. Nothing is shown whose owner says “noindex”, and no copy where one says "
        "“noarchive”."
    )
    rows = (tag("div", tag("dt", name), tag("dd", value)) for name, value in _figures(site))
    alt = "The mean confidence of each topic’s best items as the crawl went on."
    chart = tag("img", src="history.svg", alt=alt, width=760, height=420) if overview_chart(site) else ""
    return tag(
        "section",
        tag("h2", "How it was made"),
        tag("p", told),
        tag("dl", *rows, class_="figures"),
        tag("figure", chart, tag("figcaption", alt)) if chart else "",
        id="made",
    )


def _figures(site: Site) -> Iterator[tuple[str, str]]:
    f = site.figures
    yield "Pages read", f"{f.pages:,}"
    yield "On a topic", f"{f.on_topic:,} ({f.on_topic / f.pages:.0%})" if f.pages else "0"
    yield "Hosts", f"{f.hosts:,}"
    yield "Copies of other pages, left out", f"{f.duplicates:,}"
    yield "Pages that say noindex, left out", f"{f.noindex:,}"
    if refused := f.reasons.get("robots"):
        yield "Not asked for, as robots.txt wishes", f"{refused:,}"
    if f.reserved:
        yield "Reserved against use for training", f"{f.reserved:,}"
    if site.made:
        yield "Newest page fetched", day(site.made)
