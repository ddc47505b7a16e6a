"""What is said where no page has all that was asked for: what is lacking, and what could help."""

from rich.text import Text

from analecta.search import Asked, Found
from analecta.search.query import FIELDS, FILTERS, unknown_field
from analecta.text.display import many, plain


def head(found: Found) -> Text:
    """How many pages there are, and whether they have all of the words."""
    if found.some:
        some = f"{many(found.total, 'page')} with some of them"
        return Text(f"No page has all of the words{plain(_lacking(found))}; {some}:", style="yellow")
    return Text(f"{many(found.total, 'page')} found", style="bold")


def nothing(found: Found, asked: Asked) -> Text:
    """That there is none, and what could help."""
    told = Text().append(f"Nothing found for {plain(found.understood)}.", style="yellow")
    if names := _no_fields(found):
        told.append(f" No field is called {listed(names)}: there are {listed([f'{name}:' for name in FIELDS])}.")
    helps = [_first_help(found)]
    if found.left_out:
        helps.append(f"--all: {fit_too(found)}")
    if asked.inside and not found.communities:
        helps.append("no --inside: no community has such pages, and the words in its name, sites, links or titles")
    if asked.community or "community:" in found.understood:
        helps.append("all communities instead of one")
    if '"' in found.understood:
        helps.append("the phrase without its quotation marks")
    if asked.topic or "topic:" in found.understood:
        helps.append("no topic" if asked.vague else "--vague, which also takes pages close to the topic")
    if any(f"{field}:" in found.understood for field in ("after", "before")):
        helps.append("no date: many pages do not say theirs")
    return told.append(f" What could help: {'; '.join(helps)}.")


def _first_help(found: Found) -> str:
    """What to try first: other words, or the question without what no page has."""
    if not found.missing:
        return "fewer words, or others"
    if found.missing != [found.understood]:
        return f"the question without {plain(listed(found.missing))}, which no page has"
    if found.understood.partition(":")[0] in FILTERS:
        return "the question *, which shows the hosts, types and years that there are"
    return "another word"


def _lacking(found: Found) -> str:
    """Which of them no page has, in brackets."""
    said = [f"none has {listed(found.missing)}"] if found.missing else []
    said += [f"no field is called {listed(names)}"] if (names := _no_fields(found)) else []
    return f" ({'; '.join(said)})" if said else ""


def _no_fields(found: Found) -> list[str]:
    """What looks like a field and is none."""
    return [name for name in map(unknown_field, found.missing) if name]


def fit_too(found: Found) -> str:
    """How many pages on no topic were left out."""
    return f"{many(found.left_out, 'page')} on no topic fit{'s' if found.left_out == 1 else ''} too"


def listed(words: list[str]) -> str:
    """One, two and three."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
