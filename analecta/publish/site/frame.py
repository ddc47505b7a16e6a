"""The frame of every page: head, policy, the way around, the foot."""

from collections.abc import Sequence

from analecta.publish.site.content import Site
from analecta.publish.site.markup import Html, joined, tag
from analecta.text.display import day

# No script but the search's own file, nothing from anywhere else (F37). `form-action` is for the search box.
_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'"
_SCRIPTS = "; script-src 'self'"


def up(path: str) -> str:
    """What leads from a page to the site's top: links are relative, so that a site stands wherever it is put."""
    return "../" * path.count("/")


def framed(
    site: Site,
    path: str,
    title: str,
    main: Sequence[str],
    head: Sequence[str] = (),
    policy: str = "",
    scripts: Sequence[str] = (),
    root: str | None = None,
) -> str:
    """A whole page. `root` stands before links to other pages of the site where they cannot be relative."""
    root = up(path) if root is None else root
    whole = title if title == site.title else f"{title} · {site.title}"
    parts = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy or _POLICY + (_SCRIPTS if scripts else "")),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="generator", content="Analecta"),
        tag("title", whole),
        tag("link", rel="stylesheet", href=f"{root}style.css"),
        tag("link", rel="icon", type="image/svg+xml", href=f"{root}icon.svg"),
        *_search_description(site, root),
        *head,
        *(tag("script", src=root + script, defer=True) for script in scripts),
    ]
    body = [
        tag("a", "To the content", class_="skip", href="#main"),
        _header(site, path, root),
        tag("main", *main, id="main"),
        _footer(site, root),
    ]
    return _page(joined(parts, Html("\n")), joined(body, Html("\n")))


def _page(head: Html, body: Html) -> str:
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _search_description(site: Site, root: str) -> list[Html]:
    if not site.base_url:
        return []
    kind = "application/opensearchdescription+xml"
    return [tag("link", rel="search", type=kind, title=site.title, href=f"{root}opensearch.xml")]


def feed_link(title: str, href: str) -> Html:
    """Tells readers' programs of a feed."""
    return tag("link", rel="alternate", type="application/atom+xml", title=title, href=href)


def _header(site: Site, path: str, root: str) -> Html:
    def at(target: str, words: str) -> Html:
        return tag("a", words, href=root + target, aria_current="page" if target == path else None)

    return tag(
        "header",
        tag("a", tag("bdi", site.title), class_="name", href=f"{root}index.html"),
        tag("nav", at("index.html", "Topics"), at("communities.html", "Communities") if site.communities else "",
            at("titles.html", "Titles"), at("search.html", "Search"), at("feeds/all.xml", "Feed"), aria_label="Site"),
        class_="top",
    )  # fmt: skip


def search_box(root: str, name: str = "Search the library") -> Html:
    """The box to search with; it opens the page of the search, also where no script runs."""
    return tag(
        "form",
        tag("label", name, for_="q"),
        tag("input", id="q", name="q", type="search", autocomplete="off", spellcheck="false", dir="auto"),
        tag("button", "Search"),
        class_="search",
        role="search",
        action=f"{root}search.html",
    )


def _footer(site: Site, root: str) -> Html:
    made = f"Newest page of {day(site.made)}. " if site.made else ""
    return tag(
        "footer",
        tag(
            "p",
            made,
            "Chosen and put in order by a program, Analecta, from the examples of a person. ",
            "The pages belong to those who wrote them. ",
            tag("a", "How this library was made", href=f"{root}index.html#made"),
        ),
    )
