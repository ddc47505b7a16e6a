"""What a check of a library finds: counted by kind, with a few examples of each."""

from collections.abc import Iterable

import msgspec

EXAMPLES = 5  # of each kind, by step


class Damage(msgspec.Struct, frozen=True):
    """Bytes of an archive file that cannot be read, or a page (its row) whose record is not what the row says."""

    file: str
    offset: int
    length: int = 0  # 0: the bytes are good, only the page's row is wrong
    page: int = 0


class Kind(msgspec.Struct):
    """Findings of one kind; `repair` says what `--repair` does, "" where nothing can be done."""

    count: int = 0
    repair: str = ""
    examples: list[str] = []


class Part(msgspec.Struct):
    """What one step of the check found, and how far it came."""

    stamp: list[tuple[int, int]] = []  # size and time of its files
    done: bool = False
    place: int = 0  # where to go on
    kinds: dict[str, Kind] = {}
    notes: list[str] = []
    damages: list[Damage] = []
    checked: dict[str, int] = {}

    def find(self, kind: str, what: str, repair: str = "", count: int = 1) -> None:
        """Note something that is wrong."""
        known = self.kinds.setdefault(kind, Kind(repair=repair))
        known.count += count
        if len(known.examples) < EXAMPLES:
            known.examples.append(what)

    def note(self, what: str) -> None:
        """Note something that a person may want to know, and that is not wrong."""
        self.notes.append(what)

    def count(self, what: str, n: int = 1) -> None:
        """Count what was looked at."""
        self.checked[what] = self.checked.get(what, 0) + n


class Report(msgspec.Struct):
    """What a whole check found."""

    kinds: dict[str, Kind] = {}
    notes: list[str] = []
    checked: dict[str, int] = {}
    repaired: list[str] = []
    resumed: bool = False

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.kinds


def combined(parts: Iterable[Part]) -> Report:
    """The findings of all steps together."""
    report = Report()
    for part in parts:
        for name, kind in part.kinds.items():
            known = report.kinds.setdefault(name, Kind(repair=kind.repair))
            known.count += kind.count
            known.examples = [*known.examples, *kind.examples][:EXAMPLES]
        report.notes += part.notes
        for what, n in part.checked.items():
            report.checked[what] = report.checked.get(what, 0) + n
    return report
