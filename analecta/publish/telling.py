"""An explanation in words, for a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analecta.publish.explain import Explanation, Kept, Step
from analecta.publish.plain import plain

_FOUND = {
    "seed": "a seed that you gave",
    "link": "by a link",
    "redirect": "by a redirect",
    "sitemap": "in a sitemap",
    "map": "a sitemap",
    "probe": "made up by us as a probe",
}
_FLAGS = {
    "noindex": "it says noindex, so it is in no collection and nothing that is published",
    "nofollow": "it says nofollow, so its links were not followed",
    "noarchive": "it says noarchive, so no copy of it is published",
    "soft404": "it looks like what its host shows for pages that it does not have",
}
_MOST_STEPS = 12


def tell(told: Explanation) -> RenderableType:
    """The verdict first, then what it rests on."""
    head, style = verdict(told)
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _facts(told):
        table.add_row(name, value if isinstance(value, Text) else Text(plain(value)))
    return Group(Text(plain(told.url), style="bold", overflow="fold"), Text(plain(head), style=style), "", table)


def verdict(told: Explanation) -> tuple[str, str]:
    """One sentence that says where the URL stands, and a colour for it."""
    match told.state:
        case "done":
            return _of_page(told)
        case "elsewhere":
            return f"ELSEWHERE. {told.why}", "yellow"
        case "queued":
            return "WAITS in the queue" + (f", after a try: {told.why}" if told.tries and told.why else "."), "cyan"
        case "leased" if told.crawling:
            return "IS BEING FETCHED now.", "cyan"
        case "leased":
            return "WAS BEING FETCHED when the last crawl was ended; the next one asks again.", "cyan"
        case "refused":
            return f"REFUSED. {told.why}", "red"
        case "failed":
            return f"FAILED. {told.why}", "red"
    return _never(told), "magenta"


def _of_page(told: Explanation) -> tuple[str, str]:
    page = told.page
    if page is None:
        return "DONE, but its page is missing from the library.", "red"
    if page.topic:
        return f"IN. It is a page about {page.topic} (confidence {page.confidence or 0:.2f}).", "green"
    why = next((f": {_FLAGS[flag]}" for flag in page.flags if flag in ("noindex", "soft404")), "")
    near = "" if why or not page.confidence else f" (the nearest comes to {page.confidence:.2f})"
    return f"KEPT, but about none of the topics{why}{near}.", "yellow"


def _never(told: Explanation) -> str:
    if told.linked_from:
        return (
            "NEVER QUEUED. Pages that were kept link to it, but their links were not followed: the path was given up "
            "(policy.cutoff), the page is a copy, or the link says nofollow."
        )
    return "NEVER SEEN. No page, sitemap or redirect that was fetched so far leads to it, and it is no seed."


def _facts(told: Explanation) -> Iterator[tuple[str, str | Text]]:
    if told.detail:
        yield "Detail", told.detail
    if told.host_delay:
        yield "Host", f"its robots.txt asks for {told.host_delay:g} s between requests"
    if told.host_waits_until and told.state == "queued":
        yield "Host", f"is not asked before {told.host_waits_until}"
    for i, url in enumerate(told.stands_elsewhere):
        yield ("" if i else "Stands at"), url
    if told.page:
        yield from _page(told.page)
    if told.depth is not None:
        yield "Scores", _scores(told)
    yield from _way(told.chain)
    for name, urls in (("Stands for", told.stands_for), ("Linked from", told.linked_from), ("Known is", told.similar)):
        for i, url in enumerate(urls):
            yield ("" if i else name), url
    if told.page and told.page.warc_file:
        yield "Archive", f"{told.page.warc_file}, {told.page.warc_length} bytes at {told.page.warc_offset}"


def _page(page: Kept) -> Iterator[tuple[str, str | Text]]:
    yield "Title", page.title or "(none)"
    about = [str(page.status), page.mime, page.lang, f"{page.words:,} words", f"fetched {page.fetched_at}"]
    yield "Page", ", ".join(filter(None, about))
    for flag in page.flags:
        yield "Note", _FLAGS[flag]
    for cut in filter(None, (page.limits, page.truncated and f"cut short: {page.truncated}")):
        yield "Note", cut
    if page.judge:
        yield "Judge", f"{page.judge}, model {page.model}"
    elif not page.model:
        yield "Judge", "none yet: the page was kept before there was a model"
    if page.terms:
        yield "Terms", " · ".join(f"{term} {weight:.2f}" for term, weight in page.terms)


def _scores(told: Explanation) -> str:
    path = "from a seed" if told.depth else "a seed"
    parts = [f"depth {told.depth} ({path})", f"priority {told.priority:.3g}"]
    parts += [f"path of {told.topic}"] if told.topic else []
    parts += [f"off-topic pages in a row before it: {told.astray}"] if told.astray else []
    parts += [f"{told.tries} tries"] if told.tries > 1 else []
    return ", ".join(parts)


def _way(chain: list[Step]) -> Iterator[tuple[str, str | Text]]:
    """From the URL back to the seed it was reached from."""
    for i, step in enumerate(chain[:_MOST_STEPS]):
        text = Text("" if i == 0 else f"← {plain(step.url)}  ")
        text.append(_FOUND[step.found], style="" if i == 0 else "dim")
        if step.anchor:
            text.append(f" “{plain(step.anchor)}”", style="italic")
        yield ("" if i else "Found"), text
    if len(chain) > _MOST_STEPS:
        yield "", f"← and {len(chain) - _MOST_STEPS} more, up to {chain[-1].url}"
