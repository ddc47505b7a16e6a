"""Pages that make poor items of a collection, whatever they are about: courses, calls for papers, CVs, shops (S15).

A page is of a kind by its cues: words and phrases with weights that a person can read and argue with, and the form of
its address. A cue counts once, or a little more if repeated. Cues add up; LINE of them is a confidence of 0.5. A long
page meets some by chance, so from LONG words on they count less. The cues are English; pages of other languages are
recognised by what shops and calls all over the world have in common, or not at all.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from analecta.arrays import Floats
from analecta.model import Page
from analecta.text.tokens import Vocabulary, Words, words

KINDS = ("course", "call", "cv", "shop")
LINE = 6.0
LONG = 1200
_MANY = 3  # times a cue counts, at a lower rate each time

CUES: dict[str, str] = tomllib.loads(Path(__file__).with_name("page_kinds.toml").read_text("utf-8"))
ADDRESSES = {
    "course": re.compile(r"(?i)/(courses?|syllab\w*|teaching|lectures?|class(es)?|modules?)(/|[._-]|\d|$)"),
    "call": re.compile(r"(?i)(/|[._-])(cfp|call-?_?for-?_?(papers|participation))([/._-]|\d|$)"),
    "cv": re.compile(r"(?i)/(cv|resume|vitae?|curriculum[-_]?vitae)([/._-]|$)"),
    "shop": re.compile(r"(?i)(/|[._-])(shop|store|cart|basket|checkout|products?)([/._-]|$|\?)|//(shop|store)\."),
}
ADDRESS = 2.5  # cues that an address is worth

_ODD = np.uint64(0x9E3779B97F4A7C15)  # so that a phrase is another one the other way round


def kind_of(page: Page) -> tuple[str, float]:
    """The kind of a page and how sure that is; "" for a page of none of these kinds."""
    shown = "\n".join((page.title, *page.headings, page.text))
    return kinds_of(words([shown]), [page.url])[0]


def kinds_of(batch: Words, urls: Sequence[str] = ()) -> list[tuple[str, float]]:
    """The same for a batch of words already cut, with the addresses of the pages if they are known."""
    last, single, phrases, weights = _cues()
    at, _ = last.find(batch.hashes)
    pages = np.searchsorted(batch.starts, at, side="right") - 1
    here = batch.hashes[at]
    before = np.where(at > batch.starts[pages], batch.hashes[at - 1], 0).astype(np.uint64)
    alone, words_found = single.find(here)
    after, phrases_found = phrases.find(before * _ODD + here)
    cues = np.concatenate([words_found, len(single) + phrases_found])
    keys, often = np.unique(pages[np.concatenate([alone, after])] * len(weights) + cues, return_counts=True)
    scores = np.zeros((len(batch), len(KINDS)))
    np.add.at(
        scores, keys // len(weights), weights[keys % len(weights)] * np.log2(1 + np.minimum(often, _MANY))[:, None]
    )
    scores /= np.sqrt(np.maximum(np.diff(batch.starts) / LONG, 1.0))[:, None]
    for i, url in enumerate(urls):
        for k, kind in enumerate(KINDS):
            if scores[i, k] > 0 and ADDRESSES[kind].search(url):
                scores[i, k] += ADDRESS
    sure = scores / (scores + LINE)
    best = sure.argmax(axis=1) if len(sure) else np.zeros(0, np.int64)
    return [
        (KINDS[k], float(row[k])) if row[k] >= 0.5 else ("", float(row[k]))
        for k, row in zip(best.tolist(), sure, strict=True)
    ]


@cache
def _cues() -> tuple[Vocabulary, Vocabulary, Vocabulary, Floats]:
    """The last words of cues, to look for first; cues of one word and of two; the weights of these by kind."""
    cues = [(cue.rpartition(":"), k) for k, kind in enumerate(KINDS) for cue in CUES[kind].split()]
    names = sorted({name for (name, _, _), _ in cues}, key=lambda name: ("_" in name, name))
    weights = np.zeros((len(names), len(KINDS)))
    for (name, _, weight), k in cues:
        weights[names.index(name), k] = float(weight)
    one = [name for name in names if "_" not in name]
    two = words([name.replace("_", " ") for name in names if "_" in name]).hashes.reshape(-1, 2)
    single = words([" ".join(one)]).hashes
    last = Vocabulary(np.unique(np.concatenate([single, two[:, 1]])))
    return last, Vocabulary(single), Vocabulary(two[:, 0] * _ODD + two[:, 1]), weights
