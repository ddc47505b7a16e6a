"""The health of topics as one HTML file: the picture, what to do, and all figures as tables. It needs no network."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from analecta.judge.health import CLOSE, Health, Stray
from analecta.publish.network import draw_topics, safe
from analecta.publish.single_page import head
from analecta.views.health import advice, percent, verdict

_STYLE = """
:root { --ink: #222; --quiet: #555; --paper: #fff; --line: #ddd; --link: #0b5cad; --bad: #a84300; --heat: 0, 114, 178 }
@media (prefers-color-scheme: dark) {
:root { --ink: #e4e4e4; --quiet: #aaa; --paper: #16181c; --line: #383c44; --link: #7db8f0; --bad: #ff8c42;
--heat: 86, 169, 232 } }
body { max-width: 1040px; background: var(--paper); color: var(--ink) }
h2 { font-size: 17px; margin: 28px 0 6px } a { color: var(--link) }
svg { min-width: 700px } .quiet { color: var(--quiet) }
li, td, th[scope=row] { overflow-wrap: anywhere } td, th[scope=row] { min-width: 8em } td.n { min-width: 3em }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top }
td.n, th.n { text-align: right } .bad { color: var(--bad); font-weight: 600 }
.matrix { font-size: 12px } .matrix th, .matrix td { padding: 3px 5px; border: 0; min-width: 0 }
.matrix td { text-align: center }
.matrix th[scope=row] { white-space: nowrap; font-weight: 400 } .matrix .close { outline: 2px solid var(--bad) }
"""


def health_page(found: Health, title: str) -> str:
    """The whole page; `title` is the name of the library."""
    parts = [head(f"Topics of {title}", _STYLE), f"<body>\n<h1>Topics of {safe(title)}</h1>"]
    if not found.topics:
        return "\n".join([*parts, "<p>There are no topics yet.</p>\n</body>\n</html>\n"])
    parts += [
        f'<div class="wide">{draw_topics(found)}</div>',
        "<h2>What to do</h2>",
        *_advice(found),
        "<h2>Topics</h2>",
        *_topics(found),
    ]
    if len(found.topics) > 1:
        parts += ["<h2>How alike they are</h2>", *_matrix(found)]
    return "\n".join([*parts, "</body>\n</html>\n"])


def _advice(found: Health) -> Iterator[str]:
    """The same sentences as in a terminal, with links."""
    links = {stray.url: stray for stray in found.strays}
    inside = False
    for line in advice(found):
        if line.startswith("  ") != inside:
            inside = not inside
            yield "<ul>" if inside else "</ul>"
        words = line.strip()
        stray = links.get(words.partition(" ")[0])
        said = _linked(stray, words) if stray else safe(words)
        yield f"<li>{said}</li>" if inside else f"<p>{said}</p>"
    if inside:
        yield "</ul>"


def _linked(stray: Stray, words: str) -> str:
    """The words about an example with its URL as a link, if it is of the web (F37)."""
    rest = safe(words[len(stray.url) :])
    if not _is_web(stray.url):
        return safe(stray.url) + rest
    return f'<a href="{safe(stray.url)}" rel="noreferrer nofollow">{safe(stray.url)}</a>{rest}'


def _is_web(url: str) -> bool:
    try:
        return urlsplit(url).scheme in ("http", "https")
    except ValueError:
        return False


def _topics(found: Health) -> Iterator[str]:
    yield '<div class="wide"><table><thead><tr><th scope="col">Topic<th scope="col" class="n">Examples'
    yield '<th scope="col" class="n">Back<th scope="col">Nearest topics<th scope="col">Words<th scope="col"></thead>'
    for topic in found.topics:
        near = "<br>".join(f"{other.similarity:.2f} {safe(other.topic)}" for other in topic.nearest)
        words, grade = verdict(found, topic, 80)
        yield (
            f'<tr><th scope="row">{safe(topic.name)}<td class="n">{topic.examples}<td class="n">{percent(topic.back)}'
            f'<td>{near or "–"}<td>{safe(", ".join(topic.words))}<td class="{grade}">{safe(words)}'
        )
    yield '</table></div><p class="quiet">Back: the share of the examples that are nearest to their own topic.</p>'


def _matrix(found: Health) -> Iterator[str]:
    yield '<p class="quiet">1.00 would be one topic cut in two; from '
    yield f"{CLOSE:.2f} on topics are too close.</p>"
    numbers = "".join(f'<th scope="col">{n}' for n in range(1, len(found.topics) + 1))
    yield f'<div class="wide"><table class="matrix"><thead><tr><th>{numbers}</thead>'
    close = {(pair.one, pair.other) for pair in found.close}
    names = [topic.name for topic in found.topics]
    for n, (name, row) in enumerate(zip(names, found.similarities, strict=True), 1):
        cells = "".join(
            _cell(like, n == m, (name, other) in close or (other, name) in close)
            for m, (other, like) in enumerate(zip(names, row, strict=True), 1)
        )
        yield f'<tr><th scope="row">{n} {safe(name)}{cells}'
    yield "</table></div>"


def _cell(like: float, itself: bool, close: bool) -> str:
    if itself:
        return "<td>·"
    mark = ' class="close"' if close else ""
    return f'<td{mark} style="background: rgba(var(--heat), {0.75 * like**2:.2f})">{like:.2f}'
