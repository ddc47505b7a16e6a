"""The first `analecta.toml` of a library: short, readable, with the settings that people change most as comments."""

from collections.abc import Sequence

import tomlkit

from analecta.settings import Topic

_HEAD = """What this library is about and how it is grown. Yours to edit: `analecta crawl` reads it at each start.
Every setting is described in docs/settings.md."""

# Shown as comments; each line is valid as it stands (a test takes the # away and loads the file).
EXAMPLES = """\
[scope]
hosts = ["example.org"]     # only these hosts and their subdomains
exclude = ['\\.pdf$']        # no URL that one of these regular expressions finds
depth = 5                   # so many links away from a seed at most
pages_per_host = 1000

[judge]
threshold = 0.3             # how near to the examples a page must be, 0 to 1

[fetch]
delay = 1.0                 # seconds between two requests to one host

[stop]
pages = 10000               # of one run
minutes = 60
"""


def first_settings(topics: Sequence[Topic], recipe: str, contact: str = "") -> str:
    """The text of a new library's settings."""
    document = tomlkit.document()
    for line in _HEAD.splitlines():
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    document.add("recipe", tomlkit.item(recipe).comment("how links are chosen; `analecta recipes` lists them all"))
    document.add(tomlkit.comment("Your e-mail address or a page about you. Site owners see it with every request;"))
    document.add(tomlkit.comment("without it the open internet is not crawled."))
    document.add("contact", tomlkit.item(contact))
    document.add("topics", _topics(topics))
    return tomlkit.dumps(document) + _commented(EXAMPLES)


def _topics(topics: Sequence[Topic]) -> tomlkit.items.AoT:
    tables = tomlkit.aot()
    for topic in topics:
        table = tomlkit.table()
        table.add("name", topic.name)
        table.add("seeds", tomlkit.array())
        seeds = table["seeds"]
        assert isinstance(seeds, tomlkit.items.Array)
        seeds.extend(topic.seeds)
        seeds.multiline(True)
        tables.append(table)
    return tables


def _commented(text: str) -> str:
    lines = (f"# {line}" if line else "" for line in text.splitlines())
    return "\n# What people change most (take the # away):\n" + "\n".join(lines) + "\n"
