"""The health of topics in words: a verdict on each, and what to do about it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from analecta.judge.health import BACK, ENOUGH, Health, MisplacedExample, Pair, TopicHealth
from analecta.model import BELOW
from analecta.text.display import cell_width, plain

GOOD, VAGUE, BAD = "good", "vague", "bad"  # how bad it is
NAME_WITHIN = 16  # letters of a topic's name in the midst of other words
_MOST = 10  # pairs, examples or topics that are listed


def verdict(found: Health, topic: TopicHealth, most: int = NAME_WITHIN) -> tuple[str, str]:
    """What there is to say of a topic, in a few words, and how bad it is; the worst first."""
    if topic.examples < ENOUGH:
        if not topic.examples and topic.name not in found.few:
            return "shown by the topics below it", GOOD
        return "too few examples" if topic.examples else "no examples", BAD
    if close := next((pair for pair in found.close if topic.name in (pair.one, pair.other)), None):
        return f"too close to {short(close.other if close.one == topic.name else close.one, most)}", BAD
    if astray := Counter(stray.nearer for stray in found.strays if stray.topic == topic.name):
        return f"{sum(astray.values())} of {topic.examples} {_like(astray, most)}", BAD
    if topic.back is not None and topic.back < BACK:
        return f"{sum(topic.away.values())} of {topic.examples} {_lean(topic.away, most)}", VAGUE
    return "good", GOOD


def advice(found: Health) -> Iterator[str]:
    """What to do, a line at a time, with lists set in by two spaces; one sentence where there is nothing to do."""
    if found.close:
        yield (
            "Too close: pages of one of these topics would often go to the other. Make one topic of the two, or give"
            " each of them examples that the other would not have. (1.00 would be one topic cut in two.)"
        )
        yield from _listed([_pair(pair) for pair in found.close])
    if found.strays:
        yield (
            "Examples that look wrong. In analecta.toml, move each to the topic that it is nearer to, or remove it."
            " (In brackets how near it is to that topic and to its own; 1 is usual.)"
        )
        yield from _listed([_stray(stray) for stray in found.strays])
    if found.few:
        yield f"Fewer than {ENOUGH} examples say too little about a topic. Give more of:"
        yield from _listed(found.few)
    grades = {verdict(found, topic)[1] for topic in found.topics}
    if VAGUE in grades:
        yield (
            "Where examples lean to other topics, nothing need be wrong: topics may overlap. More examples, or more"
            " typical ones, make them clearer."
        )
    if grades <= {GOOD}:
        apart = "The topics can be told apart, and all" if len(found.topics) > 1 else "All"
        yield f"{apart} examples look as if they belong where they are."


def short(name: str, most: int) -> str:
    """A topic's name in so many letters: of a path as many of the last parts as there is room for."""
    name = plain(name)
    if cell_width(name) <= most:
        return name
    parts = name.split(BELOW)
    ends = (f"…{BELOW}{BELOW.join(parts[i:])}" for i in range(1, len(parts)))
    if fits := next((end for end in ends if cell_width(end) <= most), ""):
        return fits
    cut = parts[-1]
    while cut and cell_width(cut) > most - 1:
        cut = cut[:-1]
    return cut.rstrip() + ("…" if cut != parts[-1] else "")


def percent(share: float | None) -> str:
    """A share in per cent, and a dash where it can not be told."""
    return "–" if share is None else f"{share:.0%}"


def _like(counts: Counter[str | None], most: int) -> str:
    one = sum(counts.values()) == 1
    names = [name for name in counts if name is not None]
    if not names:
        return "is unlike the others" if one else "are unlike the others"
    return f"look{'s' if one else ''} like {_whom(names, most)}"


def _lean(counts: dict[str, int], most: int) -> str:
    return f"lean{'s' if sum(counts.values()) == 1 else ''} to {_whom(list(counts), most)}"


def _whom(names: Sequence[str], most: int) -> str:
    return short(names[0], most) if len(names) == 1 else "others"


def _pair(pair: Pair) -> str:
    part = " (which is a part of it)" if pair.other.startswith(pair.one + BELOW) else ""
    return f"{pair.one} and {pair.other}{part}: {pair.similarity:.2f}"


def _stray(stray: MisplacedExample) -> str:
    if stray.nearer is None:
        return f"{stray.url} of {stray.topic} has little in common with its other examples"
    return f"{stray.url} of {stray.topic} looks more like {stray.nearer} ({stray.there:.2f}, {stray.own:.2f})"


def _listed(lines: Sequence[str]) -> Iterator[str]:
    for line in lines[:_MOST]:
        yield f"  {line}"
    if len(lines) > _MOST:
        yield f"  and {len(lines) - _MOST} more"
