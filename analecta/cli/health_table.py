"""How well the examples show their topics: a table that fits 80 columns, and what to do about it.

`crawl` and `health` both show it; what only `health` needs to draw pages is not loaded by a crawl.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from analecta.cli.render import FittingText, shown, table
from analecta.crawl.run import Crawl
from analecta.errors import UsageError
from analecta.judge.health import Health, TopicHealth
from analecta.judge.health import health as health_of
from analecta.settings.load import load
from analecta.settings.schema import Settings
from analecta.text.display import plain
from analecta.views.health import BAD, GOOD, NAME_WITHIN, VAGUE, advice, percent, short, verdict

_STYLES = {GOOD: "green", VAGUE: "yellow", BAD: "red"}
_NAME = 20  # letters of a topic's name in a column of its own
_FOLDED = 20  # letters of a verdict in a line, where there is no more room


def load_settings(path: Path, override: Mapping[str, Mapping[str, Any]]) -> Settings:
    """The settings of a library, which must name a topic; what is None in `override` was not said."""
    said = {
        table: {key: value for key, value in values.items() if value is not None} for table, values in override.items()
    }
    settings = load(path, said)
    if not settings.topics:
        raise UsageError(f"{path} names no topic: it needs [[topics]] with seeds")
    return settings


def health_of_crawl(crawl: Crawl) -> Health:
    """Of the topics that the settings name: those that they do not name any more have no examples."""
    named = [topic.name for topic in crawl.settings.topics]
    numbers = {crawl.topics.index(name): n for n, name in enumerate(named)}
    examples = [
        msgspec.structs.replace(one, topic=numbers.get(one.topic, one.topic))
        for one in crawl.training.trainer.given()
        if one.topic < 0 or one.topic in numbers
    ]
    return health_of(examples, named)


def tell(found: Health) -> RenderableType:
    """The topics as a table, then sentences on what to do."""
    if not found.topics:
        return Text("There are no topics yet.")
    note = [Text("(back: the share of a topic's example pages that are nearest to it)", "dim")]
    beside = note if len(found.topics) > 1 else []
    return Group(_table(found), *beside, *(part for line in advice(found) for part in _set(line)))


def _set(line: str) -> list[RenderableType]:
    """A line of advice: lists are set in, also where they go on, and what begins anew stands apart."""
    if line.startswith("  "):
        return [Padding.indent(Text(plain(line.strip()), overflow="fold"), 2)]
    return ["", Text(plain(line), "bold", overflow="fold")]


def _table(found: Health) -> RenderableType:
    """As much side by side as there is room for: neither a figure nor a verdict is cut."""
    return FittingText(_wide(found), FittingText(_wide(found, _FOLDED), _narrow(found)))


def _wide(found: Health, most: int | None = None) -> Table:
    """A line a topic; verdicts go on below themselves after `most` letters."""
    several = len(found.topics) > 1
    near = (Column("back", justify="right", no_wrap=True), Column("nearest topic", no_wrap=True)) if several else ()
    first = Column("topic", no_wrap=True), Column("pages", justify="right", no_wrap=True)
    rows = table(*first, *near, Column("", overflow="fold", max_width=most))
    for topic in found.topics:
        beside = (Text(percent(topic.back)), _near(topic)) if several else ()
        rows.add_row(Text(short(topic.name, _NAME)), str(topic.examples), *beside, _verdict(found, topic))
    return rows


def _narrow(found: Health) -> Table:
    """Some lines a topic: the name alone may be cut."""
    several = len(found.topics) > 1
    figures = (Column(name, justify="right", no_wrap=True) for name in (("pages", "back") if several else ("pages",)))
    rows = table(*figures, Column("topic, the nearest, and how it is" if several else "topic, and how it is"))
    for topic in found.topics:
        told = Group(shown(topic.name), *([_near(topic)] if several else []), _verdict(found, topic))
        rows.add_row(str(topic.examples), *([percent(topic.back)] if several else []), told)
    return rows


def _verdict(found: Health, topic: TopicHealth) -> Text:
    words, grade = verdict(found, topic)
    return Text(words, _STYLES[grade], overflow="fold")


def _near(topic: TopicHealth) -> Text:
    if not topic.nearest:
        return Text("–")
    near = topic.nearest[0]
    return Text(f"{near.similarity:.2f} {short(near.topic, NAME_WITHIN)}")
