"""Prints the best pages of a library, topic by topic: `python examples/read_a_library.py LIB [TOPIC] [COUNT]`.

With a TOPIC, only the addresses are printed, one a line, which is what `analecta new --seeds` reads.
A library is a folder of SQLite files; reading never disturbs a crawl that is under way.
"""

import sys
from pathlib import Path

from analecta.store.library import LibraryFolder
from analecta.views.collections import collections


def main(folder: str, wanted: str = "", count: str = "5") -> None:
    library = LibraryFolder(Path(folder))
    for collection in collections(library, [wanted] if wanted else None, int(count)):
        if wanted:
            print("\n".join(ranked.item.url for ranked in collection.items))
            continue
        print(f"{collection.topic}:")
        for ranked in collection.items:
            print(f"  {ranked.confidence:.2f}  {ranked.item.title or '(no title)'!r}  {ranked.item.url}")


if __name__ == "__main__":
    main(*sys.argv[1:])
