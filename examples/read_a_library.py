"""Prints the best pages of a library, topic by topic: `python examples/read_a_library.py LIB [TOPIC] [COUNT]`.

With a TOPIC, only the addresses are printed, one a line, which is what `analecta new --seeds` reads.
A library is a folder of SQLite files; reading never disturbs a crawl that is under way.
"""

import sys
from pathlib import Path

from analecta.publish.best import best
from analecta.store.library import Library


def main(folder: str, wanted: str = "", count: str = "5") -> None:
    library = Library(Path(folder))
    for number, name in enumerate(library.topic_names()):
        if wanted and name != wanted:
            continue
        pages = best(library, number, int(count))
        if wanted:
            print("\n".join(page.url for page in pages))
            continue
        print(f"{name}:")
        for page in pages:
            print(f"  {page.confidence:.2f}  {page.title or '(no title)'!r}  {page.url}")


if __name__ == "__main__":
    main(*sys.argv[1:])
