"""An archived page made harmless: its words, headings, lists, tables and links; nothing that runs, loads or sends.

What is not on the list below is taken away, so a new way to load something needs no new rule here. Around it stand a
sandboxed frame and a policy (copies.py) that would stop what slipped through.
"""

from turbohtml import Text, parse
from turbohtml.clean import OnDisallowed, Policy, Sanitizer

from analecta.urls import canonical

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
