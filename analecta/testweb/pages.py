"""The pages of the pocket web, and the links on them."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from analecta.testweb import sentences
from analecta.testweb.plan import PageCard, PocketSite, WebPlan
from analecta.testweb.sentences import OFF_TOPIC, PRIVACY, TOPICS, SentenceMaker

# --- Who links to whom: mostly within a topic, more often to its leading sites and their first articles --------------


NAMES = tuple(TOPICS)
PARKED = ("best-deals-portal.test", "great-domain-4-sale.test")


class WrittenLink(NamedTuple):
    """A link as it is written on a page."""

    href: str
    text: str
    nofollow: bool = False


class Links(NamedTuple):
    """The links of a page by their place on it."""

    nav: list[WrittenLink]
    inline: list[WrittenLink]
    listed: list[WrittenLink]
    comments: list[WrittenLink]


# How the entry of each trap is written in the navigation, and with it the odd link that leads nowhere.
ENTRIES = {
    "calendar": WrittenLink("/calendar/2024/05/", "Calendar"),
    "facets": WrittenLink("/shop/?page=1", "Shop"),
    "repeating": WrittenLink("/docs/section/", "Documents"),
    "relative": WrittenLink("/news/", "News"),
    "soft-404": WrittenLink("/old-programme.html", "Programme"),
}
LOOP = WrittenLink("/loop/a", "The forum (moved)")


class LinkMaker:
    """Chooses the links of each page of a plan."""

    def __init__(self, plan: WebPlan) -> None:
        self.plan = plan

    def of(self, card: PageCard) -> Links:
        """The links of a page; the same page always has the same ones."""
        rng = Random(self.plan.hash(card.n, b"links"))
        match card.kind:
            case "home":
                inline = self._near(card, self._own(card.site, 0, 14))
                return Links(self._nav(card), inline, self._away(card, rng, 4, 0.9), self._only_here(card.site))
            case "hub":
                chunk = max(1, -(-(card.site.count - card.site.articles) // card.site.hubs))
                own = self._own(card.site, (card.local - 1) * chunk, chunk)
                return Links(self._nav(card), self._near(card, own), self._away(card, rng, 28, 0.94), [])
            case "about":
                return Links(self._nav(card), [], self._away(card, rng, 2, 0.3), [])
        own = [self._article(card.site, rng) for _ in range(4)]
        listed = self._steps(card) + self._extras(card) + self._away(card, rng, 5 + int(rng.random() * 7), 0.78)
        return Links(self._nav(card), self._near(card, own), listed, self._comments(card, rng))

    def choose(self, topic: str, rng: Random) -> PageCard:
        """A page about a topic: the square of a random number favours what comes first."""
        sites = self.plan.by_topic[topic]
        site = sites[int(len(sites) * rng.random() ** 2)]
        return self.plan.card(site.first) if rng.random() < 0.12 else self._article(site, rng)

    def _article(self, site: PocketSite, rng: Random) -> PageCard:
        size = site.count - site.articles
        at = site.articles + int(size * rng.random() ** 2)
        card = self.plan.card(site.first + min(at, site.count - 1))
        return card if not card.orphan else self.plan.card(site.first + min(site.articles, site.count - 1))

    def _own(self, site: PocketSite, start: int, length: int) -> list[PageCard]:
        """Articles of a site in order, without those that only its sitemap names."""
        first = site.articles + start
        cards = [self.plan.card(site.first + i) for i in range(first, min(first + length, site.count))]
        return [card for card in cards if not card.orphan]

    def _near(self, card: PageCard, cards: list[PageCard]) -> list[WrittenLink]:
        return [WrittenLink(other.path, other.title) for other in cards if other.n != card.n]

    def _nav(self, card: PageCard) -> list[WrittenLink]:
        site = card.site
        nav = [WrittenLink("/" if card.n % 3 else "/index.html", "Home")]
        nav += [WrittenLink(f"/links-{i}.html", f"Links {i}") for i in range(1, min(site.hubs, 3, site.count - 1) + 1)]
        if site.count >= 6:
            nav += [WrittenLink("/about.html", "About"), WrittenLink("/privacy.html", "Privacy")]
        if site.odd in ENTRIES:
            nav.append(ENTRIES[site.odd])
        return nav

    def _only_here(self, site: PocketSite) -> list[WrittenLink]:
        """The further link lists, sites abroad, mirrors, a redirect loop: each stands on a home page."""
        more = [WrittenLink(f"/links-{i}.html", f"Links {i}") for i in range(4, site.hubs + 1)]
        if site.rank == 0:
            more.append(WrittenLink(f"http://{PARKED[site.first % 2]}/", "Our old address"))
            abroad = [other for other in self.plan.by_topic[site.topic] if other.language != "en"]
            more += [WrittenLink(f"http://{other.host}/", f"{other.name} ({other.language})") for other in abroad]
        more += [WrittenLink(f"http://{host}/", "Mirror") for host, other in self.plan.mirrors.items() if other is site]
        return [*more, LOOP] if site.first == 0 else more

    def _steps(self, card: PageCard) -> list[WrittenLink]:
        """Previous and next article, so that each can be reached."""
        site, steps = card.site, []
        for name, local in (("Previous", card.local - 1), ("Next", card.local + 1)):
            if site.articles <= local < site.count:
                other = self.plan.card(site.first + local)
                if not other.orphan:
                    steps.append(WrittenLink(other.path, f"{name}: {other.title}"))
        return steps

    def _extras(self, card: PageCard) -> list[WrittenLink]:
        """The print version and the file of an article."""
        extras = [WrittenLink(f"/print/{card.local}", "Print version")] if card.printed else []
        if card.file:
            extras.append(WrittenLink(f"/files/{card.local}.{card.file}", f"Download ({card.file.upper()})"))
        return extras

    def _away(self, card: PageCard, rng: Random, length: int, local: float) -> list[WrittenLink]:
        """Links to other sites; a share of `local` stays with the topic, the rest goes next door or anywhere."""
        away = []
        for _ in range(length):
            at = NAMES.index(card.site.topic)
            if rng.random() > local:
                at = (at + 1) % len(NAMES) if rng.random() < 0.6 else int(rng.random() * len(NAMES))
            other = self.choose(NAMES[at], rng)
            if other.site is not card.site:
                away.append(WrittenLink(_address(other, rng), other.title))
        return away

    def _comments(self, card: PageCard, rng: Random) -> list[WrittenLink]:
        """What readers left below an article; their links are marked nofollow."""
        if card.n % 9:
            return []
        spam = WrittenLink(f"http://{PARKED[1]}/{card.n}", rng.choice(sentences.ENGLISH["spam"]), nofollow=True)
        other = self.choose(card.site.topic, rng)
        return [WrittenLink(other.url, other.title, nofollow=True), spam]


def _address(card: PageCard, rng: Random) -> str:
    """A page's address as others write it: now and then an old one, with www, or with a tracking parameter."""
    chance, home = rng.random(), f"http://{card.site.host}"
    if card.moved and chance < 0.5:
        return f"{home}/{'go' if card.moved == 2 else 'old'}/{card.local}"
    if chance < 0.03:
        return f"http://www.{card.site.host}{card.path}"
    if chance < 0.06 and "?" not in card.path:
        return f"{card.url}?utm_source=newsletter"
    if chance < 0.075:
        return f"{home}/gone/{card.local}.html"
    return card.url


# --- Writes the pages: an article, a link list, a home page with news, all with navigation and a footer --------------


class PageWriter:
    """Writes any page of a plan as HTML text."""

    def __init__(self, plan: WebPlan) -> None:
        self.plan, self.weaver = plan, LinkMaker(plan)

    def page(self, card: PageCard) -> str:
        """The page of a card."""
        links = self.weaver.of(card)
        voice = self._voice(card)
        match card.kind:
            case "home":
                main = home(card, links, voice)
            case "hub":
                main = hub(card, links, voice)
            case "about":
                own = sentences.LANGUAGES.get(voice.language)
                text = own["about"] if own else voice.from_(PRIVACY, 7)
                main = f"<h1>{card.title}</h1>\n<p>{text}</p>\n{listing(links.listed)}"
            case _:
                main = article(card, self._text(card, voice, links.inline), links)
        return frame(card.site, card.title, main, links.nav, _meta(card))

    def printed(self, card: PageCard) -> str:
        """The print version: the same text, no navigation, hardly a link."""
        paragraphs = self._text(card, self._voice(card), self.weaver.of(card).inline)
        body = f"<h1>{card.title}</h1>\n" + "\n".join(paragraphs)
        back = f'<p>Printed from <a href="{card.path}">{card.site.name}</a></p>'
        head = f"<head>{_charset(card.site)}<title>{card.title} (print)</title></head>"
        return f"<!DOCTYPE html>\n<html>{head}\n<body>{body}\n{back}</body></html>\n"

    def plain(self, card: PageCard) -> str:
        """The text of an article without markup, for files."""
        voice = self._voice(card)
        return "\n\n".join([card.title, *(voice.paragraph(6) for _ in range(4))])

    def _voice(self, card: PageCard) -> SentenceMaker:
        rng = Random(self.plan.hash(card.n if card.source < 0 else card.source, b"text"))
        return SentenceMaker(card.site.topic, card.focus, rng, card.site.language)

    def _text(self, card: PageCard, voice: SentenceMaker, inline: Sequence[WrittenLink]) -> list[str]:
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


def article(card: PageCard, paragraphs: Sequence[str], links: Links) -> str:
    """An article with what surrounds it."""
    related = f"</article>\n<h3>Related pages</h3>\n{listing(links.listed)}"
    parts = [f"<article>\n<h1>{card.title}</h1>", *paragraphs, related]
    if links.comments:
        nicks = sentences.ENGLISH["nicks"]
        parts.append("<h3>Comments</h3>")
        parts += [
            f"<p><b>{nicks[(card.n + i) % len(nicks)]}</b>: {anchor(link)}</p>" for i, link in enumerate(links.comments)
        ]
    return "\n".join(parts)


def hub(card: PageCard, links: Links, voice: SentenceMaker) -> str:
    """A link list: a word on most of the links, the site's own pages at the end."""
    rows = [f"<li>{anchor(link)}{' - ' + voice.sentence() if voice.draw() < 0.5 else ''}</li>" for link in links.listed]
    welcome = f"<h1>{card.title}</h1>\n<p>{voice.paragraph(2)}</p>\n<ul>"
    return "\n".join([welcome, *rows, "</ul>\n<h2>On this site</h2>", listing(links.inline)])


def home(card: PageCard, links: Links, voice: SentenceMaker) -> str:
    """A home page: a welcome, news, where to go."""
    news = [f"<h3>{anchor(link)}</h3>\n<p>{voice.paragraph(2)}</p>" for link in links.inline[:6]]
    rest = links.inline[6:] + links.listed + links.comments
    welcome = (
        f"<h1>{card.title}</h1>\n<p>{voice.paragraph(4)}</p>\n<h2>{'News' if voice.language == 'en' else '***'}</h2>"
    )
    return "\n".join([welcome, *news, listing(rest)])


def anchor(link: WrittenLink) -> str:
    """A link in HTML."""
    rel = ' rel="nofollow ugc"' if link.nofollow else ""
    return f'<a href="{link.href}"{rel}>{link.text}</a>'


def listing(links: Sequence[WrittenLink]) -> str:
    """Links as a list."""
    return "<ul>\n" + "".join([f"<li>{anchor(link)}</li>\n" for link in links]) + "</ul>"


def frame(site: PocketSite, title: str, main: str, nav: Sequence[WrittenLink], meta: str = "") -> str:
    """A whole page: head, navigation, main part, footer."""
    menu = " | ".join(map(anchor, nav))
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


def _charset(site: PocketSite) -> str:
    if site.declared in ("header", "bom"):
        return ""
    return f'<meta charset="{site.charset if site.declared == "meta" else "iso-8859-1"}">'


def _meta(card: PageCard) -> str:
    """What the page says of itself: wishes to robots, and its canonical address where it has others."""
    robots = f'\n<meta name="robots" content="{card.robots}">' if card.robots and card.said == "meta" else ""
    return f'{robots}\n<link rel="canonical" href="{card.url}">' if card.n % 4 == 0 or card.moved else robots
