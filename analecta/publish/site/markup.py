"""The one door by which text comes into a page: what is not known to be markup is escaped (F37).

`Html` is text that is markup already, and only the functions here make it. Titles, names and addresses from the web are
plain strings all the way, so that to forget to escape them is not possible.
"""

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from analecta.text.display import clean, language

_HTTP = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
_VOID = frozenset("meta link img input br hr".split())


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def html(text: str) -> Html:
    """The text as markup: itself where it is markup, escaped where it is not."""
    return text if isinstance(text, Html) else Html(escape(clean(text)))


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Parts one after another."""
    return Html(html(between).join(map(html, parts)))


def tag(name: str, /, *parts: str, **attributes: Any) -> Html:
    """An element of HTML. `class_` and `http_equiv` are `class` and `http-equiv`; None and False leave one out."""
    if name in _VOID:
        return Html(f"<{name}{_attributes(attributes)}>")
    return Html(f"<{name}{_attributes(attributes)}>{joined(parts)}</{name}>")


def node(name: str, /, *parts: str, **attributes: Any) -> Html:
    """An element of XML; `dc_title` is `dc:title`."""
    name = name.replace("_", ":")
    inner = joined(parts)
    attributes = {key.replace("xml_", "xml:").replace("xmlns_", "xmlns:"): value for key, value in attributes.items()}
    return Html(
        f"<{name}{_attributes(attributes)}>{inner}</{name}>" if inner else f"<{name}{_attributes(attributes)}/>"
    )


def foreign(text: str, lang: str = "") -> Html:
    """Words of somebody else: whatever their direction, what stands beside them keeps its own."""
    return tag("bdi", text, lang=language(lang))


def link(url: str, /, *parts: str, **attributes: Any) -> Html:
    """A link to somewhere else on the web; only words where the address is not of http or https."""
    if not _HTTP.match(url):
        return joined(parts)
    return tag("a", *parts, href=url, **({"rel": "noreferrer nofollow"} | attributes))


def script_data(json: bytes) -> Html:
    """JSON as it may stand inside <script>: nothing in it can end the element."""
    text = json.decode("utf-8", "replace")
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(text)


def _attributes(attributes: dict[str, Any]) -> str:
    shown = ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    return "".join(_attribute(key, value) for key, value in shown if value is not None and value is not False)


def _attribute(key: str, value: Any) -> str:
    return f" {key}" if value is True else f' {key}="{escape(clean(str(value)))}"'
