"""Writes the pages: an article, a link list, a home page with news, all with navigation and a footer."""

from collections.abc import Sequence
from random import Random

from analecta.testweb import words
from analecta.testweb.links import Link, Links, Weaver
from analecta.testweb.plan import Card, Plan, Site
from analecta.testweb.sentences import OFF_TOPIC, PRIVACY, Voice, some

CHARSETS = {"wrong": "iso-8859-1", "bom": "utf-8"}


class Writer:
    """Writes any page of a plan as HTML text."""

    def __init__(self, plan: Plan, weaver: Weaver) -> None:
        self.plan, self.weaver = plan, weaver

    def page(self, card: Card) -> str:
        """The page of a card."""
        links = self.weaver.of(card)
        voice = self._voice(card)
        match card.kind:
            case "home":
                main = home(card, links, voice)
            case "hub":
                main = hub(card, links, voice)
            case "about":
                text = voice.from_(PRIVACY, 7) if voice.language == "en" else words.LANGUAGES[voice.language]["about"]
                main = f"<h1>{card.title}</h1>\n<p>{text}</p>\n{listing(links.listed)}"
            case _:
                main = article(card, self._text(card, voice, links.inline), links)
        return frame(card.site, card.title, main, links.nav, _meta(card))

    def printed(self, card: Card) -> str:
        """The print version: the same text, no navigation, hardly a link."""
        paragraphs = self._text(card, self._voice(card), self.weaver.of(card).inline)
        body = f"<h1>{card.title}</h1>\n" + "\n".join(paragraphs)
        back = f'<p>Printed from <a href="{card.path}">{card.site.name}</a></p>'
        head = f"<head>{_charset(card.site)}<title>{card.title} (print)</title></head>"
        return f"<!DOCTYPE html>\n<html>{head}\n<body>{body}\n{back}</body></html>\n"

    def plain(self, card: Card) -> str:
        """The text of an article without markup, for files."""
        voice = self._voice(card)
        return "\n\n".join([card.title, *(voice.paragraph(6) for _ in range(4))])

    def _voice(self, card: Card) -> Voice:
        rng = Random(self.plan.hash(card.n if card.source < 0 else card.source, b"text"))
        return Voice(card.site.topic, card.focus, rng, card.site.language)

    def _text(self, card: Card, voice: Voice, inline: Sequence[Link]) -> list[str]:
        """Paragraphs with headings. A copy says the same as its source but for a remark of its own."""
        if not card.topic:
            return [f"<p>{voice.from_(OFF_TOPIC, 5)}</p>" for _ in range(4)]
        draw, parts = voice.draw, []
        for i in range(5 + int(draw() * 4)):
            if i % 2:
                parts.append(f"<h2>{voice.heading()}</h2>")
            parts.append(f"<p>{voice.paragraph(5 + int(draw() * 5))}</p>")
        if draw() < 0.4:
            items = "".join([f"<li>{voice.sentence()}</li>\n" for _ in range(4)])
            parts.insert(3, f"<ul>\n{items}</ul>")
        if card.source >= 0:
            source = self.plan.card(card.source)
            parts.insert(1, f'<p><em>First published by <a href="{source.url}">{source.site.name}</a>.</em></p>')
        for i, link in enumerate(inline):
            at = min(1 + 2 * i, len(parts) - 1)
            if parts[at].endswith("</p>"):
                parts[at] = f'{parts[at][:-4]} See also <a href="{link.href}">{link.text}</a>.</p>'
            else:
                parts.append(f'<p>More: <a href="{link.href}">{link.text}</a></p>')
        return parts


def article(card: Card, paragraphs: Sequence[str], links: Links) -> str:
    """An article with what surrounds it."""
    parts = [
        f"<article>\n<h1>{card.title}</h1>",
        *paragraphs,
        "</article>",
        "<h3>Related pages</h3>",
        listing(links.listed),
    ]
    if links.comments:
        nicks = some(words.NICKS)
        parts.append("<h3>Comments</h3>")
        parts += [
            f"<p><b>{nicks[(card.n + i) % len(nicks)]}</b>: {anchor(link)}</p>" for i, link in enumerate(links.comments)
        ]
    return "\n".join(parts)


def hub(card: Card, links: Links, voice: Voice) -> str:
    """A link list: a word on most of the links, the site's own pages at the end."""
    rows = [f"<li>{anchor(link)}{' - ' + voice.sentence() if voice.draw() < 0.5 else ''}</li>" for link in links.listed]
    return "\n".join(
        [
            f"<h1>{card.title}</h1>\n<p>{voice.paragraph(2)}</p>\n<ul>",
            *rows,
            "</ul>\n<h2>On this site</h2>",
            listing(links.inline),
        ]
    )


def home(card: Card, links: Links, voice: Voice) -> str:
    """A home page: a welcome, news, where to go."""
    news = [f"<h3>{anchor(link)}</h3>\n<p>{voice.paragraph(2)}</p>" for link in links.inline[:6]]
    rest = links.inline[6:] + links.listed + links.comments
    welcome = (
        f"<h1>{card.title}</h1>\n<p>{voice.paragraph(4)}</p>\n<h2>{'News' if voice.language == 'en' else '***'}</h2>"
    )
    return "\n".join([welcome, *news, listing(rest)])


def anchor(link: Link) -> str:
    """A link in HTML."""
    rel = ' rel="nofollow ugc"' if link.nofollow else ""
    return f'<a href="{link.href}"{rel}>{link.text}</a>'


def listing(links: Sequence[Link]) -> str:
    """Links as a list."""
    return "<ul>\n" + "".join([f"<li>{anchor(link)}</li>\n" for link in links]) + "</ul>"


def frame(site: Site, title: str, main: str, nav: Sequence[Link], meta: str = "") -> str:
    """A whole page: head, navigation, main part, footer."""
    menu = " | ".join([f'<a href="{link.href}">{link.text}</a>' for link in nav])
    return f"""<!DOCTYPE html>
<html lang="{site.language}">
<head>{_charset(site)}
<title>{title} - {site.name}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{meta}
<style>body{{font:17px/1.5 Georgia,serif;max-width:44em;margin:auto;padding:1em}}nav,footer{{font-size:85%}}</style>
</head>
<body>
<header><strong>{site.name}</strong></header>
<nav>{menu}</nav>
<main>
{main}
</main>
<footer><p>&copy; {site.name}. All texts may be quoted with a link. Kept by volunteers, updated when it rains.</p>
<p>{menu}</p></footer>
</body>
</html>
"""


def _charset(site: Site) -> str:
    if site.declared == "header" or site.declared == "bom":
        return ""
    return f'<meta charset="{site.charset if site.declared == "meta" else CHARSETS["wrong"]}">'


def _meta(card: Card) -> str:
    """What the page says of itself: wishes to robots, and its canonical address where it has others."""
    robots = f'\n<meta name="robots" content="{card.robots}">' if card.robots and card.said == "meta" else ""
    return f'{robots}\n<link rel="canonical" href="{card.url}">' if card.n % 4 == 0 or card.moved else robots
