"""How good a collection is where a person has judged its pages: precision against rank (S17).

A file of judgements has a line for each page: its address and `yes` or `no`, or its address and the topics that it is
of (`one|two`; nothing for none), parted by a tab or as CSV. Pages without a judgement are not counted either way: the
figures say how many were judged.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from analecta.errors import UsageError
from analecta.store.library import LibraryFolder
from analecta.urls import address, canonical
from analecta.views.collections import Collection

_AT = (5, 10, 20, 50)
_WORDS = {"yes": True, "y": True, "1": True, "true": True, "no": False, "n": False, "0": False, "false": False}
_FORM = "a line is URL TAB yes|no, or URL TAB topic|topic…"

Judgement = bool | frozenset[str]  # yes or no for whatever topic it was found for, or its topics
Judged = dict[int, Judgement]  # by the id of the address


class Precision(msgspec.Struct, frozen=True):
    """Of the first `at` items so many were judged, and so many of these were good."""

    at: int
    judged: int
    good: int

    @property
    def share(self) -> float | None:
        """Between 0 and 1; None where nothing was judged."""
        return self.good / self.judged if self.judged else None


def read_judged(path: Path) -> Judged:
    """The judgements of a file; of two yes or no for one page the last counts, topics add up."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    judged: Judged = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            url, value = _fields(line)
            target = canonical(address(url)[0])
            if target is not None and value is not None:
                _add(judged, target.id, _judgement(value))
            elif number > 1:  # in the first line, it may be the names of the columns
                raise UsageError(f"{path}, line {number}, is no judgement: {line[:100]!r}; {_FORM}")
    if not judged:
        raise UsageError(f"{path} has no judgements: {_FORM}")
    return judged


def settled(library: LibraryFolder, judged: Judged) -> Judged:
    """The same for the pages that these addresses have led to, which are those that a collection has."""
    found: Judged = {}
    with library.snapshot() as snapshot:
        snapshot.look_up(judged)
        for id, said in judged.items():
            steps = snapshot.resolve(id)
            _add(found, steps[-1].id if steps else id, said)
    return found


def precisions(collection: Collection, judged: Judged) -> list[Precision]:
    """Precision among the first 5, 10, … items, as far as there are any."""
    curve = precision_curve(collection, judged)
    return [curve[n - 1] for n in _AT if n <= len(curve)] or curve[-1:]


def precision_curve(collection: Collection, judged: Judged) -> list[Precision]:
    """Precision among the first 1, 2, 3, … items."""
    curve: list[Precision] = []
    count = good = 0
    for ranked in collection.items:
        if (said := judged.get(ranked.item.id)) is not None:
            count += 1
            good += said if isinstance(said, bool) else _same(collection.topic) in said
        curve.append(Precision(ranked.rank, count, good))
    return curve


def check_topics(judged: Judged, topics: Sequence[str]) -> None:
    """Say so where no judgement is about any topic of the library: the figures would all be 0."""
    said = {topic for one in judged.values() if isinstance(one, frozenset) for topic in one}
    asked = any(isinstance(one, bool) for one in judged.values())
    if said and not asked and said.isdisjoint(map(_same, topics)):
        raise UsageError(f"the judgements are about {_some(said)}, the library about {_some(map(_same, topics))}")


def _fields(line: str) -> tuple[str, str | None]:
    """Address and judgement of a line; an address with commas need not be quoted."""
    try:
        url, *rest = line.split("\t") if "\t" in line else _two(next(csv.reader([line])))
    except csv.Error:
        return "", None
    return url.strip(), rest[0].strip() if rest else None


def _two(fields: list[str]) -> list[str]:
    return [",".join(fields[:-1]), fields[-1]] if len(fields) > 1 else fields


def _add(judged: Judged, id: int, said: Judgement) -> None:
    before = judged.get(id)
    judged[id] = before | said if isinstance(before, frozenset) and isinstance(said, frozenset) else said


def _judgement(value: str) -> Judgement:
    said = _WORDS.get(value.casefold())
    return frozenset(filter(None, map(_same, value.split("|")))) if said is None else said


def _same(topic: str) -> str:
    return " ".join(topic.casefold().split())


def _some(topics: Iterable[str]) -> str:
    several = sorted(topics)
    return ", ".join(map(repr, several[:5])) + (" …" if len(several) > 5 else "")
