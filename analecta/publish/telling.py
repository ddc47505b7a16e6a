"""An explanation in words, for a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analecta.publish.explain import Explanation, Kept, Model, Step
from analecta.publish.linking import Linked
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
_KINDS = {
    "course": "a course description",
    "call": "a call for papers",
    "cv": "somebody's curriculum vitae",
    "shop": "a page of a shop",
}
_JUDGES = {
    "centroid": "compares a page's words with the typical words of each topic's examples",
    "profile": "looks for the words that a topic's pages have more of than other pages do",
    "bayes": "asks how much likelier a page's words are in a topic's examples than elsewhere",
    "svm": "weighs the words that set a topic's examples apart from all others",
    "committee": "several judges, each with words of its own, that vote",
    "none": "takes every page",
}
_MOST_STEPS = 12
_MOST_LETTERS = 160  # of the words around a link


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
    if told.linked.pages:
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
    yield from _links(told.linked)
    if told.depth is not None:
        yield "Scores", _scores(told)
    if told.ahead is not None:
        yield "Queue", f"{told.ahead:,} of the {told.waiting:,} URLs that wait have a higher priority"
    yield from _way(told.chain, told.context)
    for name, urls in (("Stands for", told.stands_for), ("Known is", told.similar)):
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
    if page.kind:
        yield "Note", f"it reads like {_KINDS[page.kind]}, so it is shown after a topic's other pages"
    for cut in filter(None, (page.limits, page.truncated and f"cut short: {page.truncated}")):
        yield "Note", cut
    if page.terms:
        listed = " · ".join(f"{term} {weight:.2f}" for term, weight in page.terms)
        yield "Words", f"what speaks for {page.topic or 'the nearest topic'}: {listed}"
    if page.model is None:
        yield "Judge", "none yet: the page was kept before there was a model"
    else:
        yield from _model(page.model)


def _model(model: Model) -> Iterator[tuple[str, str]]:
    """Who judged the page, in which way, and what it had learnt from."""
    if not model.kind:
        yield "Judge", f"the library no longer knows the model {model.hash}"
        return
    how = f": {_JUDGES[model.kind]}" if model.kind in _JUDGES else ""
    yield "Judge", f"{model.kind}{how}"
    when = model.made_at[:16].replace("T", " at ")
    age = "" if model.current else "; a newer one is in use now"
    yield "", f"learnt from {model.about} on {when} UTC (model {model.hash[:12]}){age}"


def _links(linked: Linked) -> Iterator[tuple[str, str | Text]]:
    """The pages that link here, the best first."""
    if not linked.pages:
        return
    yield "Links", _how_many(linked)
    for page in linked.best:
        words = Text(f"“{plain(page.anchor)}” " if page.anchor else "", "italic")
        words.append(f"on {plain(page.title or 'a page without title')}", "not italic")
        words.append(f" ({plain(page.topic)} {page.confidence:.2f})" if page.topic else " (off topic)", "not italic")
        yield "", words
        yield "", Text(f"  {plain(page.url)}", "dim")
    if linked.pages > len(linked.best):
        yield "", f"and {linked.pages - len(linked.best):,} more"


def _how_many(linked: Linked) -> str:
    if linked.pages == 1:
        return f"1 page in the library links to it, which is {'on' if linked.on_topic else 'off'} topic"
    share = "all" if linked.on_topic == linked.pages else f"{linked.on_topic:,}" if linked.on_topic else "none"
    return f"{linked.pages:,} pages in the library link to it, {share} of them on topic"


def _scores(told: Explanation) -> str:
    steps = f"{told.depth} step{'s' if told.depth != 1 else ''} from a seed"
    parts = [steps if told.depth else "a seed", f"priority {told.priority:.3g}"]
    parts += [f"on a path about {told.topic}"] if told.topic else []
    parts += [f"off-topic pages in a row before it: {told.astray}"] if told.astray else []
    parts += [f"{told.tries} tries"] if told.tries > 1 else []
    return ", ".join(parts)


def _way(chain: list[Step], context: str) -> Iterator[tuple[str, str | Text]]:
    """From the URL back to the seed it was reached from."""
    for i, step in enumerate(chain[:_MOST_STEPS]):
        text = Text("" if i == 0 else f"← {plain(step.url)}  ")
        text.append(_FOUND[step.found], style="" if i == 0 else "dim")
        if step.anchor:
            text.append(f" “{plain(step.anchor)}”", style="italic")
        yield ("" if i else "Found"), text
        if i == 0 and context not in ("", step.anchor):
            cut = context if len(context) <= _MOST_LETTERS else context[:_MOST_LETTERS].rsplit(" ", 1)[0] + " …"
            yield "", Text(f"  amid the words: {plain(cut)}", "dim")
    if len(chain) > _MOST_STEPS:
        yield "", f"← and {len(chain) - _MOST_STEPS} more, up to {chain[-1].url}"
