"""Serves the folder of a scenario as a web: site/HOST/path; "/" is index.html. For ServerProcess."""

from collections.abc import Callable, Mapping
from pathlib import Path

from analecta.testweb.server import ServedResponse

TYPES = {".html": b"text/html; charset=utf-8", ".txt": b"text/plain", ".xml": b"application/xml"}


def serve(folder: str) -> Callable[[str, str, Mapping[str, str]], ServedResponse]:
    """What a server answers for the files below `folder`."""
    files = {f"{p.relative_to(folder)}": p.read_bytes() for p in Path(folder).rglob("*.*") if p.is_file()}

    def answer(host: str, target: str, _headers: Mapping[str, str]) -> ServedResponse:
        name = host + ("/index.html" if target == "/" else target)
        if name not in files:
            return ServedResponse(404, b"Content-Type: text/plain\r\n", b"Not here.\n")
        return ServedResponse(200, b"Content-Type: " + TYPES[Path(name).suffix] + b"\r\n", files[name])

    return answer
