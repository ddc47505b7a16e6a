"""Archived copies of pages, in which nothing runs and nothing is loaded."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from turbohtml import Text, parse
from turbohtml.clean import OnDisallowed, Policy, Sanitizer

from analecta.parse import MAX_BODY, MAX_TAGS
from analecta.publish.site.content import SiteContent, SiteItem, TopicPage
from analecta.publish.site.metadata import copy_metadata
from analecta.publish.site.pages import POLICY, page
from analecta.publish.templates import policy_hash
from analecta.store.rows import PageRow
from analecta.text.display import is_page
from analecta.urls import canonical
from analecta.views.copies import answer_of, html_of

# --- inert -----------------------------------------------------------------------------------------------------------
# An archived page made harmless: its words, headings, lists, tables and links; nothing that runs, loads or sends.
#
# What is not on the list below is taken away, so a new way to load something needs no new rule here. Around it stand a
# sandboxed frame and a policy (copies.py) that would stop what slipped through.

TAGS = (
    "a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del details dfn "
    "div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i ins kbd li main mark nav ol p pre q rp "
    "rt ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var "
    "wbr".split()
)
_GONE = (
    "script style noscript template title textarea select option button svg math iframe frame frameset noframes object "
    "embed applet audio video canvas map head noembed xmp plaintext".split()
)
_EVERYWHERE = frozenset("dir lang title".split())


def _href(_tag: str, name: str, value: str) -> str | None:
    """Names and passwords in addresses go; that only http and https stay is the policy's own work."""
    if name != "href" or "@" not in value:
        return value
    target = canonical(value)
    return target.url if target else None


_SANITIZER = Sanitizer(
    Policy(
        tags=frozenset(TAGS),
        attributes={
            "*": _EVERYWHERE,
            "a": frozenset(("href", "hreflang")),
            "td": frozenset(("colspan", "rowspan")),
            "th": frozenset(("colspan", "rowspan", "scope")),
            "ol": frozenset(("start", "reversed")),
            "bdo": frozenset(("dir",)),
        },
        url_schemes=frozenset(("http", "https")),
        allow_relative_urls=False,
        on_disallowed_tag=OnDisallowed.STRIP,
        remove_with_content=frozenset(_GONE),
        attribute_filter=_href,
        set_attributes={"a": {"target": "_blank"}},
        add_link_rel=frozenset(("noreferrer", "nofollow")),
        css_properties=frozenset(),
        allow_svg=False,
        allow_mathml=False,
    )
)


def inert(html: str, url: str) -> str:
    """What may be shown of a page's HTML, to stand in a <body>; links are whole addresses, pictures their words."""
    document = parse(html, positions=False)
    base = document.find("base")
    target = canonical(base.attr("href") or "", url) if base is not None else None
    document.resolve_links(target.url if target else url)
    for image in document.find_all("img"):
        image.replace_with(Text(image.attr("alt") or ""))
    body = document.find("body")
    return _SANITIZER.sanitize(body) if body is not None else ""


# --- Archived copies: what a page said when it was fetched, with its place in the archive ----------------------------
# A copy is shown in a sandboxed frame, under a policy that lets nothing run and nothing load; of documents the text is
# shown that was read. Search engines are asked to leave copies alone: the original is what counts.

_MOST_LETTERS = 300_000  # of a document's text that are shown


def copy_page(site: SiteContent, shelf: TopicPage, entry: SiteItem, archive: Path, text: str) -> str:
    """The page of one archived copy; `text` is what was read of it."""
    html = archived_html(archive, entry.item) if is_page(entry.item.mime) else None
    return page(
        "copy.html",
        site,
        entry.copy,
        f"Copy of {entry.title}",
        copy_metadata(site, shelf, entry),
        _policy(),
        topic=shelf,
        entry=entry,
        document=_document(html) if html else "",
        text=text[:_MOST_LETTERS],
        is_cut=len(text) > _MOST_LETTERS,
        most_letters=_MOST_LETTERS,
    )


def archived_html(archive: Path, item: PageRow) -> str | None:
    """The archived HTML, made harmless; None where the archive has it no more, or there is too much of it (F30)."""
    answer = answer_of(archive, item)
    if answer is None or len(answer.body) > MAX_BODY or answer.body.count(b"<") > MAX_TAGS:
        return None
    return inert(html_of(answer), item.url)


@cache
def _style() -> str:
    return files("analecta.publish.site").joinpath("assets/copy.css").read_text("utf-8").strip()


@cache
def _policy() -> str:
    """The frame's document has the policy of the page it stands in: all that it may use is our style, by its hash."""
    return POLICY.replace("style-src 'self'", f"style-src 'self' {policy_hash(_style())}")


def _document(html: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><title>Archived page</title><style>{_style()}</style>{html}'
