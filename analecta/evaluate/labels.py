"""Which pages are on which topic: labels from a file, topics as prefixes of them, seeds drawn from them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

from analecta.errors import BadUse
from analecta.evaluate.graph import Graph

Labels = dict[int, tuple[str, ...]]  # of each page, by its number


def read_labels(path: Path, graph: Graph) -> Labels:
    """The labels of a file: `URL<TAB>label|label...`, or `host<TAB>label` for every page of a host."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadUse(f"cannot read the labels {path}: {error}") from error
    pages: dict[str, tuple[str, ...]] = {}
    hosts: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        where, tab, names = line.partition("\t")
        labels = tuple(name.strip() for name in names.split("|") if name.strip())
        if not tab or not labels:
            raise BadUse(f"{path}, line {number}: wanted are URL<TAB>label|label or host<TAB>label, not {line[:80]!r}")
        (pages if "://" in where else hosts)[where.strip()] = labels
    found = of_urls(pages, graph)
    if hosts:
        named = {n: hosts[host] for n, host in enumerate(graph.hosts) if host in hosts}
        found = named | found
    if not found:
        raise BadUse(f"no page of the web is named in {path}: do the two belong together?")
    return found


def of_urls(pages: Mapping[str, tuple[str, ...]], graph: Graph) -> Labels:
    """Labels by URL as labels by page."""
    found: Labels = {}
    for url, labels in pages.items():
        n = graph.find(url)
        if n is not None:
            found[n] = tuple(dict.fromkeys((*found.get(n, ()), *labels)))
    return found


def covers(topic: str, label: str) -> bool:
    """Whether a label is a topic or lies below it: `Science.Biology` covers `Science.Biology.Birds`."""
    return label == topic or label.startswith(topic + ".")


def pages_of(topic: str, labels: Labels) -> list[int]:
    """The pages on a topic."""
    return [n for n, names in labels.items() if any(covers(topic, name) for name in names)]


def choose_topics(wanted: Sequence[str], labels: Labels, least: int) -> list[str]:
    """The topics asked for; by default those of the second level (or all, where there are no levels)."""
    sizes = _sizes(labels)
    if wanted:
        for topic in wanted:
            if not sizes.get(topic):
                raise BadUse(f"no page has the label {topic!r}{_hint(topic, sizes)}")
            if sizes[topic] < least:
                raise BadUse(f"{topic} has {sizes[topic]} pages; --min-pages {least} are asked for")
        return list(dict.fromkeys(wanted))
    level = 1 if any("." in topic for topic in sizes) else 0
    found = sorted(topic for topic, n in sizes.items() if n >= least and topic.count(".") == level)
    if not found:
        raise BadUse(f"no topic has {least} pages; see --min-pages")
    return found


def _sizes(labels: Labels) -> Counter[str]:
    """How many pages each label has, with those below it."""
    sizes: Counter[str] = Counter()
    for names in labels.values():
        above = set[str]()
        for name in names:
            parts = name.split(".")
            above.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
        sizes.update(above)
    return sizes


def _hint(topic: str, sizes: Iterable[str]) -> str:
    near = sorted(name for name in sizes if topic.lower() in name.lower())[:5]
    return f"; there are {', '.join(near)}" if near else ""


def draw(topic: str, number: int, pages: Iterable[int], graph: Graph, seeds: int, hosts: int = 0) -> list[int]:
    """Random pages to start from, the same for the same topic and number; from `hosts` hosts only, if given."""
    rng = Random(f"{topic}/{number}")
    chosen = sorted(pages, key=lambda n: graph.urls[n])
    if hosts:
        names = sorted({graph.hosts[n] for n in chosen})
        some = set(rng.sample(names, min(hosts, len(names))))
        chosen = [n for n in chosen if graph.hosts[n] in some]
    return rng.sample(chosen, min(seeds, len(chosen)))
