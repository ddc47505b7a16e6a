"""A file that a person brought, read whole: its bytes, its text, its JSON; or one sentence why not."""

import codecs
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from analecta.errors import BadUse

MAX_BYTES = 50_000_000  # 5,000 bookmarks with their icons are 10 MB
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ADDRESS = re.compile(r"https?:/", re.IGNORECASE)  # of "https://" a path keeps one slash


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """All bytes of a file; one that is too large is refused before it is read."""
    if _ADDRESS.match(str(path)):
        raise BadUse(f"{path} is an address, not a file: save what is there to a file and give its name")
    try:
        with path.open("rb") as file:
            large = os.fstat(file.fileno()).st_size > most
            data = b"" if large else file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise BadUse(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if large or len(data) > most:
        raise BadUse(f"{path} is larger than {most // 1_000_000} MB: split it, or take the right file")
    if not data.strip():
        raise BadUse(f"{path} is empty")
    return data


def text_of(data: bytes, path: Path | str) -> str:
    """The text of a file in UTF-8, or in UTF-16 with its mark."""
    try:
        text = data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadUse(f"{path} is not a text file in UTF-8 (byte {error.start}); save it as UTF-8") from error
    if "\0" in text:
        raise BadUse(f"{path} is not a text file: it holds NUL characters")
    return text


def lines_of(text: str) -> list[str]:
    """Its lines, however they end."""
    return re.split(r"\r\n|\r|\n", text)


def json_of(data: bytes, path: Path | str, pairs: Callable[[list[tuple[str, Any]]], Any] = dict) -> Any:
    """What a JSON file says."""
    try:
        return json.loads(text_of(data, path), object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise BadUse(f"{path}, line {error.lineno}: not valid JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
        raise BadUse(f"{path} is JSON beyond reason: {error}") from error


def first_sign(data: bytes) -> bytes:
    """The first character that is no blank and no byte order mark."""
    return data.lstrip(codecs.BOM_UTF8 + codecs.BOM_UTF16 + b" \t\r\n\0")[:1]
