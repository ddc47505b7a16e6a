"""The Jinja2 environment of all pages: what is put into a template is cleaned, then escaped (F37).

Titles, names and addresses from the web are plain strings all the way. `Markup` is text that is HTML or SVG already:
drawings, our own style sheets and scripts, and what `script_data` gives.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analecta.text import display
from analecta.text.display import clean
from analecta.text.summary import name_of

_HERE = Path(__file__).parent
_WEB = re.compile(r"https?://(?:[^\s/?#\[]|\[[\da-f:.]+\])", re.IGNORECASE)
_MEDIA = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_LINE_ENDS = str.maketrans("\u2028\u2029", "\n\n")


def render(template: str, **values: object) -> str:
    """The page that a template makes of these values; the lines that macros leave before its doctype are dropped."""
    return environment.get_template(template).render(values).lstrip("\n")


def render_xml(template: str, **values: object) -> str:
    """The feed, list or drawing that a template makes of these values, as XML."""
    return xml_environment.get_template(template).render(values).lstrip("\n")


def text_safe(value: Any) -> Any:
    """A value without characters that HTML may not hold or that mislead a reader; markup stays markup."""
    if not isinstance(value, str):
        return value
    safe = clean(value)
    if "\u2028" in safe or "\u2029" in safe:
        safe = safe.translate(_LINE_ENDS)
    return Markup(safe) if isinstance(value, Markup) else safe


def xml_safe(value: Any) -> Any:
    """A value as it may stand in XML, between tags or in an attribute; markup stays markup."""
    return Markup(escape(clean(value))) if isinstance(value, str) and not isinstance(value, Markup) else value


def weblink(url: str) -> str:
    """The URL if it is one of http or https, else ""."""
    return url if _WEB.match(url) else ""


def is_media_type(mime: str) -> bool:
    """Whether it has the form of one: what servers say may be anything."""
    return bool(_MEDIA.fullmatch(mime))


def script_data(json: bytes) -> Markup:
    """JSON as it may stand inside <script>: nothing in it can end the element."""
    text = json.decode("utf-8", "replace")
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def policy_hash(block: str) -> str:
    """The source expression of a Content-Security-Policy for an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'"


def row(text: str) -> str:
    """A text on one line."""
    return " ".join(text.splitlines())


def number(value: float, spec: str = ",") -> str:
    """A number as it is written."""
    return format(value, spec)


environment = Environment(
    loader=FileSystemLoader((_HERE / "templates", _HERE / "site" / "templates")),
    autoescape=True,
    finalize=text_safe,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_FILTERS: tuple[Callable[..., object], ...] = (
    display.day, display.format_name, display.is_page, display.language, display.language_name, display.listed,
    display.many, display.rfc3339, display.written, is_media_type, name_of, number, row, weblink,
)  # fmt: skip
environment.filters |= {function.__name__: function for function in _FILTERS}
xml_environment = environment.overlay(finalize=xml_safe)
