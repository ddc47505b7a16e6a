"""HTML to Page. The only file that knows the HTML parser (turbohtml), so that another could stand in its place.

The document is walked by tag through the parser's own index, never node by node in Python; what only some pages
need (the words around a link, the main text) is left for later. Measured on real pages: docs/decisions.md.
"""

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from operator import attrgetter

from turbohtml import Document, Element, Namespace, Node, parse

from analecta.model import Link, Page, Response, UrlRef
from analecta.parse.charset import decode, header_charset, query_in
from analecta.parse.directives import AGENT, apply, date_of
from analecta.parse.links import MAX_ANCHOR, NOFOLLOW, base_of, gather
from analecta.text.language import language_of
from analecta.urls import Joiner, canonical

MAX_TITLE = 500  # characters
MAX_HEADING = 200
MAX_HEADINGS = 50
DEPTH = 510  # at the parser's 512 what is deeper becomes a sibling: text and links stay, structure is lost
AROUND = 100  # characters on each side of a link
_SIBLINGS = 40  # looked at on each side of an anchor, at each level
_LEVELS = 8  # inline elements around an anchor that are looked beyond; on hostile pages there are hundreds
MAX_AROUND = 2_000_000  # characters read around all anchors of a page; an honest one with 2,000 needs a third
MAX_ELEMENTS = 20_000  # of each kind that may hold links: of hostile markup the parser makes millions

_NO_WORDS = "script,style,template"  # what stands in them is not on the page, nor are a template's links
_UNSEEN = "noscript,title,iframe,noframes,noembed"
# Seconds, and where to go: up to the quote that ends it, if one began it.
_REFRESH = re.compile(
    r"\s*[\d.]+(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(.*))", re.IGNORECASE | re.DOTALL
)
_LINK_HEADER = re.compile(r"<([^<>]{1,2000})>([^<>]{0,500})")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)|([^\s;,]*))", re.IGNORECASE)
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q s samp small "
    "span strike strong sub sup time tt u var wbr".split()
)

_AUTHORS = frozenset(("author", "dc.creator", "dcterms.creator", "citation_author"))
_DATES = frozenset(
    "date dc.date dc.date.issued dcterms.date dcterms.created dcterms.modified dcterms.issued citation_date "
    "citation_publication_date article:published_time article:modified_time last-modified".split()
)

_LINKING = (("iframe", "src"), ("frame", "src"), ("a", "href"), ("area", "href"))

_text: Callable[[Element], str] = attrgetter("text")


def parse_html(
    answer: Response, target: UrlRef, joiner: Joiner, mime: str = "text/html", suspect: bool = False
) -> Page:
    """The page that an HTML answer holds; of a `suspect` also whether it is nested beyond reason.

    That costs a walk over all elements.
    """
    html, charset = decode(answer.body, header_charset(answer.headers.get("content-type", "")))
    document = parse(html, positions=False)
    document.remove(_NO_WORDS)
    page = Page(target.url, target.id, target.host, mime, charset=charset)
    _read_head(page, document, answer)
    _read_links(page, document, answer.headers, target, joiner)
    document.remove(_UNSEEN)  # not [hidden]: 3 pages of 1,000 have it, and to look costs each 10 us
    # A line for each string: words of neighbouring blocks never run together, and long lines are prose. to_text()
    # drops captions and stray list text, pads tables without bound (128 KB of HTML became 200 MB) and is slower.
    page.text = "\0".join(document.stripped_strings).replace("\n", " ").replace("\0", "\n")
    page.lang = language_of(page.text, _lang(document), answer.headers.get("content-language", ""))
    page.main_text = document.main_text
    if suspect and _depth(document) >= DEPTH:
        page.limits = "; ".join(filter(None, ("parse-limited: nesting flattened at depth 512", page.limits)))
    return page


def _read_head(page: Page, document: Document, answer: Response) -> None:
    """Title, headings, and what the page asks of robots."""
    asked, reserved = [], []
    for meta in document.find_all("meta"):
        name = meta.attr("name") or meta.attr("property")
        if not name:
            continue
        name = name.strip().lower()
        if name in ("robots", AGENT):
            asked.append(meta.attr("content") or "")
        elif name == "tdm-reservation":
            reserved.append(meta.attr("content") or "")
        elif name in _DATES:
            page.date = page.date or date_of(meta.attr("content") or "")
        elif name in _AUTHORS:
            page.author = page.author or " ".join((meta.attr("content") or "").split())[:MAX_TITLE]
    apply(page, answer, asked, reserved)
    page.headings = _headings(document)
    page.title = _title(document)


def _title(document: Document) -> str:
    """The first title that has words and is not that of a picture, else the first such heading."""
    titles = (e for e in document.find_all("title") if e.namespace is Namespace.HTML)
    texts = (" ".join(e.text.split())[:MAX_TITLE] for e in chain(titles, document.find_all("h1")))
    return next(filter(None, texts), "")


def _headings(document: Document) -> list[str]:
    """The headings, greater ones first."""
    found: list[str] = []
    for tag in ("h1", "h2", "h3"):
        if len(found) < MAX_HEADINGS:
            texts = (" ".join(e.text.split())[:MAX_HEADING] for e in document.find_all(tag, limit=MAX_HEADINGS))
            found += filter(None, texts)
    return found[:MAX_HEADINGS]


def _lang(document: Document) -> str:
    root = document.root
    return (root.attr("lang") or root.attr("xml:lang") or "") if root else ""


def _read_links(page: Page, document: Document, headers: dict[str, str], target: UrlRef, joiner: Joiner) -> None:
    """Links and the canonical URL; what stands for whole pages (refresh, next, frames) before anchors."""
    base = base_of([e.attr("href") for e in document.find_all("base")], target.url)
    hrefs: list[str | None] = []
    sources: list[Element] = []
    for link in document.find_all("link"):
        rel = (link.attr("rel") or "").lower().split()
        if "canonical" in rel and not page.canonical:
            stands_for = canonical(link.attr("href") or "", base)
            page.canonical = stands_for.url if stands_for else ""
        elif "next" in rel or "prev" in rel:
            hrefs.append(link.attr("href"))
            sources.append(link)
    if "link" in headers and not page.canonical:
        page.canonical = _canonical_header(headers["link"], target.url)
    if "refresh" in headers:
        hrefs.append(_refresh(headers["refresh"]))
        sources.append(Element("meta"))
    for meta in document.find_all("meta"):
        if (meta.attr("http-equiv") or "").lower() == "refresh":
            hrefs.append(_refresh(meta.attr("content") or ""))
            sources.append(meta)
    for tag, attribute in _LINKING:
        elements = document.find_all(tag, limit=MAX_ELEMENTS)
        hrefs += [e.attr(attribute) or e.attr("xlink:href") for e in elements]
        sources += elements
    if not page.charset.startswith("utf-"):
        hrefs = [href and query_in(page.charset, href) for href in hrefs]
    links, kept, cut = gather(hrefs, sources, target.id, joiner.base(base), _text, _nofollow)
    for link_, source in zip(links, kept, strict=True):
        if not link_.anchor:
            link_.anchor = _alt(source)
    page.links = links
    page.link_context = _Surroundings(kept, links)
    if cut or len(sources) >= MAX_ELEMENTS:
        page.limits = "links-cut"


def _refresh(content: str) -> str:
    """Where a refresh goes, "" if nowhere."""
    found = _REFRESH.match(content)
    return (found[1] or found[2] or found[3] or "").strip() if found else ""


def _canonical_header(value: str, url: str) -> str:
    """The URL that a Link header calls canonical, or ""."""
    for href, parameters in _LINK_HEADER.findall(value):
        rel = _REL.search(parameters)
        if rel and "canonical" in (rel[1] or rel[2]).lower().split():
            stands_for = canonical(href, url)
            return stands_for.url if stands_for else ""
    return ""


def _nofollow(element: Element) -> bool:
    rel = element.attr("rel")
    return rel is not None and NOFOLLOW.search(rel) is not None


def _alt(anchor: Element) -> str:
    """What an anchor without text is called: the alt text of its image or area, its label or its title."""
    image = anchor.find("img")
    drawn = image.attr("alt") if image else anchor.attr("alt")
    name = drawn or anchor.attr("aria-label") or anchor.attr("title") or ""
    return " ".join(name.split())[:MAX_ANCHOR]


class _Surroundings:
    """The words of the enclosing block before and after an anchor, with the anchor's own between them."""

    def __init__(self, anchors: list[Element], links: list[Link]) -> None:
        self.anchors = anchors
        self.links = links
        self.room = MAX_AROUND

    def __call__(self, i: int) -> str:
        before: list[str] = []
        after: list[str] = []
        node: Node | None = self.anchors[i]
        for _ in range(_LEVELS if self.room > 0 else 0):
            if node is None:
                break
            self._near(node.previous_siblings, before)
            self._near(node.next_siblings, after)
            node = node.parent
            if not isinstance(node, Element) or node.tag not in _INLINE:
                break
        left = "".join(reversed(before))
        if len(left) > AROUND:
            left = left[-AROUND:].partition(" ")[2]
        right = "".join(after)
        if len(right) > AROUND:
            right = right[:AROUND].rpartition(" ")[0]
        return " ".join(f"{left} {self.links[i].anchor} {right}".split())

    def _near(self, siblings: Iterator[Node], texts: list[str]) -> None:
        """Add the texts of siblings up to the next block, or until there is enough."""
        room = AROUND - sum(map(len, texts))
        for node in islice(siblings, _SIBLINGS):
            if room < 0 or (isinstance(node, Element) and node.tag not in _INLINE):
                return
            text = node.text
            texts.append(text)
            room -= len(text)
            self.room -= len(text)


def _depth(document: Document) -> int:
    """How deep the deepest element lies; the parser itself makes siblings of what lies deeper than 512."""
    path: list[Node] = []
    deepest = 0
    for element in document.iter_elements():
        parent = element.parent
        while path and path[-1] != parent:
            path.pop()
        path.append(element)
        deepest = max(deepest, len(path))
    return deepest
