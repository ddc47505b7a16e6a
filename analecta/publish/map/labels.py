"""Labels in lines: as wide as a circle, of any script."""

from collections.abc import Iterator

from rich.cells import cell_len

from analecta.text.display import plain

MARK = "·"  # between the terms of a label; at the end of a line the break says as much
_ENDLESS = 24  # letters of a word that may be broken


def wrapped(label: str, width: float, lines: int) -> list[str]:
    """A label in so many lines of about this many letters; what is left over becomes an ellipsis."""
    found = [""]
    for piece in _pieces(label):
        if found[-1] and piece.strip() != MARK and cell_len(found[-1] + piece.rstrip()) > width:
            found.append("")
        found[-1] += piece if found[-1] else piece.lstrip()
    found = [short for line in found if (short := line.strip(f" {MARK}"))]
    if len(found) > lines:
        return [*found[: lines - 1], _cut(found[lines - 1] + " ", width - 1).rstrip(f" ,;{MARK}") + "…"]
    return found


def _pieces(label: str) -> Iterator[str]:
    """Where a line may end: after a space, and after any letter of a wide script or of an endless word."""
    for word in map(plain, label.split()):
        if len(word) > _ENDLESS or cell_len(word) > len(word):
            yield from word
            yield " "
        else:
            yield word + " "


def _cut(text: str, width: float) -> str:
    while cell_len(text) > width:
        text = text[:-1]
    return text
