"""Why a URL is in, out, refused, failed, waiting, or was never seen; gathered here, told by cli/explain.py."""

import re
from collections.abc import Container, Iterator, Sequence

import msgspec

from analecta.errors import AnalectaError, UsageError
from analecta.judge import JUDGES
from analecta.judge.page_kinds import kind_of
from analecta.model import Page, UrlRef, UrlState
from analecta.settings.load import load
from analecta.store.archive import CERTIFICATE, RecordPlace, read_field
from analecta.store.library import LibraryFolder
from analecta.store.library_db import DROP, GOOD, learnt, said
from analecta.store.links import Inlinks
from analecta.store.rows import StoredPage, UrlRow
from analecta.store.schema import MetaKey
from analecta.store.snapshot import Snapshot
from analecta.text.display import iso
from analecta.urls import canonical
from analecta.views.reasons import sentence
from analecta.views.rows import FLAGS, name_of_topic, row_of

_MOST_LISTED = 20
_TERMS = 10


class PathStep(msgspec.Struct, frozen=True):
    """A URL on the way from a seed: how it was come by, and the words of the link to it."""

    url: str
    found: str
    state: str
    anchor: str


class JudgeModel(msgspec.Struct, frozen=True):
    """The model that judged a page; without a kind where the library does not know it any more."""

    hash: str
    kind: str = ""
    made_at: str = ""
    about: str = ""  # what it learnt from, in words
    current: bool = False


class StoredUrl(msgspec.Struct, frozen=True):
    """What was kept of a URL, and what the judge said."""

    title: str
    status: int
    mime: str
    lang: str
    author: str
    date: str
    fetched_at: str
    topic: str
    confidence: float | None
    model: JudgeModel | None
    terms: list[tuple[str, float]]
    flags: list[str]
    kind: str  # where it is of one that makes a poor item
    words: int
    limits: str
    truncated: str
    warc_file: str
    warc_offset: int | None
    warc_length: int | None
    certificate: str = ""  # where it was not checked, because a person allowed that


class Explanation(msgspec.Struct):
    """All that the library knows of a URL."""

    url: str
    state: str = "unknown"
    reason: str = ""
    why: str = ""
    detail: str = ""
    host: str = ""
    host_delay: float = 0.0  # seconds that its robots.txt asks for between two requests
    host_waits_until: str = ""  # the host asked us to wait, or did not answer
    crawling: bool = False
    topic: str = ""  # of the path that led here; the page's own is in `page`
    priority: float | None = None
    depth: int | None = None
    astray: int | None = None
    tries: int = 0
    chain: list[PathStep] = []
    stands_elsewhere: list[str] = []  # the URLs after it, up to the one that stands for it
    stands_for: list[str] = []  # redirects and copies for which it stands
    linked: Inlinks = Inlinks()
    context: str = ""  # the words around the link that it was found by
    ahead: int | None = None  # of those that wait, how many have a higher priority
    waiting: int | None = None
    similar: list[str] = []
    page: StoredUrl | None = None
    said: list[str] = []  # feedback on the page: good, bad or drop, the topic, why
    as_said: bool = False  # its topic, or that it has none, is what a person said and not what the judge thinks
    not_yet: bool = False  # a person said otherwise, and nothing has learnt from it yet
    to_begin: bool = False  # never asked for, and the settings name it as a page to begin at


def explain(library: LibraryFolder, url: str) -> Explanation:
    """What the library knows of a URL, given in any form."""
    target = canonical(url if re.match(r"(?i)https?:|[a-z][a-z0-9+.-]*://", url) else f"https://{url}")
    if target is None:
        raise UsageError(f"{url!r} is not an http or https URL")
    with library.snapshot() as snapshot:
        topics = snapshot.topic_names()
        found = snapshot.url(target.id)
        if found is None:
            return _never_seen(target, snapshot, topics, _to_begin(library))
        told = _of_url(found, snapshot, topics)
        told.crawling = bool(library.holder())
        told.page = _kept(library, snapshot, found, topics)
        _add_words(told, library, found.id)
        if found.state == UrlState.QUEUED:
            told.ahead, told.waiting = snapshot.queue_position(found.priority)
    return told


def _add_words(told: Explanation, library: LibraryFolder, page: int) -> None:
    """What a person said of the page, and whether it stands as the last of it has it."""
    words = [word for word in said(library) if word.page == page]
    told.said = [f"{word.says} {word.topic} {word.note}".strip() for word in words]
    if not words or told.page is None or words[-1].says == DROP:
        return
    last, topic = words[-1], told.page.topic
    if last.says == GOOD:
        heard = topic == last.topic
        told.as_said = heard and told.page.confidence == 1  # as a person's word makes it
    else:
        heard = topic != last.topic if last.topic else not topic
        told.as_said = not topic
    told.not_yet = not heard and not learnt(library)


def _never_seen(target: UrlRef, snapshot: Snapshot, topics: Sequence[str], begin: Container[int]) -> Explanation:
    similar = [found.url for other in _other_forms(target.url) if (found := snapshot.url(other.id))]
    links = snapshot.inlinks([target.id], topics)
    return Explanation(target.url, host=target.host, linked=links, similar=similar, to_begin=target.id in begin)


def _to_begin(library: LibraryFolder) -> set[int]:
    """The pages that the settings name to begin at."""
    settings = load(library.settings_path)
    named = [*settings.others.seeds, *(url for topic in settings.topics for url in (*topic.seeds, *topic.starts))]
    return {target.id for url in named if (target := canonical(url))}


def _other_forms(url: str) -> Iterator[UrlRef]:
    """How the same page might be written: with www or without, with a slash at the end or without, without query."""
    scheme, _, rest = url.partition("://")
    www = rest.removeprefix("www.") if rest.startswith("www.") else f"www.{rest}"
    path = rest.partition("?")[0]
    slash = path.rstrip("/") if path.count("/") > 1 and path.endswith("/") else f"{path}/"
    for form in dict.fromkeys((www, slash, path)):
        if form != rest and (target := canonical(f"{scheme}://{form}")):
            yield target


def _of_url(found: UrlRow, snapshot: Snapshot, topics: Sequence[str]) -> Explanation:
    chain = snapshot.path(found)
    delay, waits_until = snapshot.host(found.host)
    others = snapshot.aliases(found.id, _MOST_LISTED)
    return Explanation(
        state=found.state.word,
        why=sentence(found.reason) if found.reason else "",
        host_delay=delay,
        host_waits_until=iso(waits_until) if waits_until else "",
        topic=name_of_topic(topics, found.topic),
        chain=[PathStep(step.url, step.found.name.lower(), step.state.word, step.anchor) for step in chain],
        stands_elsewhere=[after.url for after in snapshot.resolve(found.id)[1:]],
        stands_for=[url for _, url in others],
        linked=snapshot.inlinks([found.id, *(id for id, _ in others)], topics),
        **row_of(("url", "reason", "detail", "host", "priority", "depth", "astray", "tries", "context"), found),
    )


def _kept(library: LibraryFolder, snapshot: Snapshot, found: UrlRow, topics: Sequence[str]) -> StoredUrl | None:
    if (stored := snapshot.stored_page(found.id)) is None:
        return None
    row, text = stored
    made_by = _model(library, snapshot, row.model) if row.model else None
    page = Page(found.url, found.id, found.host, row.mime, title=row.title, text=text)
    fields = row_of(
        StoredUrl.__struct_fields__,
        row,
        fetched_at=iso(row.fetched_at),
        topic=name_of_topic(topics, row.topic),
        model=made_by,
        terms=_terms(library, made_by, page) if made_by else [],
        flags=[name for name, bit in FLAGS.items() if row.flags & bit],
        kind=kind_of(page)[0],
        words=row.words or 0,
        warc_file=f"archive/{row.warc}" if row.warc else "",
        warc_offset=row.offset,
        warc_length=row.length,
        certificate=_certificate(library, found.url, row),
    )
    return StoredUrl(**fields)


def _certificate(library: LibraryFolder, url: str, row: StoredPage) -> str:
    """What the archived record says of the server's certificate."""
    if not row.warc or not url.startswith("https:"):
        return ""
    assert row.offset is not None
    assert row.length is not None
    return read_field(library.archive / row.warc, RecordPlace(0, row.offset, row.length), CERTIFICATE)


def _model(library: LibraryFolder, snapshot: Snapshot, hash: str) -> JudgeModel:
    if (found := snapshot.model(hash)) is None:
        return JudgeModel(hash)
    return JudgeModel(hash, found.kind, iso(found.made_at), found.about, hash == library.get(MetaKey.MODEL))


def _terms(library: LibraryFolder, model: JudgeModel, page: Page) -> list[tuple[str, float]]:
    """The terms that made a verdict, heaviest first; none where the model's file is gone."""
    if model.kind not in JUDGES:
        return []
    try:
        judge = JUDGES[model.kind].load(library.models, model.hash)
    except AnalectaError:
        return []
    return judge.explain(page)[:_TERMS]
