"""What a person brings -> topics with their first URLs. Each kind of input has one reader, named here."""

from collections.abc import Callable
from pathlib import Path

from analecta.seed.reading import Reading
from analecta.seed.urls import read_urls

# The kinds of input that `analecta new` takes, by the name of the option: (file, name of the topic) -> what it says.
READERS: dict[str, Callable[[Path, str], Reading]] = {"seeds": read_urls}
