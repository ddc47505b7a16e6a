"""A web of any size at no cost, for analecta.testweb.process: sites of a thousand articles, made when asked for."""

from collections.abc import Mapping

from soak_pages import OTHERS, TOPICS, Articles, number

from analecta.testweb.server import ServedResponse

PER_HOST = 1000
HTML = b"Content-Type: text/html; charset=utf-8\r\n"


class GeneratedWeb:
    """At least so many pages; every page links to eight new ones of its site and to the home page of another site."""

    def __init__(self, pages: int, seed: int = 1) -> None:
        self.count = pages // PER_HOST + 2
        self.topics = (*TOPICS, *OTHERS)
        self.sites = [
            Articles(seed, self.host(n), self.topics[n % len(self.topics)], PER_HOST) for n in range(self.count)
        ]

    @staticmethod
    def host(n: int) -> str:
        """The name of a site."""
        return f"www.site-{n}.test"

    def answer(self, host: str, target: str, _headers: Mapping[str, str]) -> ServedResponse:
        """What a server needs."""
        found = host.removeprefix("www.site-").removesuffix(".test")
        if target == "/robots.txt" or not found.isdigit() or int(found) >= self.count:
            return ServedResponse(404)
        site = self.sites[int(found)]
        n = site.find(target)
        if n is None:
            return ServedResponse(404)
        other = self.host(number(host, n) % self.count)
        return ServedResponse(200, HTML, site.body(n, [(f"http://{other}/", f"Friends at {other}")]))

    def seeds(self, topic: str, count: int = 5) -> list[str]:
        """Pages about a topic."""
        sites = [site for site in self.sites if site.topic == topic][:count]
        return [f"http://{site.host}{site.path(n)}" for site in sites for n in (0, 1)]
