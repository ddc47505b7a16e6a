"""Research papers as input (P1, P2): a PDF, or what a GROBID server makes of it -> a Paper; papers -> queries."""

from pathlib import Path

from analecta.sources.files import read_bytes, text_of
from analecta.sources.papers.grobid import ask_grobid, from_grobid
from analecta.sources.papers.paper import Paper, Reference, Section, from_toml, to_toml
from analecta.sources.papers.queries import in_words, own_text, related, shared, weighed_queries
from analecta.sources.papers.reader import read_paper, read_paper_apart


def read_brought(path: Path, grobid: str = "") -> Paper:
    """A paper that a person brought: our own TOML of one, perhaps corrected, or a PDF."""
    if path.suffix.lower() == ".toml":
        return from_toml(text_of(read_bytes(path), path), str(path))
    if grobid:
        return from_grobid(ask_grobid(grobid, read_bytes(path)))
    return read_paper_apart(path)


__all__ = [
    "Paper",
    "Reference",
    "Section",
    "ask_grobid",
    "from_grobid",
    "from_toml",
    "in_words",
    "own_text",
    "read_brought",
    "read_paper",
    "read_paper_apart",
    "related",
    "shared",
    "to_toml",
    "weighed_queries",
]
