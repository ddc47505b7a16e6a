"""Words of topics and languages, and sentences made of them."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("analecta.testweb").joinpath(name).read_text("utf-8"))


TOPICS = _read("topics.toml")
LANGUAGES = _read("languages.toml")
ENGLISH = _read("english.toml")  # what all topics share

# Slots: {n} {ns} {an} a noun, its plural, with article · {s} stuff · {v} {ved} {ving} a verb · {adj} · {aan} article,
# adjective and noun · {who} {where} {ph} people, places, phrases · {season} {num} {year}. A capital starts a sentence.

Forms = Mapping[str, Sequence[str]]
Draw = Callable[[], float]


class SentenceTemplate(NamedTuple):
    """A sentence with gaps: `pattern % words for slots`."""

    pattern: str
    slots: tuple[str, ...]


def templates(lines: Iterable[str]) -> tuple[SentenceTemplate, ...]:
    """Templates as they are written in the files."""
    gaps = re.compile(r"\{(\w+)\}")
    return tuple(SentenceTemplate(gaps.sub("%s", one.replace("%", "%%")), tuple(gaps.findall(one))) for one in lines)


def fill(which: SentenceTemplate, forms: Forms, draw: Draw) -> str:
    """A sentence: each gap is filled with a word drawn at random."""
    pattern, slots = which
    return pattern % tuple([(some := forms[slot])[int(draw() * len(some))] for slot in slots])


def title(which: SentenceTemplate, forms: Forms, number: int, focus: Sequence[int]) -> str:
    """Like fill, but the words follow from a number: a title must be known without making the page."""
    chosen, nouns = [], iter(focus)
    for slot in which.slots:
        if slot in _NOUN_SLOTS:
            at = next(nouns)
        else:
            number, at = divmod(number, len(forms[slot]))
        chosen.append(forms[slot][at])
    return which.pattern % tuple(chosen)


def some(text: str) -> list[str]:
    """The entries of a comma-separated list."""
    return " ".join(text.split()).split(", ")


def article(noun: str) -> str:
    """A noun with its indefinite article."""
    return ("an " if noun[0] in "aeiou" and not noun.startswith(("uni", "eu", "one")) else "a ") + noun


def plural(noun: str) -> str:
    """The plural of an English noun, as far as our words need it."""
    irregular = {"mycelium mat": "mycelium mats", "spectrum": "spectra", "hypha": "hyphae", "matrix": "matrices"}
    if noun in irregular:
        return irregular[noun]
    if noun.endswith(("s", "x", "ch", "sh", "z", "volcano")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeou":
        return noun[:-1] + "ies"
    if noun.endswith("loaf"):
        return noun[:-1] + "ves"
    if noun.endswith(" knife"):
        return noun[:-2] + "ves"
    return noun + "s"


def bend(verb: str) -> tuple[str, str, str]:
    """A verb's base, past participle and gerund."""
    if "/" in verb:
        base, past, gerund = verb.split("/")
        return base, {"threw": "thrown", "sang": "sung", "rode": "ridden"}.get(past, past), gerund
    if verb.endswith("e"):
        return verb, verb + "d", verb[:-1] + "ing"
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb, verb[:-1] + "ied", verb + "ing"
    if re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]|.*[ -][^aeiou]+[aeiou]p|uncap|underpin|log|span", verb):
        return verb, verb + verb[-1] + "ed", verb + verb[-1] + "ing"
    return verb, verb + "ed", verb + "ing"


def capital(word: str) -> str:
    """The word with a capital first letter, the rest as it is."""
    return word[:1].upper() + word[1:]


def _with_capitals(forms: dict[str, list[str]], *slots: str) -> dict[str, list[str]]:
    return forms | {capital(slot): [capital(word) for word in forms[slot]] for slot in slots}


YEARS = [str(year) for year in range(1968, 2026)]


@cache
def lexicon(topic: str, language: str = "en") -> dict[str, list[str]]:
    """Every word of a topic in every form; lists of one kind run in parallel."""
    if language != "en":
        return _with_capitals({"ns": some(LANGUAGES[language]["nouns"][topic]), "year": YEARS}, "ns")
    own = TOPICS[topic]
    nouns, adjs = some(own["nouns"]), some(own["adjs"])
    verbs = [bend(verb) for verb in some(own["verbs"])]
    forms = {
        "n": nouns,
        "ns": [plural(noun) for noun in nouns],
        "an": [article(noun) for noun in nouns],
        "aan": [article(f"{adjs[i % len(adjs)]} {noun}") for i, noun in enumerate(nouns)],
        "s": some(own["stuff"]),
        "adj": adjs,
        "v": [verb[0] for verb in verbs],
        "ved": [verb[1] for verb in verbs],
        "ving": [verb[2] for verb in verbs],
        "who": some(own["people"]),
        "where": some(own["places"]),
        "ph": some(own["phrases"]),
        "season": ENGLISH["seasons"],
        "num": ENGLISH["numbers"],
        "year": YEARS,
    }
    return _with_capitals(forms, "ns", "an", "s", "adj", "ving", "who", "ph")


_STRIDES = (7, 11, 13, 17, 19, 23, 29, 31)
_NOUN_SLOTS = ("n", "ns", "an", "aan", "Ns", "An")
_SHARED = templates(ENGLISH["sentences"])
_HEADINGS = templates(ENGLISH["headings"])
OFF_TOPIC = templates(ENGLISH["off_topic"])
PRIVACY = templates(ENGLISH["privacy"])


@cache
def sentences(topic: str, language: str = "en") -> tuple[SentenceTemplate, ...]:
    """The templates of a topic: those that all share, and its own three times, since they are what sets it apart."""
    if language != "en":
        return templates(LANGUAGES[language]["sentences"])
    return _SHARED + 3 * templates(TOPICS[topic]["own"])


@cache
def titles(language: str = "en") -> tuple[SentenceTemplate, ...]:
    """The templates of titles in a language."""
    return templates(ENGLISH["titles"] if language == "en" else LANGUAGES[language]["titles"])


class SentenceMaker:
    """Writes the sentences of one page. `focus` are positions of the nouns that the page is about."""

    def __init__(self, topic: str, focus: Sequence[int], rng: Random, language: str = "en") -> None:
        self.draw, self.rng = rng.random, rng
        self.forms = lexicon(topic, language)
        self.templates = sentences(topic, language)
        self.language = language
        if language == "en":
            draw, size = rng.random, len(self.forms["n"])
            # The focus comes up in about half of the gaps: a page stays with its subject.
            kept = [*focus, *focus, *focus, *(int(draw() * size) for _ in range(9))]
            self.forms = {**self.forms, **{slot: [self.forms[slot][i] for i in kept] for slot in _NOUN_SLOTS}}

    def sentence(self) -> str:
        """One sentence."""
        return self._one(self.templates)

    def paragraph(self, length: int) -> str:
        """Several sentences, none with the pattern of another."""
        draw, forms, some = self.draw, self.forms, self.templates
        start, size = int(draw() * len(some)), len(some)
        # A prime stride that does not divide the size visits each template once before it repeats.
        stride = _STRIDES[int(draw() * len(_STRIDES))]
        stride = stride if size % stride else 1
        space = "" if self.language in ("ja", "zh") else " "
        return space.join([fill(some[(start + stride * i) % size], forms, draw) for i in range(length)])

    def heading(self) -> str:
        """A heading."""
        return self._one(_HEADINGS if self.language == "en" else titles(self.language))

    def from_(self, which: Sequence[SentenceTemplate], length: int) -> str:
        """A paragraph from other templates, each used once."""
        return " ".join([fill(one, self.forms, self.draw) for one in self.rng.sample(which, min(length, len(which)))])

    def _one(self, which: Sequence[SentenceTemplate]) -> str:
        return fill(which[int(self.draw() * len(which))], self.forms, self.draw)
