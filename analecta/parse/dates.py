"""The date of a page or document, as exact as it says itself: YYYY, YYYY-MM or YYYY-MM-DD."""

import re
from calendar import monthrange

_DATE = re.compile(
    r"\s*(?:D:)?((?:19|20)\d\d)(?:"
    r"[-/.:](0?[1-9]|1[0-2])(?!\d)(?:[-/.:](0?[1-9]|[12]\d|3[01])(?!\d))?|"
    r"(0[1-9]|1[0-2])(?:(0[1-9]|[12]\d|3[01]))?)?(?!\d{9})"
)
_NO_DATES = ("1970-01-01", "1980-01-01")  # what clocks and zip files say that know nothing


def date_of(text: str) -> str:
    """YYYY, YYYY-MM or YYYY-MM-DD of what begins with a date in ISO's or PDF's way, else ""; no 31st of February."""
    found = _DATE.match(text)
    parts = [part.zfill(2) for part in found.groups() if part] if found else []
    if len(parts) == 3 and int(parts[2]) > monthrange(int(parts[0]), int(parts[1]))[1]:
        parts.pop()
    date = "-".join(parts)
    return "" if date in _NO_DATES else date
