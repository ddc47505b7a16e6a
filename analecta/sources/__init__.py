"""What a person brings -> topics with their first URLs. Each kind of input has one reader, named here."""

from collections.abc import Callable
from pathlib import Path

from analecta.sources.bookmarks import read_bookmarks
from analecta.sources.folder import read_examples
from analecta.sources.lists import read_feed, read_sites, read_urls
from analecta.sources.outline import read_outline
from analecta.sources.result import SourceResult

# The kinds of input that `analecta new` and `add` take, by the name of the option: (file, name of the topic for what
# stands below no name of its own) -> what it says.
SOURCES: dict[str, Callable[[Path, str], SourceResult]] = {
    "seeds": read_urls,
    "examples": read_examples,  # of a folder
    "bookmarks": read_bookmarks,
    "outline": read_outline,
    "feed": read_feed,
    "sites": read_sites,
}
