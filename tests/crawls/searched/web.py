"""Small webs that the tests make up and archive, to be replayed with search: fields of mathematics, and sundials."""

import gzip
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

MATHEMATICS: dict[str, list[str]] = {
    name: words.split()
    for name, words in tomllib.loads((Path(__file__).parent / "mathematics.toml").read_text(encoding="utf-8")).items()
}
# What no topic is about. Each page of these has links to pages on topics, and some of those have links to these.
BESIDES = {
    "Kitchen": "onion butter oven flour simmer pan garlic dough roast spoon pepper whisk",
    "Football": "goal striker league referee penalty stadium coach defender keeper derby pitch transfer",
    "Railway": "locomotive platform carriage signal timetable sleeper junction conductor freight gauge ticket tunnel",
}
JOINTS = "the of and with for from about between without under after each some many".split()


class Site:
    """Pages as they are made: URLs with their HTML, and the field that each is on ("" = on none)."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.pages: dict[str, str] = {}
        self.about: dict[str, str] = {}

    def add(self, url: str, title: str, field: str, words: Sequence[str], links: Mapping[str, str]) -> None:
        """A page with some 120 words of its field and links, by URL with their anchors."""
        text = " ".join(self.rng.choice(words if i % 2 else JOINTS) for i in range(240))
        anchors = "".join(f'<p>On <a href="{to}">{anchor}</a>.</p>' for to, anchor in links.items())
        self.pages[url] = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{text}{anchors}</body></html>"
        self.about[url] = field

    def field(self, name: str, words: Sequence[str], host: str, many: int, hosts: int) -> list[str]:
        """The URLs of a field's pages, which link to their neighbours; the first of a host links to more of them."""
        urls = [f"http://{host}{i % hosts}.test/{i}.html" for i in range(many)]
        for i, url in enumerate(urls):
            near = [urls[(i + step) % many] for step in ((1, 2, 5) if i >= hosts else range(1, 9))]
            title = f"{name}: {words[i % len(words)]} and {words[(i * 3 + 1) % len(words)]}"
            self.add(url, title, name, words, {to: f"{name} {self.rng.choice(words)}" for to in near})
        return urls

    def link(self, url: str, to: str, anchor: str) -> None:
        """One more link on a page."""
        self.pages[url] = self.pages[url].replace("</body>", f'<p><a href="{to}">{anchor}</a></p></body>')

    def besides(self, many: int, on_topic: Sequence[str]) -> None:
        """Pages on nothing that is wanted, tied to the others by links both ways."""
        for name, text in BESIDES.items():
            for i, url in enumerate(self.field("", text.split(), name.lower(), many, 3)):
                self.link(url, self.rng.choice(on_topic), "elsewhere")
                if i % 3 == 0:
                    self.link(on_topic[(i * 7 + len(name)) % len(on_topic)], url, name)


def mathematics(each: int = 12) -> Site:
    """A web with pages on each field of mathematics, and others."""
    site = Site(26)
    urls = [
        url
        for n, (name, words) in enumerate(MATHEMATICS.items())
        for url in site.field(name, words, f"field{n}-", each, 3)
    ]
    site.besides(30, urls)
    return site


# --- a paper ---------------------------------------------------------------------------------------------------------

PAPER = "Shadows That Count the Hours"
ABSTRACT = (
    "We tell how gnomon, dial plate and hour lines of a sundial are laid out for a latitude, and how far it errs."
)
REFERENCES = (
    "The gnomon and its shadow through the year",
    "Hour lines on a vertical dial plate",
    "Noon marks of village churches",
    "A portable sundial for travelling merchants",
    "Equation of time in plain tables",
    "Why the analemma has two loops",
    "Polar dials and their makers",
    "Correcting a sundial for longitude",
)
SUNDIALS = (
    "sundial gnomon shadow noon latitude dial hour meridian equinox solstice analemma declination horizon plate style "
    "sunlight equatorial engraved inclination azimuth"
).split()


def sundials() -> Site:
    """Pages on a paper's references, by their titles; lists that link to those; more on the subject; others."""
    site = Site(8)
    cited = [f"http://shelf{i % 4}.test/{i}.html" for i in range(len(REFERENCES))]
    more = site.field("Sundials", SUNDIALS, "gnomonics", 40, 20)
    for i, (url, title) in enumerate(zip(cited, REFERENCES, strict=True)):
        near = {to: f"sundial {site.rng.choice(SUNDIALS)}" for to in (more[i], more[i + 8])}
        site.add(url, title, "Sundials", SUNDIALS, near)
    for i, links in enumerate((cited, cited[:4], cited[3:6])):
        site.add(f"http://lists{i}.test/", f"Reading list {i}", "", ["book", "read"], dict.fromkeys(links, "a paper"))
    site.besides(30, [*cited, *more])
    return site


# --- archives --------------------------------------------------------------------------------------------------------


def archive(path: Path, pages: Mapping[str, str]) -> Path:
    """The pages as a WARC file."""
    path.write_bytes(b"".join(gzip.compress(_record(n, *page), 1) for n, page in enumerate(pages.items())))
    return path


def _record(n: int, url: str, html: str) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html.encode()
    head = {
        "WARC-Type": "response",
        "WARC-Target-URI": url,
        "WARC-Date": "2024-05-01T00:00:00Z",
        "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-8000-{n:012}>",
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"
