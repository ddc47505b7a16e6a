"""Who links to whom: mostly within a topic, more often to its leading sites and their first articles."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from analecta.testweb import words
from analecta.testweb.plan import Card, Plan, Site
from analecta.testweb.sentences import some
from analecta.testweb.words import TOPICS

NAMES = tuple(TOPICS)
PARKED = ("best-deals-portal.test", "great-domain-4-sale.test")


class Link(NamedTuple):
    """A link as it is written on a page."""

    href: str
    text: str
    nofollow: bool = False


class Links(NamedTuple):
    """The links of a page by their place on it."""

    nav: list[Link]
    inline: list[Link]
    listed: list[Link]
    comments: list[Link]


# How the entry of each trap is written in the navigation, and with it the odd link that leads nowhere.
ENTRIES = {
    "calendar": Link("/calendar/2024/05/", "Calendar"),
    "facets": Link("/shop/?page=1", "Shop"),
    "repeating": Link("/docs/section/", "Documents"),
    "relative": Link("/news/", "News"),
    "soft-404": Link("/old-programme.html", "Programme"),
}
LOOP = Link("/loop/a", "The forum (moved)")


class Weaver:
    """Chooses the links of each page of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def of(self, card: Card) -> Links:
        """The links of a page; the same page always has the same ones."""
        rng = Random(self.plan.hash(card.n, b"links"))
        match card.kind:
            case "home":
                inline = list(self._near(card, self._own(card.site, 0, 14)))
                return Links(self._nav(card), inline, self._away(card, rng, 4, 0.9), self._only_here(card.site))
            case "hub":
                chunk = max(1, -(-(card.site.count - card.site.articles) // card.site.hubs))
                own = self._own(card.site, (card.local - 1) * chunk, chunk)
                return Links(self._nav(card), list(self._near(card, own)), self._away(card, rng, 28, 0.94), [])
            case "about":
                return Links(self._nav(card), [], self._away(card, rng, 2, 0.3), [])
        own = [self._article(card.site, rng) for _ in range(4)]
        listed = self._steps(card) + self._extras(card) + self._away(card, rng, 5 + int(rng.random() * 7), 0.78)
        return Links(self._nav(card), list(self._near(card, own)), listed, self._comments(card, rng))

    def choose(self, topic: str, rng: Random) -> Card:
        """A page about a topic: the square of a random number favours what comes first."""
        sites = self.plan.by_topic[topic]
        site = sites[int(len(sites) * rng.random() ** 2)]
        return self.plan.card(site.first) if rng.random() < 0.12 else self._article(site, rng)

    def _article(self, site: Site, rng: Random) -> Card:
        size = site.count - site.articles
        at = site.articles + int(size * rng.random() ** 2)
        card = self.plan.card(site.first + min(at, site.count - 1))
        return card if not card.orphan else self.plan.card(site.first + min(site.articles, site.count - 1))

    def _own(self, site: Site, start: int, length: int) -> list[Card]:
        """Articles of a site in order, without those that only its sitemap names."""
        first = site.articles + start
        cards = [self.plan.card(site.first + i) for i in range(first, min(first + length, site.count))]
        return [card for card in cards if not card.orphan]

    def _near(self, card: Card, cards: list[Card]) -> Iterator[Link]:
        return (Link(other.path, other.title) for other in cards if other.n != card.n)

    def _nav(self, card: Card) -> list[Link]:
        site = card.site
        nav = [Link("/" if card.n % 3 else "/index.html", "Home")]
        nav += [Link(f"/links-{i}.html", f"Links {i}") for i in range(1, min(site.hubs, 3, site.count - 1) + 1)]
        if site.count >= 6:
            nav += [Link("/about.html", "About"), Link("/privacy.html", "Privacy")]
        if site.odd in ENTRIES:
            nav.append(ENTRIES[site.odd])
        return nav

    def _only_here(self, site: Site) -> list[Link]:
        """The further link lists, sites abroad, mirrors, a redirect loop: each stands on a home page."""
        more = [Link(f"/links-{i}.html", f"Links {i}") for i in range(4, site.hubs + 1)]
        if site.rank == 0:
            more.append(Link(f"http://{PARKED[site.first % 2]}/", "Our old address"))
            abroad = [other for other in self.plan.by_topic[site.topic] if other.language != "en"]
            more += [Link(f"http://{other.host}/", f"{other.name} ({other.language})") for other in abroad]
        more += [Link(f"http://{host}/", "Mirror") for host, other in self.plan.mirrors.items() if other is site]
        return [*more, LOOP] if site.first == 0 else more

    def _steps(self, card: Card) -> list[Link]:
        """Previous and next article, so that each can be reached."""
        site, steps = card.site, []
        for name, local in (("Previous", card.local - 1), ("Next", card.local + 1)):
            if site.articles <= local < site.count:
                other = self.plan.card(site.first + local)
                if not other.orphan:
                    steps.append(Link(other.path, f"{name}: {other.title}"))
        return steps

    def _extras(self, card: Card) -> list[Link]:
        """The print version and the file of an article."""
        extras = [Link(f"/print/{card.local}", "Print version")] if card.printed else []
        if card.file:
            extras.append(Link(f"/files/{card.local}.{card.file}", f"Download ({card.file.upper()})"))
        return extras

    def _away(self, card: Card, rng: Random, length: int, local: float) -> list[Link]:
        """Links to other sites; a share of `local` stays with the topic, the rest goes next door or anywhere."""
        away = []
        for _ in range(length):
            at = NAMES.index(card.site.topic)
            if rng.random() > local:
                at = (at + 1) % len(NAMES) if rng.random() < 0.6 else int(rng.random() * len(NAMES))
            other = self.choose(NAMES[at], rng)
            if other.site is not card.site:
                away.append(Link(_address(other, rng), other.title))
        return away

    def _comments(self, card: Card, rng: Random) -> list[Link]:
        """What readers left below an article; their links are marked nofollow."""
        if card.n % 9:
            return []
        spam = Link(f"http://{PARKED[1]}/{card.n}", rng.choice(some(words.SPAM)), nofollow=True)
        other = self.choose(card.site.topic, rng)
        return [Link(other.url, other.title, nofollow=True), spam]


def _address(card: Card, rng: Random) -> str:
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
