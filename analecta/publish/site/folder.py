"""A folder of files, there as a whole or not at all: it is made beside, then put in the place of the one before."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from analecta.errors import BadUse, Environment

MARKER = ".analecta-site"  # says that a folder is ours to replace
_SAID = "Made by `analecta publish`, which may replace this whole folder.\n"


def write_folder(folder: Path, files: Iterable[tuple[str, str]]) -> int:
    """Write the files; how many there are. Never over a folder that is not a site of ours."""
    folder = folder.absolute()
    check_folder(folder)
    part, old = (folder.with_name(f"{folder.name}.{end}") for end in ("part", "old"))
    try:
        for left in (part, old):  # of a run that was killed
            _remove(left)
        part.mkdir(parents=True)
        try:
            count = _fill(part, files)
        except BaseException:
            _remove(part)
            raise
        if folder.exists():
            folder.rename(old)
        part.rename(folder)
        _remove(old)
    except OSError as error:
        raise Environment(f"cannot write {error.filename or folder}: {error.strerror}") from error
    return count


def check_folder(folder: Path) -> None:
    """Say so where something else is in the way."""
    for path in (folder, folder.with_name(f"{folder.name}.part"), folder.with_name(f"{folder.name}.old")):
        if path.is_symlink() or (path.exists() and not _is_ours(path)):
            raise BadUse(f"{path} is there already and was not made by `analecta publish`: choose another folder")


def _is_ours(path: Path) -> bool:
    return path.is_dir() and ((path / MARKER).is_file() or not any(path.iterdir()))


def _fill(folder: Path, files: Iterable[tuple[str, str]]) -> int:
    (folder / MARKER).write_text(_SAID)
    made = {folder}
    count = 0
    for name, text in files:
        path = folder / name
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        path.write_bytes(text.encode("utf-8", "replace"))
        count += 1
    return count


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
