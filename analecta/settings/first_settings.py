"""The first `analecta.toml` of a library: short, readable, with the settings that people change most as comments."""

from collections.abc import Mapping, Sequence

import tomlkit

from analecta.settings.schema import Others, Topic
from analecta.text.display import escape_toml

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
threshold = 0.5             # how sure the judge must be that a page is on topic, 0 to 1

[fetch]
delay = 1.0                 # seconds between two requests to one host

[stop]
pages = 10000               # of one run
minutes = 60
"""


def first_settings(
    topics: Sequence[Topic],
    recipe: str,
    contact: str = "",
    engines: Mapping[str, str] = {},
    others: Others = Others(),
) -> str:
    """The text of a new library's settings; `engines` are search engines by name, with their URLs if they have any."""
    document = tomlkit.document()
    for line in _HEAD.splitlines():
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    document.add("recipe", tomlkit.item(recipe).comment("how links are chosen; `analecta recipes` lists them all"))
    document.add(tomlkit.comment("Your e-mail address or a page about you. Site owners see it with every request;"))
    document.add(tomlkit.comment("without it the open internet is not crawled."))
    document.add("contact", tomlkit.item(contact))
    not_meant = "" if others == Others() else "\n" + others_text(others)
    return tomlkit.dumps(document) + "\n" + topics_text(topics) + not_meant + _search(engines) + _commented(EXAMPLES)


def topics_text(topics: Sequence[Topic]) -> str:
    """Topics as tables. Written as text: tomlkit takes 2.5 s to put 5,000 seeds into an array."""
    return escape_toml("\n".join(map(_table, topics)))


def others_text(others: Others) -> str:
    """What is not meant, as a table."""
    return escape_toml("[others]\n" + _array("seeds", others.seeds) + _array("examples", others.examples))


def _table(topic: Topic) -> str:
    seeds = _array("seeds", topic.seeds) or ("" if topic.starts or topic.examples else "seeds = [\n]\n")
    more = _array("starts", topic.starts) + _array("examples", topic.examples)
    return f"[[topics]]\nname = {tomlkit.string(topic.name).as_string()}\n{seeds}{more}"


def _array(key: str, words: Sequence[str]) -> str:
    lines = "".join(f"    {tomlkit.string(word).as_string()},\n" for word in words)
    return f"{key} = [\n{lines}]\n" if words else ""


def _search(engines: Mapping[str, str]) -> str:
    if not engines:
        return ""
    urls = {name: url for name, url in engines.items() if url}
    return "\n" + tomlkit.dumps({"search": {"engines": list(engines)} | ({"url": urls} if urls else {})})


def _commented(text: str) -> str:
    lines = (f"# {line}" if line else "" for line in text.splitlines())
    return "\n# What people change most (take the # away):\n" + "\n".join(lines) + "\n"
