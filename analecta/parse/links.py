"""Hrefs to links: each target once, with the first words that name it, and whether its author vouches for it."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from analecta.model import Link, UrlRef
from analecta.urls import MAX_URL, canonical

MAX_LINKS = 2000  # of one page, F23
MAX_ANCHOR = 300  # characters
MAX_HREF = 2 * MAX_URL  # longer ones could only shrink to a URL by tricks, and would fill the joiner's cache
MAX_WORDS = 1_000_000  # characters of anchor text read per page: anchors nested by tricks repeat one another

# Only what is common is skipped here, in the common spelling; the joiner refuses the rest, at more cost.
_NO_PAGES = ("javascript:", "mailto:", "data:", "tel:", "about:", "blob:", "ftp:", "file:")

NOFOLLOW = re.compile(r"\b(?:nofollow|ugc|sponsored)\b", re.IGNORECASE)

Source = TypeVar("Source")


def gather(
    hrefs: Sequence[str | None],
    sources: Sequence[Source],
    own: int,
    join: Callable[[str], UrlRef | None],
    words: Callable[[Source], str],
    nofollow: Callable[[Source], bool] = lambda _: False,
    most: int = MAX_LINKS,
) -> tuple[list[Link], list[Source], bool]:
    """The links that `hrefs` make, in order, what each was made from, and whether some were left out.

    `own` is the id of the page itself, which is no link. `words` and `nofollow` read anchor text and rel of a source;
    they cost, so they are asked only where the answer counts: a target that is linked twice is nofollow only if both
    links are.
    """
    known: dict[str, int] = {}  # the place in `links` of an href, -1 if it is none: most hrefs come more than once
    place: dict[int, int] = {own: -1}
    links: list[Link] = []
    kept: list[Source] = []
    room = MAX_WORDS
    for href, source in zip(hrefs, sources, strict=True):
        # A fragment never changes what the rest means, and without it far more hrefs are alike.
        if href and "#" in href:
            bare = href[: href.index("#")]
            # White space before a fragment belongs to the URL, at the end of an href it does not.
            href = bare + "#" if bare[-1:].isspace() else bare
        if not href:
            continue
        at = known.get(href)
        if at is None:
            target = None if href.startswith(_NO_PAGES) or len(href) > MAX_HREF else join(href)
            if target is None:
                known[href] = -1
                continue
            at = place.get(target.id)
            if at is None:
                if len(links) >= most:
                    return links, kept, True
                text = words(source) if room > 0 else ""
                room -= len(text)
                known[href] = place[target.id] = len(links)
                links.append(Link(target, " ".join(text.split())[:MAX_ANCHOR], nofollow(source)))
                kept.append(source)
                continue
            known[href] = at
        if at < 0:
            continue
        old = links[at]
        if not old.anchor and room > 0:
            text = words(source)
            room -= len(text)
            old.anchor = " ".join(text.split())[:MAX_ANCHOR]
            if old.anchor:
                kept[at] = source
        if old.nofollow and not nofollow(source):
            old.nofollow = False
    return links, kept, room <= 0


def base_of(hrefs: Sequence[str | None], url: str) -> str:
    """What relative links are relative to: the first href of a <base>, if that is http(s), else the page at `url`."""
    href = next((href for href in hrefs if href is not None), None)
    base = None if href is None else canonical(href, url)
    return base.url if base else url
