"""Pages and documents parsed in a killable child: what goes there and comes back, and what is made of its failures."""

from collections.abc import Callable
from typing import Any, get_type_hints

import msgspec

from analecta.errors import AnalectaError
from analecta.model import Page, Response, UrlRef
from analecta.parse.fallback import rough_page
from analecta.parse.sandbox import ChildFailed, ChildLate, ChildLimits, Sandbox

TIME_UP = "parse-limited: stopped after"  # how the limits of a page begin that took too long

# A Page whose lazy parts have been asked for; the types are checked when the parent reads it.
_PLAIN = {name: hint for name, hint in get_type_hints(Page).items() if name not in ("link_context", "main_text")}
FlatPage: Any = msgspec.defstruct("FlatPage", [*_PLAIN.items(), ("words", list[str]), ("main_text", str)])


def flatten(page: Page) -> msgspec.Struct:
    """The page in plain values, for the way back to the parent."""
    plain = {name: getattr(page, name) for name in _PLAIN}
    words = [page.link_context(i) for i in range(len(page.links))]
    flat: msgspec.Struct = FlatPage(**plain, words=words, main_text=page.main_text())
    return flat


class ParserDied(AnalectaError):
    """The parser broke on a page. `page` says so in its limits and holds nothing else."""

    def __init__(self, why: str, target: UrlRef, mime: str) -> None:
        why = f"parse-crashed: {why}"
        super().__init__(why)
        self.page = Page(target.url, target.id, target.host, mime, limits=why)


class PageSandbox(Sandbox[Any]):
    """Parses pages in a child; `instead` makes the page of an answer that took too long."""

    def __init__(
        self,
        function: str = "analecta.parse:parse_in_child",
        limits: ChildLimits = ChildLimits(),
        max_body: int = 4 * 1024 * 1024,
        instead: Callable[[Response, UrlRef, str, str], Page] = rough_page,
    ) -> None:
        super().__init__(function, FlatPage, limits)
        self.max_body = max_body
        self.instead = instead

    def parse(self, answer: Response, target: UrlRef, mime: str = "text/html") -> Page:
        """The page, complete or with its limits told; raises ParserDied if the parser broke on it."""
        body = answer.body[: self.max_body]
        try:
            flat = self.call(msgspec.structs.replace(answer, wire=b"", asked=b"", body=body), target, mime)
        except ChildLate:
            return self.instead(answer, target, mime, f"{TIME_UP} {self.limits.seconds:g} s")
        except ChildFailed as failed:
            raise ParserDied(str(failed), target, mime) from None
        words, main = flat.words, flat.main_text
        plain = {name: getattr(flat, name) for name in _PLAIN}
        page = Page(**plain, link_context=words.__getitem__, main_text=lambda: main)
        if len(body) < len(answer.body):
            why = f"parse-limited: only the first {self.max_body} bytes"
            page.limits = "; ".join(filter(None, (why, page.limits)))
        return page
