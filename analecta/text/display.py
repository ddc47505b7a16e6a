"""Text at the borders: safe for other programs, files and terminals; dates, languages and numbers in words."""

import json
import re
import unicodedata
from datetime import UTC, datetime

# Dropped: control characters but tab and line ends, which neither HTML nor XML may hold; what turns the direction of
# writing, for an override makes "gpj.exe" read "exe.jpg"; the byte order mark, marks of annotations, and invisible
# tags, which hide words from the reader. What right-to-left and joined scripts need (LRM, RLM, ALM, ZWJ, ZWNJ) stays.
_DROPPED = ((0, 8), (0xB, 0xC), (0xE, 0x1F), (0x7F, 0x9F), (0x202A, 0x202E), (0x2066, 0x2069), (0xFEFF, 0xFEFF),
            (0xFFF9, 0xFFFB), (0xE0000, 0xE007F))  # fmt: skip
# Replaced: what is no character (lone surrogates, noncharacters), so that it is seen that something was there.
_REPLACED = ((0xD800, 0xDFFF), (0xFDD0, 0xFDEF), *((n << 16 | 0xFFFE, n << 16 | 0xFFFF) for n in range(17)))
_DROP, _REPLACE = (
    re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges) + "]")
    for ranges in (_DROPPED, _REPLACED)
)
_BAD = frozenset(chr(n) for first, last in (*_DROPPED, *_REPLACED) for n in range(first, last + 1))
# ISO 639-1: a code that a page made up would make our page invalid, and a reader's voice speak nonsense.
_LANGUAGES = frozenset(
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st "
    "su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu".split()
)


def clean(text: str) -> str:
    """The text as it may stand in HTML, XML and JSON, in the direction in which it seems to be written."""
    if _BAD.isdisjoint(set(text)):  # as nearly always; ten times as fast as to replace nothing
        return text
    return _REPLACE.sub("\ufffd", _DROP.sub("", text))


def one_line(text: str) -> str:
    """The same on one line, with one blank for each run of blanks."""
    return " ".join(clean(" ".join(text.split())).split())


# --- on a terminal ---------------------------------------------------------------------------------------------------

# Control characters C0 and C1 with DEL, line and paragraph separators, lone surrogates, everything that sets the
# direction of writing, the byte order mark, and the invisible tag characters.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)

_NO_CELL = ("Mn", "Mc", "Me", "Cf")
_JOINED = re.compile("\u200d.")  # parts of an emoji after its first


def plain(text: str) -> str:
    """The text with each dangerous character as an escape such as \\x1b or \\u202e."""
    return _HIDDEN.sub(_escape, text)


def escape_json(text: str) -> str:
    """JSON with each dangerous character in its strings as JSON's own escape, so that it means the same."""
    return _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1] if found[0] != "\x7f" else "\\u007f", text)


def escape_toml(text: str) -> str:
    """TOML whose strings are basic ones, with each dangerous character in them as TOML's own escape."""
    return _HIDDEN.sub(lambda found: found[0] if found[0] in "\n\r\t" else f"\\U{ord(found[0]):08x}", text)


def _escape(match: "re.Match[str]") -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def cell_width(text: str) -> int:
    """How many columns a terminal needs: two for each wide letter, none for a mark on another letter."""
    if text.isascii():
        return len(text)
    return sum(_cells(letter) for letter in _JOINED.sub("", text))


def _cells(letter: str) -> int:
    if unicodedata.category(letter) in _NO_CELL or "\u1160" <= letter <= "\u11ff":  # jamo go into their syllable
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def iso(seconds: float) -> str:
    """Wall-clock seconds as ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def many(count: int, one: str, several: str = "") -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def language(code: str) -> str | None:
    """A language that readers' programs know; None for others."""
    short = code.split("-")[0].lower()
    return short if short in _LANGUAGES else None


# --- How a site says things: dates, languages, kinds of files, numbers -----------------------------------------------


_MONTHS = "January February March April May June July August September October November December".split()
_LANGUAGE_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "ga": "Irish", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian",
    "hy": "Armenian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian",
    "lv": "Latvian", "nb": "Norwegian", "ne": "Nepali", "nl": "Dutch", "no": "Norwegian", "pl": "Polish",
    "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovene", "sr": "Serbian",
    "sv": "Swedish", "ta": "Tamil", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese",
    "yi": "Yiddish", "zh": "Chinese",
}  # fmt: skip
_FORMATS = {
    "application/pdf": "PDF",
    "application/postscript": "PostScript",
    "application/epub+zip": "EPUB",
    "application/msword": "Word document",
    "application/rtf": "RTF document",
    "text/plain": "plain text",
    "text/html": "web page",
    "application/xhtml+xml": "web page",
}


def day(seconds: float) -> str:
    """A day as people write it: 16 November 2026."""
    when = datetime.fromtimestamp(seconds, UTC)
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"


def rfc3339(seconds: float) -> str:
    """A time in the form of RFC 3339."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def written(date: str) -> str:
    """A date as a page gives it (YYYY, YYYY-MM or YYYY-MM-DD) in words; as it is where it is none."""
    try:
        year, month, of_month = (int(part) for part in f"{date}-0-0".split("-")[:3])
        return " ".join(filter(None, (str(of_month or ""), _MONTHS[month - 1] if month else "", str(year))))
    except (ValueError, IndexError):
        return date


def language_name(code: str) -> str:
    """A language's name, or its code; "" where it is not known."""
    short = language(code) or ""
    return _LANGUAGE_NAMES.get(short, short)


def format_name(mime: str) -> str:
    """What sort of file it is; a sort of which there is no name is called a document."""
    return _FORMATS.get(mime) or "document"


def is_page(mime: str) -> bool:
    """Whether it is HTML, which is shown as it looks; of others only the text is."""
    return "html" in mime


def listed(words: list[str], most: int = 0) -> str:
    """Names in a sentence: a, b and c; so many at most, 0 for all."""
    words = [*words[: most - 1], f"{len(words) - most + 1} more"] if 0 < most < len(words) else words
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
