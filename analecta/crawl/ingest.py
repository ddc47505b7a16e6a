"""From answers to kept pages: judged, compared with what we have, archived and stored."""

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import xxhash

from analecta.crawl.late_documents import LateDocument
from analecta.crawl.outcomes import Settled
from analecta.crawl.page_judge import Bag, JudgedPage, PageJudge
from analecta.frontier.policy import LinkValue, host_of, is_off_topic
from analecta.frontier.traps import Hashes
from analecta.model import FoundBy, Lease, Page, Response, Tally, UrlState, Verdict, of_hidden
from analecta.parse import DOCUMENTS
from analecta.parse import UNREAD as TO_READ
from analecta.store.archive import OriginalRecord, payload_digest
from analecta.store.partition import NOARCHIVE, NOFOLLOW, NOINDEX, SOFT404, UNREAD, PageRecord
from analecta.store.recovery import Partition
from analecta.store.revisits import CHANGED, UNCHANGED, count_revisit
from analecta.store.schema import pack_text, packed_topics
from analecta.text.fingerprint import NearDuplicates, fingerprints
from analecta.text.tokens import LOOKED_AT, Words, excerpt, words


class KeptPage(msgspec.Struct):
    """A page that was archived and stored, as far as its links and the good name of its host are concerned."""

    seq: int
    lease: Lease
    page: Page
    verdict: Verdict
    value: LinkValue | None  # of its links; None where they are not followed
    score: float  # how sure the judge is of its topics that are not full
    bag: Bag | None = None  # its words by buckets, where a judge of links looks at them
    words: Hashes | None = None  # None: a document that was kept before and is read now
    twin: int = 0  # the page that stands for it
    twin_host: str = ""
    parent_url: str = ""  # of the page that it was found on, if it is in this partition
    is_fake: bool = False  # it is what its host answers for any page
    is_unread: bool = False  # a document that is still to be read (crawl/late_documents.py)
    fills_host: bool = False  # its host has given as many pages as it may

    @property
    def is_copy(self) -> bool:
        """Whether it is nothing new."""
        return self.twin != 0 or self.is_fake

    @property
    def counts(self) -> bool:
        """Whether its links are counted for its site: it has been read, and was not counted before."""
        is_new = self.words is None or not self.lease.page
        return is_new and not self.is_copy and not self.is_unread


class Ingest:
    """Keeps the pages of one partition."""

    def __init__(self, partition: Partition, page_judge: PageJudge, tally: Tally, pages_per_host: int = 0) -> None:
        self.partition, self.page_judge, self.focus = partition, page_judge, page_judge.focus
        self.tally, self.pages_per_host = tally, pages_per_host
        self.wall = time.time
        self.titles: deque[tuple[str, str, float]] = deque(maxlen=8)
        rows = np.array(partition.fingerprints().fetchall(), np.int64).reshape(-1, 2)
        self._twins = NearDuplicates.load(rows[:, 0], rows[:, 1])
        self._soft404 = partition.hosts.soft404s()

    def keep(self, settled: Settled) -> list[KeptPage]:
        """Keep a batch of pages."""
        for host, page in settled.soft_404:
            self._learn_soft404(host, page)
        fetches = [(fetch, fetch.page) for fetch in settled.pages if isinstance(fetch.page, Page)]
        if not fetches:
            return []
        pages = [page for _, page in fetches]
        cut, alike = self._compared(pages)
        unread = {i for i, page in enumerate(pages) if page.mime in DOCUMENTS and not page.text}
        judged = self.page_judge.judged(cut, [fetch.lease for fetch, _ in fetches], unread)
        kept = []
        for i, (fetch, page) in enumerate(fetches):
            assert isinstance(fetch.result, Response)
            self.partition.parsing(fetch.lease.id)
            one = judged[i]
            found, hidden = self._keep(fetch.lease, fetch.result, page, one, alike[i])
            if i not in unread:
                self.page_judge.remember(found.seq, fetch.lease.id, one, hidden)
            kept.append(found)
        self.partition.parsing(0)
        return kept

    def keep_late(self, read: Sequence[LateDocument]) -> list[KeptPage]:
        """Keep what documents hold that were kept unread."""
        kept = []
        for late in read:
            lease, page = late.lease, late.page
            if self.partition.unread_page(late.seq) is None:  # it was fetched again while it was read
                continue
            cut, (near,) = self._compared([page])
            twin = self._original(lease, near)
            one = self.page_judge.judged(cut, [lease], set() if page.text else {0})[0]
            fake = self._is_soft404(lease.host, page)
            hidden = fake or page.noindex or is_off_topic(lease)
            verdict = of_hidden(one.verdict, hidden)
            content = self._content(page, verdict, len(one.words))
            flags = _says(page) | SOFT404 * fake
            self.partition.set_read(late.seq, content | {"duplicate_of": twin or None}, flags)
            if twin:
                self.partition.set_copy(lease.id, twin)
                self.tally.elsewhere += 1
            if page.text:
                self.page_judge.remember(late.seq, lease.id, one.alone(), hidden)
            value = None if fake else self.focus.value(verdict, lease, bool(twin))
            score = self.focus.open(verdict).confidence
            kept.append(KeptPage(late.seq, lease, page, verdict, value, score, one.bag, twin=twin, is_fake=fake))
        return kept

    def _compared(self, pages: Sequence[Page]) -> tuple[Words, list[int | None]]:
        """The words of pages, and which page each nearly equals; they get their fingerprints."""
        cut = words([excerpt(page.text) for page in pages])
        prints = fingerprints(cut, [page.title for page in pages])
        for page, value in zip(pages, prints.tolist(), strict=True):
            page.simhash = value
        return cut, self._twins.sift(prints, np.array([page.id for page in pages], np.int64))

    def _keep(
        self, lease: Lease, answer: Response, page: Page, judged: JudgedPage, near: int | None
    ) -> tuple[KeptPage, bool]:
        """Archive and store a page; also, whether it is on no topic, whatever it says."""
        digest = payload_digest(answer.wire)
        body = int.from_bytes(xxhash.xxh3_64_digest(answer.body), signed=True)
        twin, original = self._twin(lease, body, near, digest)
        fake = self._is_soft404(lease.host, page)
        hidden = fake or page.noindex or is_off_topic(lease)
        verdict = of_hidden(judged.verdict, hidden)
        waits = page.limits == TO_READ and not twin
        # What is read later is read from its own record, so that has to be whole.
        place = self.partition.archive.write(answer, digest, None if waits else original)
        if page.limits == TO_READ and twin:
            page.limits = ""  # it is read where the other stands
        flags = _says(page) | SOFT404 * fake | UNREAD * waits
        record = PageRecord(
            id=lease.id, kept_at=self.wall(), fetched_at=answer.began, took=answer.took, status=answer.status,
            mime=page.mime, charset=page.charset or None, size=len(answer.body), digest=digest, body=body,
            duplicate_of=twin or None, flags=flags, truncated=_short(answer) or None, reserved=page.reserved or None,
            canonical=page.canonical or None, etag=answer.headers.get("etag"),
            modified=answer.headers.get("last-modified"), file=place.file, offset=place.offset, length=place.length,
            **self._content(page, verdict, len(judged.words)),
        )  # fmt: skip
        if lease.page:
            same = self.partition.standing(lease.page)[0] == digest
            count_revisit(self.partition.db, UNCHANGED if same else CHANGED)
        seq = self.partition.add_page(record, UrlState.ALIAS if twin else UrlState.DONE, twin, lease.page)
        self._count(page, verdict, bool(twin), fake)
        value = None if fake else self.focus.value(verdict, lease, bool(twin))
        score = self.focus.open(judged.verdict).confidence
        found = KeptPage(seq, lease, page, verdict, value, score, judged.bag, judged.words, twin)
        found.is_fake, found.is_unread = fake, waits
        found.twin_host = host_of(self.partition.url_of(twin)) if twin else ""
        if lease.found_by == FoundBy.LINK and not found.is_copy:
            found.parent_url = self.partition.url_of(lease.parent) or ""
        # A page that was asked for again is no further page of its host.
        if self.pages_per_host and not lease.page:
            found.fills_host = self.partition.hosts.add_page(lease.host) >= self.pages_per_host
        return found, hidden

    def _content(self, page: Page, verdict: Verdict, counted: int) -> dict[str, Any]:
        """What a page holds and what is said of it, as columns of its row; `counted`: words of its excerpt."""
        return {
            "title": page.title or None, "author": page.author or None, "date": page.date or None,
            "lang": page.lang or None, "limits": page.limits or None, "simhash": page.simhash,
            "words": _length(page.text, counted), "topic": verdict.topic, "confidence": verdict.confidence,
            "topics": packed_topics(verdict), "model": self.page_judge.model,
            "headings": "\n".join(page.headings) or None,
            "links": np.array([link.target.id for link in page.links], np.int64).tobytes() or None,
            "anchors": pack_text("\n".join([link.anchor for link in page.links])), "text": pack_text(page.text),
        }  # fmt: skip

    def _twin(self, lease: Lease, body: int, near: int | None, digest: str) -> tuple[int, OriginalRecord | None]:
        """The page that stands for this one, if it was seen before: the same to the byte, or nearly."""
        same = self.partition.page_with_body(body)
        if same is not None:
            id, url, date, known = same
            return id if id != lease.id else 0, OriginalRecord(url, date, known) if known == digest else None
        return self._original(lease, near), None

    def _original(self, lease: Lease, near: int | None) -> int:
        """The page that stands for a page and for the one that it nearly equals; 0 if that is the page itself."""
        if near is None:
            return 0
        original = self.partition.copy_of(near) or near
        return original if original != lease.id else 0

    def _count(self, page: Page, verdict: Verdict, is_twin: bool, is_fake: bool) -> None:
        tally = self.tally
        tally.pages += 1
        tally.elsewhere += is_twin
        if verdict.topic >= 0:
            tally.on_topic += 1
            tally.topics[verdict.topic] = tally.topics.get(verdict.topic, 0) + 1
            if not (is_twin or is_fake):
                topic = self.page_judge.topics[verdict.topic]
                self.titles.append((page.title or page.url, topic, verdict.confidence))

    def _learn_soft404(self, host: str, page: Page) -> None:
        """Remember how a host answers for a page that it does not have: its pages that look so are none (F25)."""
        value = int(fingerprints(words([excerpt(page.text)]), [page.title])[0])
        if value:  # an answer without words is like no page
            self._soft404[host] = value
            self.partition.set_soft404(host, value)

    def _is_soft404(self, host: str, page: Page) -> bool:
        """Whether a page looks as a host answers for what it does not have; 0 is like nothing."""
        known = self._soft404.get(host, 0)
        return known != 0 and page.simhash != 0 and (page.simhash ^ known).bit_count() <= 3


def _short(answer: Response) -> str:
    """Why a page is not whole; "" where it is. What is archived of it may be whole all the same."""
    return answer.truncated or ("length" if answer.cut else "")


def _length(text: str, counted: int) -> int:
    """How many words a text has, if `counted` are in its excerpt."""
    return counted if len(text) <= LOOKED_AT else round(counted * len(text) / LOOKED_AT)


def _says(page: Page) -> int:
    """What a page asks for, as flags of its row."""
    return NOINDEX * page.noindex | NOFOLLOW * page.nofollow | NOARCHIVE * page.noarchive
