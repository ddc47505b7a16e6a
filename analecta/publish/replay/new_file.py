"""A file that is written whole or not at all, and never over another one unless that is asked for."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from analecta.errors import BadUse, Environment


@contextlib.contextmanager
def new_file(path: Path, force: bool = False) -> Iterator[BinaryIO]:
    """A file that takes its name when all is written; what the disk says against it is told in one sentence."""
    if path.exists() and not force:
        raise BadUse(f"{path} exists already: choose another name, or ask for it to be replaced")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            yield out
        part.replace(path)
    except OSError as error:
        about = f" ({error.filename})" if error.filename not in (None, str(part)) else ""
        raise Environment(f"cannot write {path}: {error.strerror or error}{about}") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
