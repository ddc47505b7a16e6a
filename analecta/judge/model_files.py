"""Models on disk: what a judge has learnt as one json and one npz file, named by the hash of their content.

Never pickle: a model that someone sends you runs no code. Equal models have equal bytes, so equal names.
"""

import hashlib
import io
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from analecta.arrays import Array
from analecta.errors import ResourceError, UsageError


def save_model(folder: Path, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """Write facts and arrays; gives the name to load them by."""
    parts = {"json": orjson.dumps(facts, option=orjson.OPT_SORT_KEYS), "npz": _pack(arrays)}
    name = _digest(parts["json"], parts["npz"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, content in parts.items():
            _write(folder / f"{name}.{ending}", content)
    except OSError as error:
        raise ResourceError(f"the model could not be written to {folder}: {error.strerror}") from error
    return name


def load_model(folder: Path, name: str, judge: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """What was saved under this name by a judge of this kind; nothing is read from a file that was changed."""
    if not re.fullmatch("[0-9a-f]{32}", name):
        raise UsageError(f"{name!r} is not the name of a model")
    try:
        facts, packed = (folder / f"{name}.json").read_bytes(), (folder / f"{name}.npz").read_bytes()
    except OSError as error:
        raise ResourceError(f"model {name} cannot be read from {folder}: {error.strerror}") from error
    if _digest(facts, packed) != name:
        raise UsageError(f"model {name} in {folder} was changed or damaged: take a good copy, or learn it anew")
    known = orjson.loads(facts)
    if not isinstance(known, dict) or known.get("judge") != judge:
        raise UsageError(f"model {name} was not made by the judge {judge!r}")
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        return known, {key: arrays[key] for key in arrays.files}


def damaged_models(folder: Path) -> Iterator[tuple[str, str]]:
    """Every model in a folder with what is wrong with its files; "" where nothing is."""
    for name in sorted({path.stem for path in folder.glob("*") if re.fullmatch("[0-9a-f]{32}", path.stem)}):
        try:
            facts, packed = ((folder / f"{name}.{ending}").read_bytes() for ending in ("json", "npz"))
        except OSError as error:
            yield name, f"cannot be read ({error.strerror})"
            continue
        yield name, "" if _digest(facts, packed) == name else "was changed: its content is not that of its name"


def _digest(facts: bytes, packed: bytes) -> str:
    return hashlib.sha256(hashlib.sha256(facts).digest() + hashlib.sha256(packed).digest()).hexdigest()[:32]


def _pack(arrays: Mapping[str, Array]) -> bytes:
    """As np.savez, but in the order of names and with no time of day in it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for key in sorted(arrays):
            array = io.BytesIO()
            np.lib.format.write_array(array, np.ascontiguousarray(arrays[key]), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{key}.npy"), array.getvalue())
    return packed.getvalue()


def _write(path: Path, content: bytes) -> None:
    """All of it or nothing, also when the power fails."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with open(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
