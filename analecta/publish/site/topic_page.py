"""The page of a collection: items under the pages that link to them, with the words around each link (S13)."""

import shlex
from collections.abc import Iterator

from analecta.communities.view import Community
from analecta.model import BELOW
from analecta.publish.charts import Line, line_chart
from analecta.publish.site.content import Entry, Group, Shelf, Site, community_path
from analecta.publish.site.frame import feed_link, framed, up
from analecta.publish.site.markup import Html, foreign, joined, link, tag
from analecta.publish.site.metadata import about, shelf_metadata
from analecta.store.library import Moment
from analecta.text.display import day, format_name, is_page, language, language_name, many, written
from analecta.text.summary import name_of
from analecta.views.reasons import KIND_WORDS

_OTHER_WAYS = {
    "sitemap": "Named in a site’s own map",
    "unlisted": "Found on pages that are not shown here",
}
_MARKS = tuple(",.;:!?)]")
_SUREST = 0.99  # nobody is wholly sure, whatever figures round to
_AROUND = 90  # letters that are shown on each side of a link's words


def shelf_page(site: Site, shelf: Shelf) -> str:
    """The page of one topic."""
    root = up(shelf.path)
    ranked = shelf.ranked
    title = shelf.topic.split(BELOW)[-1]
    head = [feed_link(shelf.topic, root + shelf.feed), *shelf_metadata(site, shelf)]
    parts = [
        _crumbs(site, shelf, root),
        tag("h1", tag("bdi", title)),
        tag("p", about(shelf) if ranked else "No pages were found yet.", " ", _more(shelf, root), class_="lead"),
    ]
    body = [_group(site, group, root) for group in shelf.groups]
    if shelf.examples:
        body.append(_examples(site, shelf, root))
    aside = [_best(shelf), _history(shelf, root)]
    parts.append(tag("div", tag("div", *body, class_="groups"), tag("aside", *aside, aria_label="Overview"),
                     class_="columns"))  # fmt: skip
    return framed(site, shelf.path, shelf.topic, parts, head)


def facts(entry: Entry) -> Iterator[str]:
    """What is known of an item, in a few words each."""
    item = entry.item
    yield foreign(item.host)
    if item.author:
        yield foreign(item.author, item.lang)
    if item.date:
        yield tag("time", written(item.date), datetime=item.date)
    if name := language_name(item.lang):
        yield name
    if not is_page(item.mime):
        yield format_name(item.mime)
    if entry.kind:
        yield KIND_WORDS[entry.kind]


def fact_list(entry: Entry, *more: str) -> Html:
    """The same as a list in a line."""
    return tag("ul", *(tag("li", fact) for fact in (*facts(entry), *more)), class_="about")


def community_link(one: Community, root: str) -> Html:
    """The name of a community, which leads to its page."""
    return tag("a", foreign(one.name), href=root + community_path(one))


def home_link(entry: Entry, root: str) -> list[Html]:
    """The community of an item; none where it has none."""
    return [community_link(entry.home, root)] if entry.home else []


def how_sure(entry: Entry) -> Iterator[str]:
    """What the judge and the links say of an item."""
    if entry.confidence:
        yield f"{min(entry.confidence, _SUREST):.0%} sure"
    if entry.authority >= 0.005:
        yield f"authority {entry.authority:.2f}"


def history_chart(title: str, moments: list[Moment]) -> str:
    """How sure the judge was of a topic's best items as the crawl went on: the least, the mean and the most."""
    xs = [float(moment.pages) for moment in moments]
    ticks = [(xs[0], f"{xs[0]:,.0f}"), (xs[-1], f"{xs[-1]:,.0f}")] if xs else []
    lines = [
        Line("most", xs, [moment.most for moment in moments]),
        Line("mean", xs, [moment.mean for moment in moments]),
        Line("least", xs, [moment.least for moment in moments]),
    ]
    return line_chart(title, lines, "pages fetched", "how sure", ticks, top=1.0)


def _crumbs(site: Site, shelf: Shelf, root: str) -> Html:
    """The way from the front page down the tree; topics above that have a page are links."""
    pages = {one.topic: one.path for one in site.shelves}
    parts = shelf.topic.split(BELOW)
    steps = [tag("li", tag("a", "Topics", href=f"{root}index.html"))]
    for n in range(1, len(parts)):
        name, path = tag("bdi", parts[n - 1]), pages.get(BELOW.join(parts[:n]))
        steps.append(tag("li", tag("a", name, href=root + path) if path else name))
    return tag("nav", tag("ol", *steps), class_="crumbs", aria_label="Where you are")


def _more(shelf: Shelf, root: str) -> Html:
    links = [tag("a", "Atom feed", href=root + shelf.feed)]
    if shelf.map:
        links.append(tag("a", "Map of its pages", href=root + shelf.map))
    return joined(links, " · ")


def _group(site: Site, group: Group, root: str) -> Html:
    return tag("section", *_over(group), *(_item(site, entry, root, 3) for entry in group.entries), class_="group")


def _over(group: Group) -> Iterator[Html]:
    if group.parent is None:
        yield tag("h2", _OTHER_WAYS[group.how])
        return
    parent = group.parent
    name = link(parent.url, foreign(name_of(parent.title, parent.url), parent.lang))
    yield tag("h2", tag("span", "Linked from ", class_="over"), name)


def _item(site: Site, entry: Entry, root: str, level: int) -> Html:
    item = entry.item
    rel = (
        "noreferrer" if entry.finding.how == "example" else "noreferrer nofollow"
    )  # who vouches for it: a person, or nobody
    name = link(item.url, foreign(entry.title, item.lang), rel=rel)
    rank = tag("span", tag("span", "Rank ", class_="unseen"), str(entry.rank), class_="rank") if entry.rank else ""
    return tag(
        "article",
        tag(f"h{level}", rank, name),
        fact_list(entry, *home_link(entry, root), *how_sure(entry)),
        tag("p", foreign(entry.summary, item.lang), lang=language(item.lang), class_="summary")
        if entry.summary
        else "",
        _words(entry),
        _below(site, entry, root),
        id=f"i{entry.hex}",
        class_="item",
    )


def _words(entry: Entry) -> Html | str:
    """The words around the link that led to it, the link's own marked."""
    anchor, context = entry.finding.anchor.strip(), entry.finding.context.strip()
    if not (anchor or context) or entry.finding.parent is None:
        return ""
    before, found, after = context.partition(anchor) if anchor else (context, "", "")
    if anchor and not found:
        before, after = "", ""
    if not (before.strip() or after.strip()) and anchor == entry.title:
        return ""
    told = (_last(before), tag("mark", anchor) if anchor else "", _first(_closed(after)))
    return tag("p", tag("span", "In the words of that page: ", class_="unseen"),
               tag("q", *told, dir="auto", lang=language(entry.finding.parent.lang)), class_="link-words")  # fmt: skip


def _closed(words: str) -> str:
    """Words after a link: a mark stands close to it, another word does not."""
    return words.lstrip() if words.lstrip()[:1] in _MARKS else words


def _last(words: str) -> str:
    return words if len(words) <= _AROUND else f"… {words[-_AROUND:].partition(' ')[2]}"


def _first(words: str) -> str:
    return words if len(words) <= _AROUND else f"{words[:_AROUND].rpartition(' ')[0]} …"


def _below(site: Site, entry: Entry, root: str) -> Html:
    copy = tag("a", "Archived copy", tag("span", f" of {entry.title}", class_="unseen"), href=root + entry.copy)
    none = tag("span", "Its owner wants no copy shown" if entry.item.noarchive else "", class_="quiet")
    command = shlex.join(("analecta", "explain", site.library, entry.item.url))
    why = tag(
        "details",
        tag("summary", "Why is it here?", tag("span", f" ({entry.title})", class_="unseen")),
        tag("p", f"Fetched on {day(entry.item.fetched_at)}. This tells how it was judged:"),
        tag("pre", tag("code", command), tabindex="0"),
    )
    return tag("div", copy if entry.copy else none, why, class_="below")


def _examples(site: Site, shelf: Shelf, root: str) -> Html:
    told = "Pages that a person gave to show what is meant. The others were found by following links from them."
    shown = (_item(site, entry, root, 3) for entry in shelf.examples)
    return tag("section", tag("h2", "Examples given by a person"), tag("p", told, class_="quiet"), *shown,
               class_="group examples", id="examples")  # fmt: skip


def _best(shelf: Shelf) -> Html | str:
    rows = [
        tag("li", tag("a", foreign(entry.title, entry.item.lang), href=f"#i{entry.hex}"), value=entry.rank)
        for entry in shelf.ranked
        if entry.rank
    ]
    examples = tag("p", tag("a", many(len(shelf.examples), "example"), href="#examples"), " given by a person")
    return tag("nav", tag("h2", "Best first"), tag("ol", *rows), examples if shelf.examples else "",
               class_="best", aria_label="Best first")  # fmt: skip


def _history(shelf: Shelf, root: str) -> Html | str:
    if len(shelf.history) < 2:
        return ""
    last = shelf.history[-1]
    now = f"{last.least:.2f} to {last.most:.2f}, {last.mean:.2f} on average"
    told = f"How sure the judge was of the best items as the crawl went on; at the end {now}"
    picture = tag("img", src=f"{root}topics/{shelf.slug}.svg", alt=f"{told}.", width=760, height=420, loading="lazy")
    return tag("figure", picture, tag("figcaption", told, "."))
