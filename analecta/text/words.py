"""How a site says things: dates, languages, kinds of files, numbers."""

from datetime import UTC, datetime

from analecta.text.display import language

_MONTHS = "January February March April May June July August September October November December".split()
_LANGUAGES = {
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


def iso(seconds: float) -> str:
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
    return _LANGUAGES.get(short, short)


def format_name(mime: str) -> str:
    """What sort of file it is; a sort of which there is no name is called a document."""
    return _FORMATS.get(mime) or "document"


def is_page(mime: str) -> bool:
    """Whether it is HTML, which is shown as it looks; of others only the text is."""
    return "html" in mime


def listed(words: list[str], most: int = 4) -> str:
    """Names in a sentence: a, b and c."""
    words = [*words[: most - 1], f"{len(words) - most + 1} more"] if len(words) > most else words
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
