"""Repairs what a check found, where there is a good copy or a way to make one; tells what it did."""

import contextlib
import time
from collections.abc import Mapping
from pathlib import Path

from analecta.judge.model_files import damaged_models
from analecta.publish.oai.verify import write_again, wrong_records
from analecta.search.update import changed_files, sync
from analecta.store import shard_ids
from analecta.store.checksums import changed_pages
from analecta.store.library import LibraryFolder
from analecta.store.migrations import backups
from analecta.store.partition import Shard
from analecta.store.repair import (
    read_changed_again,
    rebuild_shard,
    reindexed,
    repair_archive,
    repair_rows,
    salvage,
)
from analecta.store.schema import LIBRARY_SQL, MetaKey
from analecta.store.sqlite import has_table, looking, readable, remake_indexes
from analecta.store.verify import CheckPart, is_sound
from analecta.store.warc_scan import set_aside

_ASIDE = "quarantine"  # in the folder of what was put aside


def repair_library_db(folder: Path) -> list[str]:
    """Make library.db usable again, before anything else can be looked at; what was done."""
    path = folder / "library.db"
    if not path.exists() or is_sound(path):
        return []
    if path.stat().st_size and reindexed(path):
        return ["library.db: its indexes were rebuilt"]
    rows = salvage(path, LIBRARY_SQL, folder / _ASIDE)
    shard_ids.restore_list(folder)
    return [f"library.db: rebuilt with {rows:,} rows saved; the old file is in {_ASIDE}/"]


def repair_shards(library: LibraryFolder) -> list[str]:
    """Rebuild shards that are lost or damaged; what was done."""
    lost = shard_ids.lost(library.folder)
    shards = [library.shard_path(n) for n in range(library.partitions)]
    bad = [path.name for path in shards if path.name in lost or (path.exists() and not is_sound(path))]
    return [rebuild_shard(library.folder, name) for name in bad]


def repair(library: LibraryFolder, parts: Mapping[str, CheckPart]) -> list[str]:
    """Put right what the steps found; the caller holds the library. What was done, a sentence each."""
    done: list[str] = []
    topics = len(library.topic_names())
    for path in map(library.shard_path, range(library.partitions)):
        done += _repair_shard(library, path, parts, topics)
    done += _reseal(library.folder / "library.db")
    return done + _backups(library) + _models(library) + _index(library) + _oai(library)


def _repair_shard(library: LibraryFolder, path: Path, parts: Mapping[str, CheckPart], topics: int) -> list[str]:
    own = [part for name, part in parts.items() if name.startswith(f"{path.stem}-") or name.endswith(path.name)]
    if not any(part.kinds for part in own):
        return []
    changed = changed_pages(path) or []
    before = sum(kind.count for part in own for kind in part.kinds.values())
    with contextlib.closing(Shard(path)) as shard:
        shard.db.text_factory = readable
        if changed:
            read_changed_again(shard, library.archive, changed)
        repair_archive(shard, library.archive, [damage for part in own for damage in part.damages])
        repair_rows(shard, topics, library.archive)
        shard.commit()
    return [f"{path.name}: repaired {before:,} finding{'' if before == 1 else 's'} in its rows and archive files"]


def _reseal(path: Path) -> list[str]:
    """A database of which a byte has changed and in which nothing else is wrong: its indexes are made again."""
    if not (changed := changed_pages(path)):
        return []
    remake_indexes(path)
    pages = ", ".join(map(str, changed[:5]))
    what = "its indexes were rebuilt. Values in its rows cannot be checked: compare with a copy if you have one"
    return [f"{path.name}: page {pages} had changed; {what}"]


def _backups(library: LibraryFolder) -> list[str]:
    bad = [path for path in backups(library.folder) if not is_sound(path)]
    return [f"backup {path.name}: put into {set_aside(path, library.folder / _ASIDE).parent.name}/" for path in bad]


def _models(library: LibraryFolder) -> list[str]:
    done = []
    for name, fault in list(damaged_models(library.models)):
        if fault:
            for path in library.models.glob(f"{name}.*"):
                set_aside(path, library.models / _ASIDE)
            done.append(f"model {name}: its files were put into models/{_ASIDE}")
    named = str(library.get(MetaKey.MODEL, ""))
    if named and not (library.models / f"{named}.json").exists() and library.get(MetaKey.TAUGHT):
        library.put(MetaKey.TAUGHT, "")
        done.append("the model in use is gone: the next crawl learns it again, as does `analecta retrain`")
    return done


def _index(library: LibraryFolder) -> list[str]:
    if not changed_files(library):
        return []
    pages = sync(library, rebuild=True).pages
    return [f"the search index was rebuilt with {pages:,} pages"]


def _oai(library: LibraryFolder) -> list[str]:
    path = library.folder / "oai.db"
    if not path.exists():
        return []
    done = _reseal(path) if is_sound(path) else []
    if not is_sound(path) and not reindexed(path):
        rows = salvage(path, "", library.folder / _ASIDE)
        done.append(f"oai.db: rebuilt with {rows:,} rows saved; the old file is in {_ASIDE}/")
    with looking(path) as db:
        wrong = [id for id, _, bad in wrong_records(library, db) if bad] if has_table(db, "records") else []
    if wrong or done:
        write_again(library, time.time(), wrong)
        done.append(f"{len(wrong):,} OAI records were written again")
    return done
