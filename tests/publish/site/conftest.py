import shutil
import sqlite3
from contextlib import closing

import pytest

from analecta.publish.site import publish
from analecta.publish.site.content import SiteOptions
from analecta.store.archive import Archive
from analecta.store.library import LibraryFolder
from analecta.store.partition import NOARCHIVE
from analecta.views.collections import collections
from tests.making import answer

BASE = "https://example.org/library/"
HIT = "window.hit = 1"
TITLES = [
    f"<script>{HIT}</script>",
    f'"><img src=x onerror="{HIT}">',
    f"</title></h3><script>{HIT}</script>",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "invoice \u202egpj.exe",
    "NUL \x00 and \x1b[31m and \ufffe",
    f"]]></script><!-- --><svg onload='{HIT}'>",
    f"' onmouseover='{HIT}",
    "javascript:alert(1)",
    "養蜂の道具と蜂蜜",
    "العسل الطبيعي",
]
EVIL = f"""<!doctype html><html><head><base href="http://elsewhere.test/dir/"><title>x</title>
<meta http-equiv="refresh" content="0;url=http://leak.test/refresh"><link rel="preconnect" href="http://leak.test/">
<link rel="stylesheet" href="http://leak.test/a.css"><style>@import "http://leak.test/b.css";</style>
<script>{HIT}</script><script src="http://leak.test/a.js"></script></head>
<body onload="{HIT}" background="http://leak.test/c.png" style="background: url(http://leak.test/d.png)">
<h1>Honest words &lt;script&gt;</h1>
<img src="http://leak.test/e.png" srcset="http://leak.test/f.png 2x" alt="a picture">
<a href="javascript:{HIT}">bad</a> <a href="page.html" ping="http://leak.test/ping">good</a>
<form action="http://leak.test/g"><input name="q"></form><iframe src="http://leak.test/h"></iframe>
<object data="http://leak.test/i"></object><svg><script>{HIT}</script><image href="http://leak.test/j"/></svg>
<video src="http://leak.test/k" poster="http://leak.test/l"></video></body></html>""".encode()


@pytest.fixture(scope="session")
def published(grown, tmp_path_factory):
    """The site of the pocket library."""
    folder = tmp_path_factory.mktemp("site") / "site"
    publish(grown, folder, SiteOptions(title="Pocket library", base_url=BASE, most=12))
    return folder


@pytest.fixture(scope="session")
def hostile(grown, tmp_path_factory):
    """A library whose best pages have hostile titles, and one of them a hostile body; its site is beside it."""
    library = LibraryFolder(shutil.copytree(grown.folder, tmp_path_factory.mktemp("hostile") / "lib"))
    best = [ranked.item for ranked in collections(library)[0].items]
    for item, title in zip(best, TITLES, strict=False):
        change(library, item.shard, "UPDATE pages SET title = ?, author = ? WHERE seq = ?", title, title, item.seq)
        change(library, item.shard, "UPDATE urls SET anchor = ?, context = ? WHERE id = ?", title, title, item.id)
    archive = Archive(library.archive, "evil")
    place = archive.write(answer(best[0].url, EVIL))
    archive.close()
    change(library, best[0].shard, "INSERT INTO files VALUES (99, ?, 0)", archive.path(0).name)
    where = (99, place.offset, place.length, best[0].seq)
    change(library, best[0].shard, "UPDATE pages SET file = ?, offset = ?, length = ? WHERE seq = ?", *where)
    change(library, best[1].shard, "UPDATE pages SET flags = ? WHERE seq = ?", NOARCHIVE, best[1].seq)
    publish(library, library.folder.parent / "site", SiteOptions(most=15))
    return library


def change(library, shard, query, *values):
    """Change a row of a partition."""
    with closing(sqlite3.connect(library.shard_path(shard))) as db, db:
        db.execute(query, values)


def best_of(library, topic=0):
    """The items of a topic's collection, best first."""
    return [ranked.item for ranked in collections(library)[topic].items]
