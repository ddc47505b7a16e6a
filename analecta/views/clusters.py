"""What an analysis of a topic's pages found: clusters with their labels, best pages and links. Kept as a JSON file.

`LIB/analysis/TOPIC.json` can be deleted and made again; it is what the map draws.
"""

import hashlib
import re
from pathlib import Path

import msgspec

from analecta.errors import BadUse
from analecta.files import whole_file
from analecta.store.library import Library

ALL = "all"  # the name of what is of all topics


class Shown(msgspec.Struct, frozen=True):
    """A page in an analysis; `score` is its closeness to the centre, or its weight as hub or authority."""

    id: int
    url: str
    title: str
    host: str
    score: float


class Member(msgspec.Struct, frozen=True):
    """A page of a cluster, as it is drawn: `near` is its cosine to the centre."""

    id: int
    url: str
    title: str
    host: str
    near: float
    confidence: float


class Cluster(msgspec.Struct, frozen=True):
    """Pages that speak of the same. `label` is unique in its analysis; `terms` are words and phrases, best first."""

    label: str
    terms: list[str]
    size: int  # pages
    near: float  # mean cosine of its pages to the centre
    hosts: list[tuple[str, int]]  # those with the most pages
    examples: list[Shown]
    hubs: list[Shown]
    authorities: list[Shown]
    members: list[Member]  # nearest first; all, or the nearest thousands


class Origin(msgspec.Struct, frozen=True):
    """What the topic was begun with: a paper, or pages that a person brought; `url` may be empty."""

    title: str
    url: str = ""


class Analysis(msgspec.Struct, frozen=True):
    """The clusters of a topic's pages (of all topics where `topic` is "")."""

    topic: str
    made_at: float
    pages: int  # that were looked at
    dropped: int  # the worst, left out of clusters
    vocabulary: int  # stems
    chosen: str  # how k came about: "given" or "auto"
    impurity: dict[int, float]  # by k, for those that were tried
    clusters: list[Cluster]  # largest first
    similar: list[list[float]]  # cosine of the centres, cluster by cluster
    links: list[list[int]]  # links from the pages of one cluster to those of another
    origins: list[Origin] = []


def analysis_path(library: Library, topic: str) -> Path:
    """Where the analysis of a topic is kept; a hash tells names apart that are no file names themselves."""
    name = re.sub(r"[^\w.-]+", "-", topic.casefold()).strip("-.")[:40]
    if topic and (name != topic or name == ALL):
        name += f"-{hashlib.sha256(topic.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return library.derived("analysis") / f"{name or ALL}.json"


def save(library: Library, found: Analysis) -> Path:
    """Keep an analysis; the one before it is replaced."""
    path = analysis_path(library, found.topic)
    path.parent.mkdir(exist_ok=True)
    with whole_file(path) as out:
        out.write(msgspec.json.encode(found))
    return path


def load(library: Library, topic: str) -> Analysis | None:
    """The analysis of a topic, if there is one."""
    path = analysis_path(library, topic)
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Analysis)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
        raise BadUse(f"{path} cannot be read ({error}): delete it and run `analecta analyse` again") from error
