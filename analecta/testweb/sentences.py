"""Words of topics and languages, and sentences made of them."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple

# --- words -----------------------------------------------------------------------------------------------------------
# Words that every topic shares; those of the topics and of other languages are read from the files beside.
#
# The slots of the sentences are explained below.


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("analecta.testweb").joinpath(name).read_text("utf-8"))


TOPICS = _read("topics.toml")
LANGUAGES = _read("languages.toml")

SENTENCES = """
{Ns} are easier to live with than most books admit.
In {season} {an} asks for more care than at any other time of the year.
{Who} once said that {ph} is half of the work.
There is no need to {v} everything at once.
Many beginners {v} the {n} too early and blame the {n} afterwards.
We compared {num} {ns} over two years and kept notes on each of them.
The difference between {aan} and an ordinary one is easy to see once you have met both.
If you can only afford one {n}, choose {aan}.
Some people swear by {s}; others have never missed it.
The first {n} in our collection came from {where} in {year}.
It took us until {season} to understand why the {n} behaved so badly.
{Ving} {ns} is a matter of patience rather than strength.
Do not confuse {an} with {an}, although shops often do.
A visitor asked last week whether {ns} are worth the money, and the honest answer is: sometimes.
{Who} always preferred {adj} {ns}, and it is hard to argue with the results.
The library has an older book on {ns} that is still worth reading.
Without {s} the whole thing would look very different.
At {where} you can watch people {v} {ns} on most weekends.
What matters in the end is {ph}, not the price of the {n}.
Most of the questions that reach us concern {ns} and {s}.
We have {ved} more than {num} {ns} since {year}, and each one taught us something.
It is a good idea to {v} one {n} before you try another.
The rule of thumb is simple: more {s}, fewer {ns}.
Between {season} and the end of the year there is time to {v} the {n} properly.
A friend from {where} sent us photographs of {aan}.
Reports that {ns} are going out of fashion come back every few years.
Small mistakes with {s} are forgiven; large ones are not.
You will need {an}, some {s} and an afternoon without visitors.
The club meets on the second Tuesday of the month to talk about {ns}.
In our experience {adj} {ns} last longer, though they cost more at first.
{Who} wrote to us about {an} that had stood unused for {num} years.
There are three reasons for this, and the {n} is only one of them.
Old hands {v} by feel, newcomers by the book.
Whether this also holds for {adj} {ns} is an open question.
The {n} and the {n} work together, and neither is much use alone.
By {season} the {adj} {n} had been {ved} twice.
See the notes on {ph} for the details.
Prices for {ns} have doubled since {year}.
Everything else can wait until {ph} is settled.
A short film made at {where} shows how to {v} {an} step by step.
If in doubt, ask somebody who has {ved} a few.
The answer depends on {s}, on the weather and on your neighbours.
Nobody at {where} remembers who first {ved} {an} there.
{An} of this kind was unknown here before {year}.
Write down what you did, because next {season} you will have forgotten it.
One last remark about {s}: buy it fresh and store it dry.
"""

TITLES = """
How to {v} {an}
{Ns}, {ns} and a little {s}
Choosing {an}
The {adj} {n} explained
Notes on {ns}
Why {ns} fail
{Who} on {ns}
A visit to {where}
Ten questions about {ns}
{Adj} {ns}: a beginner's guide
What we learned from {ns} in {year}
{An} for all seasons
In praise of the {n}
{S} and the {n}
The trouble with {adj} {ns}
A short history of the {n}
Looking after {an} in {season}
{Ving} {ns} the slow way
Our {n} diary, {season} {year}
Letters: {ns} and {ph}
"""

HEADINGS = """
Before you begin
What {an} is for
{Ns} and {ns}
A word on {s}
Common mistakes
How we {v} {ns}
The {adj} {n}
{Ph}
Where to see {ns}
Costs and care
What {who} did differently
Further notes
"""

_OFF_TOPIC = """
The car park behind the hall will be closed until the end of {season}.
Our treasurer thanks all members who have already paid for {year}.
Tea and cake will be served at half past three, as always.
The annual general meeting elected a new secretary and kept the old chairman.
Please send changes of address to the membership desk.
Lost property is kept for {num} weeks and then given to the charity shop.
The roof fund now stands at {num} hundred pounds.
Volunteers are needed for the summer fair, especially on the Saturday morning.
Minutes of the last meeting can be read at the front desk.
Dogs are welcome if they keep quiet during the talks.
The heating has been repaired, and the hall is warm again.
We apologise for the confusion about the dates in the {season} programme.
"""

_PRIVACY = """
We keep as little about our readers as we can.
Server logs are deleted after {num} days.
If you write to us, your address is used to answer you and for nothing else.
We do not sell, rent or lend the names of subscribers.
A cookie remembers the size of the letters that you chose.
You may ask at any time what we hold about you and have it removed.
This site has been online since {year} and is kept up by volunteers.
Pictures belong to those who took them; ask before you copy.
Our postal address and the opening hours are given on the contact page.
"""

SEASONS = "spring, summer, autumn, winter, March, late May, August, October, early November"
NUMBERS = "six, nine, twelve, fourteen, twenty, thirty-odd, forty, sixty, ninety, two hundred"
TITLE_WORDS = "notes, journal, almanac, gazette, workshop, archive, letters, corner, society, review, guild, handbook"
HOST_WORDS = "orchard, harbour, lantern, meadow, copper, willow, granite, juniper, sparrow, amber, cedar, pebble"
NICKS = "quietfox, marlow77, anna_b, the_old_hand, pjt, greenbench, kestrel, mrs_winter, dan-of-dale"
SPAM = "cheap watches online, best casino bonus, free ringtones, loans without questions, miracle diet pills"


# --- sentences -------------------------------------------------------------------------------------------------------
# Sentences from words. A page has a Voice: the few words it keeps coming back to, in every form a slot may ask for.
#
# Slots: {n} {ns} {an} a noun, its plural, with article · {s} stuff · {v} {ved} {ving} a verb · {adj} · {aan} article,
# adjective and noun · {who} {where} {ph} people, places, phrases · {season} {num} {year}. A capital starts a sentence.


Forms = Mapping[str, Sequence[str]]
Draw = Callable[[], float]


class SentenceTemplate(NamedTuple):
    """A sentence with gaps: `pattern % words for slots`."""

    pattern: str
    slots: tuple[str, ...]


def template(text: str) -> SentenceTemplate:
    """Read a template as it is written above."""
    slots = tuple(re.findall(r"\{(\w+)\}", text))
    return SentenceTemplate(re.sub(r"\{\w+\}", "%s", text.replace("%", "%%")), slots)


def templates(lines: Iterable[str]) -> tuple[SentenceTemplate, ...]:
    """Templates as they are written."""
    return tuple(template(line) for line in lines)


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


def _with_capitals(forms: dict[str, list[str]], slots: Iterable[str]) -> dict[str, list[str]]:
    for slot in slots:
        forms[capital(slot)] = [capital(word) for word in forms[slot]]
    return forms


YEARS = [str(year) for year in range(1968, 2026)]


@cache
def lexicon(topic: str, language: str = "en") -> dict[str, list[str]]:
    """Every word of a topic in every form; lists of one kind run in parallel."""
    if language != "en":
        return _with_capitals({"ns": some(LANGUAGES[language]["nouns"][topic]), "year": YEARS}, ["ns"])
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
        "season": some(SEASONS),
        "num": some(NUMBERS),
        "year": YEARS,
    }
    return _with_capitals(forms, ("ns", "an", "s", "adj", "ving", "who", "ph"))


_STRIDES = (7, 11, 13, 17, 19, 23, 29, 31)
_NOUN_SLOTS = ("n", "ns", "an", "aan", "Ns", "An")
_SHARED = templates(SENTENCES.strip().splitlines())
_HEADINGS = templates(HEADINGS.strip().splitlines())
OFF_TOPIC = templates(_OFF_TOPIC.strip().splitlines())
PRIVACY = templates(_PRIVACY.strip().splitlines())


@cache
def sentences(topic: str, language: str = "en") -> tuple[SentenceTemplate, ...]:
    """The templates of a topic: those that all share, and its own three times, since they are what sets it apart."""
    if language != "en":
        return templates(LANGUAGES[language]["sentences"])
    return _SHARED + 3 * templates(TOPICS[topic]["own"])


@cache
def titles(language: str = "en") -> tuple[SentenceTemplate, ...]:
    """The templates of titles in a language."""
    return templates(TITLES.strip().splitlines() if language == "en" else LANGUAGES[language]["titles"])


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
        draw, some = self.draw, self.templates
        return fill(some[int(draw() * len(some))], self.forms, draw)

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
        if self.language != "en":
            which = titles(self.language)
            return fill(which[int(self.draw() * len(which))], self.forms, self.draw)
        return fill(_HEADINGS[int(self.draw() * len(_HEADINGS))], self.forms, self.draw)

    def from_(self, which: Sequence[SentenceTemplate], length: int) -> str:
        """A paragraph from other templates, each used once."""
        return " ".join([fill(one, self.forms, self.draw) for one in self.rng.sample(which, min(length, len(which)))])
