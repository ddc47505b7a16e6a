"""The command that tells where a URL stands, and why."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from analecta.cli.app import Json, Lib, app
from analecta.cli.render import Fact, Facts, Inset, console, print_json
from analecta.store.library import LibraryFolder
from analecta.store.links import Inlinks
from analecta.text.display import many, plain
from analecta.views.explain import Explanation, JudgeModel, PathStep, StoredUrl
from analecta.views.explain import explain as explain_url
from analecta.views.reasons import KIND_WORDS

_FOUND = {
    "seed": "a seed that you gave",
    "link": "by a link",
    "redirect": "by a redirect",
    "sitemap": "in a sitemap",
    "map": "a sitemap",
    "probe": "made up by us as a probe",
}
_START = "a page to begin at, of `starts` in the settings"  # a link that no page is known for
_FLAGS = {
    "noindex": "its owner asks that it is listed nowhere (noindex), so nothing that is published has it",
    "nofollow": "its owner asks that its links are not followed (nofollow)",
    "noarchive": "its owner asks that no copy of it is published (noarchive)",
    "soft404": "it looks like what its host shows for pages that it does not have",
}
_JUDGES = {
    "centroid": "compares a page's words with the typical words of each topic's examples",
    "profile": "looks for the words that a topic's pages have more of than other pages do",
    "bayes": "asks how much likelier a page's words are in a topic's examples than elsewhere",
    "svm": "weighs the words that set a topic's examples apart from all others",
    "committee": "several judges, each with words of its own, that vote",
    "none": "does not judge: no page is about a topic",
}
_LEFT_OUT = ("noindex", "soft404")  # a page with one of these is in no collection, whatever it is about
_COPY = "duplicate"
_MOST_STEPS = 12
_MOST_LETTERS = 160  # of the words around a link


@app.command()
def explain(
    lib: Lib,
    url: Annotated[str, typer.Argument(metavar="URL", help="An address, in any form.", show_default=False)],
    json: Json = False,
) -> None:
    """Tell why a page is in, out, refused, failed, waiting or was never seen."""
    found = explain_url(LibraryFolder(lib), url)
    print_json(found) if json else console().print(tell(found), crop=False)


def tell(told: Explanation) -> RenderableType:
    """The verdict first, then what it rests on."""
    head, style = verdict(told)
    url = Text(plain(told.url), "bold", overflow="ignore", no_wrap=True)
    return Group(url, Text(plain(head), style), "", Facts(_facts(told)))


def verdict(told: Explanation) -> tuple[str, str]:
    """One sentence that says where the URL stands, and a colour for it."""
    match told.state:
        case "done":
            return _of_page(told)
        case "elsewhere":
            return f"ELSEWHERE. {told.why}", "yellow"
        case "queued" if told.page:
            return _again(told)
        case "queued" if told.priority is not None and told.priority < 0:
            return f"WAITS, DEMOTED. {told.why}", "yellow"
        case "queued":
            return "WAITS in the queue" + (f", after a try: {told.why}" if told.tries and told.why else "."), "cyan"
        case "leased" if told.crawling:
            return "IS BEING FETCHED now.", "cyan"
        case "leased":
            return "WAS BEING FETCHED when the last crawl was ended; the next one asks again.", "cyan"
        case "refused":
            return f"REFUSED. {told.why}", "red"
        case "failed" if told.page:
            head, style = _of_page(told)
            return f"{head} It cannot be had any more: {told.why}", style
        case "failed":
            return f"FAILED. {told.why}", "red"
    return _never(told), "magenta"


def _again(told: Explanation) -> tuple[str, str]:
    """Where a page stands that was kept, and is to be asked for once more."""
    head, style = (f"ELSEWHERE. {told.why}", "yellow") if told.reason == _COPY else _of_page(told)
    tried = f", after a try: {told.why}" if told.tries and told.why else "."
    return f"{head} It is to be asked for again{tried}", style


def _of_page(told: Explanation) -> tuple[str, str]:
    page = told.page
    if page is None:
        return "DONE, but its page is missing from the library.", "red"
    later = " You say otherwise: `analecta retrain`, or the next crawl, learns that." if told.not_yet else ""
    if page.topic:
        why = "because you say so" if told.as_said else f"confidence {page.confidence or 0:.2f}"
        return f"IN. It is a page about {page.topic} ({why}).{later}", "green"
    if why := next((_FLAGS[flag] for flag in page.flags if flag in _LEFT_OUT), ""):
        return f"KEPT, but in no collection: {why}.", "yellow"
    if told.as_said:
        return "KEPT, but about none of the topics, because you say so.", "yellow"
    near = f": the nearest has confidence {page.confidence:.2f}, which is too little" if page.confidence else ""
    return f"KEPT, but about none of the topics{near}.{later}", "yellow"


def _never(told: Explanation) -> str:
    if told.to_begin:
        return "NOT ASKED YET. Your settings name it as a page to begin at: the next crawl asks for it."
    if told.linked.pages:
        return (
            "NEVER QUEUED. Pages that were kept link to it, but their links were not followed: too many pages in a row "
            "were off topic (policy.cutoff), the page is a copy of another, or the link says nofollow."
        )
    return "NEVER SEEN. No page, sitemap or redirect that was fetched so far leads to it, and it is no seed."


def _facts(told: Explanation) -> Iterator[Fact]:
    if told.detail:
        yield "Detail", told.detail
    if told.host_delay:
        yield "Host", f"its robots.txt asks for {told.host_delay:g} s between requests"
    if told.host_waits_until and told.state == "queued":
        yield "Host", f"is not asked before {told.host_waits_until}"
    for i, url in enumerate(told.stands_elsewhere):
        yield ("" if i else "Stands at"), url
    if told.page:
        judged = told.state in ("done", "failed") or (told.state == "queued" and told.reason != _COPY)
        yield from _page(told.page, judged)
        yield from _judged(told.page) if judged else ()
    for words in told.said:
        yield "You said", words
    yield from _links(told.linked)
    if told.depth is not None:
        yield "Order", _order(told)
    if told.ahead is not None:
        yield (
            "Queue",
            f"{told.ahead:,} of the {told.waiting:,} URLs that wait {'is' if told.ahead == 1 else 'are'} worth more",
        )
    yield from _way(told.chain, told.context)
    for name, urls in (("Stands for", told.stands_for), ("Known is", told.similar)):
        for i, url in enumerate(urls):
            yield ("" if i else name), url
    if told.page and told.page.certificate:
        yield "Certificate", f"{told.page.certificate}: allowed by fetch.allow_bad_tls"
    if told.page and told.page.warc_file:
        yield "Archive", f"{told.page.warc_file}, {told.page.warc_length} bytes at {told.page.warc_offset}"


def _page(page: StoredUrl, told: bool) -> Iterator[Fact]:
    yield "Title", page.title or "(none)"
    if page.author or page.date:
        yield "By", ", ".join(filter(None, (page.author, page.date)))
    about = [page.mime, page.lang, many(page.words, "word"), f"fetched on {_minute(page.fetched_at)}"]
    yield "Page", ", ".join(filter(None, about)) + ("" if page.status == 200 else f", answered with {page.status}")
    for flag in page.flags:
        if page.topic or flag not in _LEFT_OUT or not told:  # else the verdict has said it
            yield "Note", _FLAGS[flag]
    if page.kind:
        yield "Note", f"it reads like {KIND_WORDS[page.kind]}, so it is shown after a topic's other pages"
    for cut in filter(None, (page.limits, page.truncated and f"cut short: {page.truncated}")):
        yield "Note", cut


def _judged(page: StoredUrl) -> Iterator[Fact]:
    """The words that made the verdict, and who gave it."""
    if page.terms:
        # Each judge weighs in its own way, from hundreds down to thousandths: only how they compare says something.
        most = page.terms[0][1] or 1.0
        listed = " · ".join(f"{term} {100 * weight / most:.0f}" for term, weight in page.terms)
        yield "Words", f"that speak most for {page.topic or 'the nearest topic'} (the first counts 100): {listed}"
    if page.model is None:
        yield "Judge", "none yet: the page was kept before there was a model"
    else:
        yield from _model(page.model)


def _model(model: JudgeModel) -> Iterator[tuple[str, str]]:
    """Who judged the page, in which way, and what it had learnt from."""
    if not model.kind:
        yield "Judge", f"the library no longer knows the model {model.hash}"
        return
    how = f": {_JUDGES[model.kind]}" if model.kind in _JUDGES else ""
    yield "Judge", f"{model.kind}{how}"
    age = "" if model.current else "; a newer one is in use now"
    yield "", f"learnt from {model.about} on {_minute(model.made_at)} (model {model.hash[:12]}){age}"


def _minute(moment: str) -> str:
    return f"{moment[:16].replace('T', ' at ')} UTC"


def _links(linked: Inlinks) -> Iterator[Fact]:
    """The pages that link here, the best first."""
    if not linked.pages:
        return
    yield "Links", _how_many(linked)
    for page in linked.best:
        words = Text(f"“{plain(page.anchor)}”" if page.anchor else "a link without words", "italic")
        words.append(f" on {plain(page.title or 'a page without title')}", "not italic")
        words.append(f" ({plain(page.topic or 'off topic')} {page.confidence:.2f})", "not italic")
        yield "", words
        yield "", Inset(page.url)
    if linked.pages > len(linked.best):
        yield "", f"and {linked.pages - len(linked.best):,} more"


def _how_many(linked: Inlinks) -> str:
    if linked.pages == 1:
        return f"1 page in the library links to it, which is {'on' if linked.on_topic else 'off'} topic"
    share = "all" if linked.on_topic == linked.pages else f"{linked.on_topic:,}" if linked.on_topic else "none"
    return f"{linked.pages:,} pages in the library link to it, {share} of them on topic"


def _order(told: Explanation) -> str:
    """Why it came, or comes, when it does."""
    parts = [f"{many(told.depth or 0, 'link')} away from a seed"]
    if told.depth == 0:
        start = any(step.found == "link" for step in told.chain[-1:])
        parts = ["a page to begin at, after the seeds" if start else "a seed, so it is asked for before all others"]
    elif told.priority and told.priority > 0 and told.state != "refused":
        parts.append(f"thought worth {told.priority:.2g} by its links; what is worth more comes first")
    if told.topic:
        parts.append(f"sought for {told.topic}")
    if told.astray:
        parts.append(
            "the page before it is off topic" if told.astray == 1 else f"the {told.astray} before it are off topic"
        )
    if told.tries > 1:
        parts.append(f"{told.tries} tries")
    return "; ".join(parts)


def _way(chain: list[PathStep], context: str) -> Iterator[Fact]:
    """From the URL back to the seed it was reached from."""
    for i, step in enumerate(chain[:_MOST_STEPS]):
        text = Text("" if i == 0 else f"← {plain(step.url)}  ")
        start = step.found == "link" and step is chain[-1]
        text.append(_START if start else _FOUND[step.found], style="" if i == 0 else "dim")
        if step.anchor:
            text.append(f" “{plain(step.anchor)}”", style="italic")
        yield ("" if i else "Found"), text
        if i == 0 and context not in ("", step.anchor):
            cut = context if len(context) <= _MOST_LETTERS else context[:_MOST_LETTERS].rsplit(" ", 1)[0] + " …"
            yield "", Inset(f"amid the words: {cut}")
    if len(chain) > _MOST_STEPS:
        yield "", f"← and {len(chain) - _MOST_STEPS} more, up to {chain[-1].url}"
