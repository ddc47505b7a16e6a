"""What is exported of a library: as the command does it, without the command."""

from pathlib import Path
from typing import Any

from analecta.export import ExportRequest, export
from analecta.store.library import LibraryFolder


def exported(library: LibraryFolder, kind: str, format: str, path: Path | None = None, **more: Any) -> list[str]:
    """Write it; the sentences about it."""
    return export(library, ExportRequest(kind=kind, format=format, path=path, **more))
