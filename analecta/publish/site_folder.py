"""The folder of a site: a file in it says that it is ours to replace.

It is apart from the pages of a site because a crawl checks the folder, too, and should not load all that makes pages.
"""

from collections.abc import Iterable
from pathlib import Path

from analecta.files import check_ours, whole_folder
from analecta.store.output import check_replaceable

MARKER = ".analecta-site"
_SAID = "Made by `analecta publish`, which may replace this whole folder.\n"


def write_folder(folder: Path, files: Iterable[tuple[str, str]]) -> int:
    """Write the files; how many there are. Never over a folder that is not a site of ours."""
    check_replaceable(folder, "site")
    count = 0
    with whole_folder(folder, is_site) as part:
        (part / MARKER).write_text(_SAID)
        made = {part}
        for name, text in files:
            path = part / name
            if path.parent not in made:
                path.parent.mkdir(parents=True, exist_ok=True)
                made.add(path.parent)
            path.write_bytes(text.encode("utf-8", "replace"))
            count += 1
    return count


def check_site(folder: Path) -> None:
    """Say so where a site cannot be written: something else is there, or a library."""
    check_replaceable(folder, "site")
    check_ours(folder, is_site)


def is_site(folder: Path) -> bool:
    """Whether a folder is a site of ours."""
    return (folder / MARKER).is_file()
