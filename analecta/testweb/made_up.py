"""Made-up webs by name: `pocket[:PAGES]`, a small web of topics, and `villages[:SITES]`, a web of communities."""

from analecta.errors import BadUse
from analecta.testweb.pocket import PocketWeb
from analecta.testweb.villages_web import VillagesWeb

_LEAST, _MOST = 100, 1_000_000


def made_up(name: str) -> PocketWeb | VillagesWeb | None:
    """The web of a name; None where it is not one of these."""
    kind, colon, size = name.partition(":")
    if kind not in ("pocket", "villages"):
        return None
    if colon and not (size.isdecimal() and _LEAST <= int(size) <= _MOST):
        raise BadUse(f"{kind} wants a size of {_LEAST} to {_MOST:,}, as in {kind}:1100, not {size!r}")
    if kind == "pocket":
        return PocketWeb(int(size or 3000))
    return VillagesWeb(int(size or 1100))
