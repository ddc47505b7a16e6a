"""From answers to kept pages: parsed, judged, compared with what we have, archived and stored."""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import xxhash
from isal import isal_zlib

from analecta.crawl.endings import Endings
from analecta.crawl.offers import Offers, Value
from analecta.frontier.policy import SEED_PRIORITY, Policy
from analecta.frontier.traps import shape
from analecta.model import Answer, Example, Fetched, Found, Lease, Page, State, Target, Verdict
from analecta.parse import Parser, ParserDied
from analecta.parse.fingerprint import NearDuplicates, fingerprints
from analecta.seams import Judge
from analecta.store.archive import Archive, Original, payload_digest
from analecta.store.shard import NOARCHIVE, NOFOLLOW, NOINDEX, SOFT404, Shard
from analecta.terms import Words, words

_SUSPECT = 3  # duplicates from one host that make us ask it for a page it cannot have


class Landed(msgspec.Struct):
    """A fetch that is over; a page that had to be parsed in a child comes along already parsed."""

    lease: Lease
    fetched: Fetched
    page: Page | ParserDied | None = None


class Pages:
    """Keeps the pages of one partition."""

    def __init__(
        self,
        *,
        shard: Shard,
        archive: Archive,
        parser: Parser,
        policy: Policy,
        twins: NearDuplicates,
        endings: Endings,
        offers: Offers,
        topics: Sequence[str],
        suspect: Callable[[int], None],
        tries: int = 3,
        pages_per_host: int = 0,
        follow_duplicates: bool = True,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`suspect(id)` is told which URL is being worked on, so that a crash can be laid at its door."""
        self.shard = shard
        self.archive = archive
        self.parser = parser
        self.policy = policy
        self.twins = twins
        self.endings = endings
        self.offers = offers
        self.topics = topics
        self.suspect = suspect
        self.tries = tries
        self.pages_per_host = pages_per_host
        self.follow_duplicates = follow_duplicates
        self.wall = wall
        self.judge: Judge | None = None
        self.model = ""
        self.tally = endings.tally
        self.titles: deque[tuple[str, str, float]] = deque(maxlen=8)
        self._alike: Counter[str] = Counter()  # duplicates by host
        self._soft404 = shard.soft404s()

    def take(self, batch: Sequence[Landed]) -> None:
        """Keep a batch of pages and offer their links."""
        parsed = [(landed.lease, landed.fetched, page) for landed in batch if (page := self._parse(landed))]
        if not parsed:
            return
        pages = [page for _, _, page in parsed]
        cut = words([page.text for page in pages])
        lengths = np.diff(cut.starts).tolist()
        prints = fingerprints(cut, [page.title for page in pages])
        alike = self.twins.sift(prints, np.array([page.id for page in pages], np.int64))
        for page, value in zip(pages, prints.tolist(), strict=True):
            page.simhash = value
        verdicts = self._verdicts(pages, cut, [lease for lease, _, _ in parsed])
        open_pages = []
        for (lease, answer, page), verdict, length, near in zip(parsed, verdicts, lengths, alike, strict=True):
            assert isinstance(answer, Answer)
            self.suspect(lease.id)
            if (value := self._keep(lease, answer, page, verdict, length, near)) is not None:
                open_pages.append((lease, page, value))
        self.suspect(0)
        self.offers.follow(open_pages)

    def _parse(self, landed: Landed) -> Page | None:
        lease, answer, page = landed.lease, landed.fetched, landed.page
        assert isinstance(answer, Answer)
        if page is None:
            self.suspect(lease.id)
            try:
                page = self.parser(answer, Target(lease.url, lease.id, lease.host), heavy=False)
            except ParserDied as died:
                page = died
        if isinstance(page, ParserDied):
            self.archive.write(answer)
            if lease.tries < self.tries:
                self.endings.again(lease, "parser", str(page))
            else:
                self.endings.end(lease, State.FAILED, "poison", str(page))
            return None
        return page

    def _verdicts(self, pages: Sequence[Page], cut: Words, leases: Sequence[Lease]) -> list[Verdict]:
        """The judge's verdicts; before there is one, examples stand for their topic by definition."""
        if self.judge is None:
            return [Verdict(lease.topic, 1.0, ((lease.topic, 1.0),)) for lease in leases]
        return self.judge.judge_words(cut)

    def _keep(
        self, lease: Lease, answer: Answer, page: Page, verdict: Verdict, length: int, near: int | None
    ) -> Value | None:
        """Archive and store a page; what its links are worth, or None where they are not followed."""
        digest = payload_digest(answer.wire)
        body = _hash(answer.body)
        twin, original = self._twin(lease, body, near, digest)
        soft404 = self._soft404.get(lease.host)
        fake = soft404 is not None and (page.simhash ^ soft404).bit_count() <= 3
        if fake or page.noindex:
            verdict = Verdict(-1, verdict.confidence)
        place = self.archive.write(answer, digest, original)
        flags = NOINDEX * page.noindex | NOFOLLOW * page.nofollow | NOARCHIVE * page.noarchive | SOFT404 * fake
        row = (
            lease.id, self.wall(), answer.began, answer.took, answer.status, page.mime, page.charset or None,
            page.lang or None, page.title or None, len(answer.body), digest, body, page.simhash, length,
            twin or None, flags, page.limits or None, answer.truncated or None, page.reserved or None,
            page.canonical or None, answer.headers.get("etag"), answer.headers.get("last-modified"), place.file,
            place.offset, place.length, verdict.topic, verdict.confidence, _pack_topics(verdict), self.model,
            "\n".join(page.headings) or None, _pack_ids(page), _pack_text("\n".join(_anchors(page))),
            _pack_text(page.text),
        )  # fmt: skip
        self.shard.add_page(row, State.ELSEWHERE if twin else State.DONE, twin, lease.page)
        self._count(lease, page, verdict, bool(twin), fake)
        if fake or (twin and not self.follow_duplicates):
            return None
        worth = self.policy.value(verdict, lease)
        if worth is None:
            return None
        priority, astray = worth
        topic = verdict.topic if verdict.topic >= 0 else lease.topic
        return Value(priority * (self.policy.decay if twin else 1.0), astray, topic, verdict.topic >= 0)

    def _twin(self, lease: Lease, body: int, near: int | None, digest: str) -> tuple[int, Original | None]:
        """The page that stands for this one, if it was seen before: the same to the byte, or nearly."""
        same = self.shard.page_with_body(body)
        if same is not None:
            id, url, date, known = same
            return id if id != lease.id else 0, Original(url, date, known) if known == digest else None
        return (near, None) if near is not None and near != lease.id else (0, None)

    def _count(self, lease: Lease, page: Page, verdict: Verdict, twin: bool, fake: bool) -> None:
        tally = self.tally
        tally.pages += 1
        tally.elsewhere += twin
        alike = twin or fake
        if verdict.topic >= 0:
            tally.on_topic += 1
            tally.topics[verdict.topic] = tally.topics.get(verdict.topic, 0) + 1
            if not alike:
                self.titles.append((page.title or page.url, self.topics[verdict.topic], verdict.confidence))
        self.offers.traps.note(lease.url, not alike and (verdict.topic >= 0 or not self._breeds(lease)))
        if alike:
            self._alike[lease.host] += 1
            if self._alike[lease.host] == _SUSPECT:
                self.offers.probe(lease)
        if self.pages_per_host and self.shard.add_host_page(lease.host) >= self.pages_per_host:
            self.offers.frontier.give_up(lease.host, State.REFUSED, "host-full")

    def _breeds(self, lease: Lease) -> bool:
        """Whether a page was found on a page of its own shape, as the next month is on a calendar."""
        form = shape(lease.url)
        if form == lease.url or lease.found != Found.LINK:
            return False
        return form == shape(self.shard.url_of(lease.parent) or "")

    def learn_soft404(self, host: str, answer: Answer, target: Target) -> None:
        """Remember how a host answers for a page that it does not have: its pages that look so are none (F25)."""
        page = self.parser(answer, target)
        self._soft404[host] = int(fingerprints(words([page.text]), [page.title])[0])
        self.shard.set_soft404(host, self._soft404[host])

    def take_up(self, judge: Judge, model: str) -> None:
        """Judge with this model from now on; pages that were kept before there was one are judged now."""
        self.judge, self.model = judge, model
        rows = self.shard.unjudged()
        for start in range(0, len(rows), 16):
            part = rows[start : start + 16]
            verdicts = judge.judge_words(words([unpack_text(text) for _, text in part]))
            for (seq, _), verdict in zip(part, verdicts, strict=True):
                self.shard.set_verdict(seq, verdict.topic, verdict.confidence, _pack_topics(verdict), model)

    def examples(self) -> list[Example]:
        """The pages that a person gave (or where such pages have moved), to learn from."""
        rows = self.shard.examples(SEED_PRIORITY)
        return [Example(topic, url, unpack_text(text)) for topic, url, text in rows]


def _hash(data: bytes) -> int:
    digest = xxhash.xxh3_64_intdigest(data)
    return digest - (1 << 64) if digest >= 1 << 63 else digest


def _pack_ids(page: Page) -> bytes | None:
    return np.array([link.target.id for link in page.links], np.int64).tobytes() or None


def _anchors(page: Page) -> list[str]:
    return [link.anchor for link in page.links]


def _pack_text(text: str) -> bytes | None:
    packed: bytes = isal_zlib.compress(text.encode(), 0)  # a sixth larger than level 1, in half the time
    return packed if text else None


def unpack_text(packed: bytes | None) -> str:
    """The text that a page row holds."""
    return isal_zlib.decompress(packed).decode() if packed else ""


def _pack_topics(verdict: Verdict) -> bytes | None:
    return msgspec.msgpack.encode(verdict.topics) if len(verdict.topics) > 1 else None
