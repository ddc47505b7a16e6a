"""Which engines are asked, and where: names, URLs and keys made sure of before anything is sent."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

import msgspec

from analecta.errors import BadUse
from analecta.sources.engines import ENGINES
from analecta.sources.engines.engine import Engine
from analecta.urls import _PARAMETER, canonical, on_this_machine

LIBRARY = "library"  # another library on this machine: no web service, but named as the engines are
_KNOWN = (*ENGINES, LIBRARY)
PAUSE = 1.0  # seconds between two requests to one engine
_KEY = re.compile(r"[!-~]+")  # a key that would not fit in one header field is none


class Chosen(msgspec.Struct, frozen=True):
    """An engine as it is asked: where, with which key, and how long we wait between two requests."""

    engine: Engine
    url: str
    key: str = ""
    pause: float = PAUSE

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.engine.name


def choose(
    names: Sequence[str], urls: Mapping[str, str], environ: Mapping[str, str], pause: float | None = None
) -> list[Chosen]:
    """The web services of these names; `urls` says where they are, `environ` holds their keys."""
    if not names:
        raise BadUse(f"no search engine is chosen: set engines = [...] in [search]; known are: {', '.join(_KNOWN)}")
    check_known((*names, *urls))
    web = dict.fromkeys(name for name in names if name != LIBRARY)
    return [_one(ENGINES[name], urls.get(name, ""), environ, pause) for name in web]


def check_known(names: Iterable[str]) -> None:
    """Say so where there is no engine of a name."""
    for name in names:
        if name not in _KNOWN:
            near = get_close_matches(name, _KNOWN, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(_KNOWN)}"
            raise BadUse(f"there is no search engine {name!r}; {hint}")


def _one(engine: Engine, said: str, environ: Mapping[str, str], pause: float | None) -> Chosen:
    url = _place(engine, said or engine.url)
    polite = (0.0 if on_this_machine(url) else PAUSE) if pause is None else pause
    return Chosen(engine, url, _key(engine, environ), polite)


def _place(engine: Engine, url: str) -> str:
    if not url:
        what = "its OpenSearch description" if engine.describe else "the one to ask"
        raise BadUse(f"{engine.name} is in no fixed place: set {engine.name} = URL of {what} in [search.url]")
    target = canonical(_PARAMETER.sub("x", url))
    if target is None:
        raise BadUse(f"{url!r} is no http or https URL, so {engine.name} cannot be asked there ([search.url])")
    return url if _PARAMETER.search(url) else target.url


def _key(engine: Engine, environ: Mapping[str, str]) -> str:
    key = environ.get(engine.key, "").strip() if engine.key else ""
    if key and not _KEY.fullmatch(key):
        raise BadUse(f"what the environment variable {engine.key} holds is no key: it has blanks or odd characters")
    if not key and engine.keyless is None:
        raise BadUse(f"{engine.name} wants a key: put it into the environment variable {engine.key}")
    return key or engine.keyless or ""
