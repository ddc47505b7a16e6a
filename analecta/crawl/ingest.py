"""From answers to kept pages: parsed, judged, compared with what we have, archived and stored."""

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
import xxhash

from analecta.crawl.discovery import Offers, Open
from analecta.crawl.late_documents import Late
from analecta.crawl.page_judge import Bag, Memory, Remembered, apart, review
from analecta.crawl.url_outcomes import Endings
from analecta.frontier.mirrors import sighting
from analecta.frontier.policy import SEED_PRIORITY, Course, Focus, Value, host_of, is_off_topic
from analecta.frontier.traps import Hashes, Outcome
from analecta.frontier.url_forms import is_kin, kind_of
from analecta.model import OTHERS, Answer, Fetched, Found, Lease, Link, Page, State, Target, Verdict
from analecta.parse import DOCUMENTS, Parser, ParserDied
from analecta.parse import UNREAD as TO_READ
from analecta.protocols import Judge
from analecta.store.archive import Archive, Original, payload_digest
from analecta.store.partition import NOARCHIVE, NOFOLLOW, NOINDEX, SOFT404, UNREAD, Shard
from analecta.store.revisits import CHANGED, UNCHANGED, count_revisit
from analecta.store.schema import pack_text, unpack_text
from analecta.store.sites import SiteCount
from analecta.store.urls import sources
from analecta.text.fingerprint import NearDuplicates, fingerprints
from analecta.text.tokens import LOOKED_AT, Words, excerpt, words

_FRONT = 1.0  # the priority of links of the best hubs
_STRAIGHT_ON = msgspec.msgpack.encode(Course())
_LINK = 100  # characters that are judged in the time that a link takes
_SUSPECT = 3  # duplicates from one host that make us ask it for a page it cannot have


class Landed(msgspec.Struct):
    """A fetch that is over; what is a page has been parsed, here or in a child."""

    lease: Lease
    fetched: Fetched
    page: Page | ParserDied | None = None

    @property
    def work(self) -> int:
        """How much there is still to do with it: characters to judge, and links that take as long as so many."""
        page = self.page
        return min(len(page.text), LOOKED_AT) + _LINK * len(page.links) if isinstance(page, Page) else 0


class Pages:
    """Keeps the pages of one partition."""

    def __init__(
        self,
        *,
        shard: Shard,
        archive: Archive,
        parser: Parser,
        focus: Focus,
        twins: NearDuplicates,
        endings: Endings,
        offers: Offers,
        memory: Memory,
        count: SiteCount,
        topics: Sequence[str],
        suspect: Callable[[int], None],
        unread: Callable[[int], None] = lambda _: None,
        tries: int = 3,
        pages_per_host: int = 0,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`suspect(id)` is told which URL is being worked on, so that a crash can be laid at its door.

        `unread(seq)` is told which rows are documents that are still to be read (crawl/late_documents.py).
        """
        self.shard = shard
        self.archive = archive
        self.parser = parser
        self.focus = focus
        self.twins = twins
        self.endings = endings
        self.offers = offers
        self.memory = memory
        self.count = count
        self.topics = topics
        self.suspect = suspect
        self.unread = unread
        self.tries = tries
        self.pages_per_host = pages_per_host
        self.wall = wall
        self.judge: Judge | None = None
        self.model = ""
        self.tally = endings.tally
        self.titles: deque[tuple[str, str, float]] = deque(maxlen=8)
        self._alike: Counter[str] = Counter()  # duplicates by host
        self._soft404 = shard.hosts.soft404s()
        self._counted: list[tuple[Lease, list[Link]]] = []  # pages of the batch whose links count
        self._outcomes: list[tuple[int, Outcome]] = []  # of the batch, for the traps
        self._valued_by = msgspec.msgpack.decode(shard.get("course", _STRAIGHT_ON), type=Course)
        self.focus.turn(self._valued_by)

    def take(self, batch: Sequence[Landed]) -> None:
        """Keep a batch of pages and offer their links."""
        parsed = [(landed.lease, landed.fetched, page) for landed in batch if (page := self._parsed(landed))]
        if not parsed:
            return
        pages = [page for _, _, page in parsed]
        texts = [excerpt(page.text) for page in pages]
        cut = words(texts)
        prints = fingerprints(cut, [page.title for page in pages], texts)
        alike = self.twins.sift(prints, np.array([page.id for page in pages], np.int64))
        for page, value in zip(pages, prints.tolist(), strict=True):
            page.simhash = value
        anchors, neighbours = self._views([lease for lease, _, _ in parsed])
        verdicts = self._verdicts(cut, [lease for lease, _, _ in parsed], anchors, neighbours)
        unread = {i for i, page in enumerate(pages) if page.mime in DOCUMENTS and not page.text}
        for i in unread:
            verdicts[i] = self._parents(parsed[i][0])
        own, bags = apart(cut), self._bags(cut)
        said, around = (apart(view) if view else [own[0][:0]] * len(own) for view in (anchors, neighbours))
        open_pages = []
        for i, ((lease, answer, page), verdict) in enumerate(zip(parsed, verdicts, strict=True)):
            assert isinstance(answer, Answer)
            self.suspect(lease.id)
            seq, hidden, value = self._keep(lease, answer, page, verdict, own[i], alike[i])
            if i not in unread:
                self.memory.pages.append(Remembered(seq, lease.id, own[i], said[i], around[i], hidden, bags[i]))
            if value is not None:
                open_pages.append(_open(lease, page, value, self.focus.open(verdict), bags[i]))
        self.suspect(0)
        self.count.add(self._counted)
        self._counted.clear()
        self.offers.follow(open_pages)
        self._tell_traps()

    def take_late(self, read: Sequence[Late]) -> None:
        """Keep what documents hold that were kept unread, and offer their links."""
        for late in read:
            lease, page = late.lease, late.page
            text = excerpt(page.text)
            cut = words([text])
            own, bag = apart(cut)[0], self._bags(cut)[0]
            page.simhash = int(fingerprints(cut, [page.title], [text])[0])
            verdict = self._verdicts(cut, [lease], *self._views([lease]))[0] if page.text else self._parents(lease)
            hidden = page.noindex or is_off_topic(lease)
            verdict = _of(verdict, hidden)
            self.shard.set_read(late.seq, {
                "title": page.title or None, "author": page.author or None, "date": page.date or None,
                "lang": page.lang or None, "limits": page.limits or None, "simhash": page.simhash,
                "words": _length(page.text, len(own)),
                "topic": verdict.topic, "confidence": verdict.confidence, "topics": _pack_topics(verdict),
                "model": self.model, "headings": "\n".join(page.headings) or None, "links": _pack_ids(page),
                "anchors": pack_text("\n".join(_anchors(page))), "text": pack_text(page.text),
            }, _says(page))  # fmt: skip
            self.count.add([(lease, page.links)])
            if page.text:
                self.memory.pages.append(Remembered(late.seq, lease.id, own, hidden=hidden, bag=bag))
            value = self.focus.value(verdict, lease, False)
            if value is not None:
                self.offers.follow([_open(lease, page, value, self.focus.open(verdict), bag)])

    def parse(self, lease: Lease, answer: Answer) -> Page | ParserDied:
        """Parse a page that is not heavy, here and now."""
        self.suspect(lease.id)
        try:
            return self.parser(answer, Target(lease.url, lease.id, lease.host), heavy=False)
        except ParserDied as died:
            return died
        finally:
            self.suspect(0)

    def _parsed(self, landed: Landed) -> Page | None:
        """The page of an answer; one that broke the parser is archived, and tried again or given up."""
        lease, answer = landed.lease, landed.fetched
        assert isinstance(answer, Answer)
        page = landed.page or self.parse(lease, answer)
        if isinstance(page, ParserDied):
            self.archive.write(answer)
            if lease.tries < self.tries:
                self.endings.again(lease, "parser", str(page))
            else:
                self.endings.end(lease, State.FAILED, "poison", str(page))
            return None
        return page

    def _verdicts(
        self, cut: Words, leases: Sequence[Lease], anchors: Words | None, neighbours: Words | None
    ) -> list[Verdict]:
        """The judge's verdicts; before there is one, examples stand for their topic by definition."""
        if self.judge is None:
            return [Verdict(t, 1.0, ((t, 1.0),)) if (t := lease.topic) >= 0 else Verdict() for lease in leases]
        return self.judge.judge_words(cut, anchors, neighbours)

    def _bags(self, cut: Words) -> Sequence[Bag | None]:
        """The words of each page by buckets, where a judge of links looks at them."""
        return cut.bags.apart() if self.offers.links is not None else [None] * len(cut)

    def _parents(self, lease: Lease) -> Verdict:
        """A document whose text cannot be had is what the page is that links to it (S10)."""
        if (row := self.shard.verdict_of(lease.parent)) is not None:
            topic, confidence, topics = row
            return Verdict(topic, confidence, _unpack_topics(topics) or ((topic, confidence),) * (topic >= 0))
        if lease.topic < 0 or lease.astray:  # in another partition, and off topic
            return Verdict()
        sure = min(max(lease.priority, 0.0), 1.0)
        return Verdict(lease.topic, sure, ((lease.topic, sure),))

    def _views(self, leases: Sequence[Lease]) -> tuple[Words | None, Words | None]:
        """What the judge looks at besides a page's own words: how it was linked to, and from where (B6)."""
        needs = self.judge.needs if self.judge else frozenset()
        anchors = self.shard.anchors([lease.id for lease in leases]) if "anchors" in needs else None
        around = self.shard.texts([lease.parent for lease in leases]) if "neighbours" in needs else None
        return (
            None if anchors is None else words(anchors),
            None if around is None else words([excerpt(unpack_text(text)) for text in around]),
        )

    def _keep(
        self, lease: Lease, answer: Answer, page: Page, verdict: Verdict, own: Hashes, near: int | None
    ) -> tuple[int, bool, Value | None]:
        """Archive and store a page: its row, whether it is on no topic whatever it says, its links' value if any."""
        digest = payload_digest(answer.wire)
        body = _hash(answer.body)
        twin, original = self._twin(lease, body, near, digest)
        soft404 = self._soft404.get(lease.host)
        fake = soft404 is not None and (page.simhash ^ soft404).bit_count() <= 3
        hidden = fake or page.noindex or is_off_topic(lease)
        verdict = _of(verdict, hidden)
        place = self.archive.write(answer, digest, original)
        waits = page.limits == TO_READ and not twin
        if page.limits == TO_READ and twin:
            page.limits = ""  # it is read where the other stands
        flags = _says(page) | SOFT404 * fake | UNREAD * waits
        row = (
            lease.id, self.wall(), answer.began, answer.took, answer.status, page.mime, page.charset or None,
            page.lang or None, page.title or None, page.author or None, page.date or None, len(answer.body), digest,
            body, page.simhash, _length(page.text, len(own)), twin or None, flags, page.limits or None,
            _short(answer) or None, page.reserved or None, page.canonical or None, answer.headers.get("etag"),
            answer.headers.get("last-modified"), place.file, place.offset, place.length, verdict.topic,
            verdict.confidence, _pack_topics(verdict), self.model, "\n".join(page.headings) or None, _pack_ids(page),
            pack_text("\n".join(_anchors(page))), pack_text(page.text),
        )  # fmt: skip
        if lease.page:
            same = self.shard.standing(lease.page)[0] == digest
            count_revisit(self.shard.db, UNCHANGED if same else CHANGED)
        seq = self.shard.add_page(row, State.ELSEWHERE if twin else State.DONE, twin, lease.page)
        self._count(lease, page, verdict, own, twin, fake)
        if waits:
            self.unread(seq)
        elif not (twin or fake or lease.page):
            self._counted.append((lease, page.links))
        return seq, hidden, None if fake else self.focus.value(verdict, lease, bool(twin))

    def _twin(self, lease: Lease, body: int, near: int | None, digest: str) -> tuple[int, Original | None]:
        """The page that stands for this one, if it was seen before: the same to the byte, or nearly."""
        same = self.shard.page_with_body(body)
        if same is not None:
            id, url, date, known = same
            return id if id != lease.id else 0, Original(url, date, known) if known == digest else None
        return (near, None) if near is not None and near != lease.id else (0, None)

    def _count(self, lease: Lease, page: Page, verdict: Verdict, own: Hashes, twin: int, fake: bool) -> None:
        tally = self.tally
        tally.pages += 1
        tally.elsewhere += bool(twin)
        alike = bool(twin) or fake
        if verdict.topic >= 0:
            tally.on_topic += 1
            tally.topics[verdict.topic] = tally.topics.get(verdict.topic, 0) + 1
            if not alike:
                self.titles.append((page.title or page.url, self.topics[verdict.topic], verdict.confidence))
        self._outcomes.append((lease.id, self._outcome(lease, verdict, own, twin, alike)))
        if not fake:
            self.offers.traps.compare(sighting(lease.url, lease.host, page.simhash))
        if alike:
            self._alike[lease.host] += 1
            if self._alike[lease.host] == _SUSPECT:
                self.offers.probe(lease)
        # A page that was asked for again is no further page of its host.
        further = self.pages_per_host and not lease.page
        if further and self.shard.hosts.add_page(lease.host) >= self.pages_per_host:
            self.offers.frontier.give_up(lease.host, State.REFUSED, "host-full")

    def _outcome(self, lease: Lease, verdict: Verdict, own: Hashes, twin: int, alike: bool) -> Outcome:
        """What the page means for the good name of URLs like it."""
        mirrors = bool(twin) and host_of(self.shard.url_of(twin)) != lease.host
        breeds = repeats = False
        if not alike and lease.found == Found.LINK and (parent := self.shard.url_of(lease.parent)):
            breeds = is_kin(lease.url, parent)
            repeats = self.offers.traps.repeats(lease.url, own) and (breeds or kind_of(lease.url) == kind_of(parent))
        return Outcome(lease.url, lease.host, verdict.topic >= 0, alike, repeats, mirrors, breeds)

    def _tell_traps(self) -> None:
        """Let the traps know of the batch, with where its new links lead."""
        for id, outcome in self._outcomes:
            if leads := self.offers.leads.get(id):
                outcome = msgspec.structs.replace(
                    outcome, leads_out=leads.out, leads_off=leads.off, fertile=leads.fertile
                )
            self.offers.traps.note(outcome)
        self._outcomes.clear()

    def learn_soft404(self, host: str, answer: Answer, target: Target) -> None:
        """Remember how a host answers for a page that it does not have: its pages that look so are none (F25)."""
        if self.parser.heavy(answer):
            return  # nobody says "not found" with a book
        page = self.parser(answer, target, heavy=False)
        text = excerpt(page.text)
        self._soft404[host] = int(fingerprints(words([text]), [page.title], [text])[0])
        self.shard.set_soft404(host, self._soft404[host])

    def take_up(self, judge: Judge, model: str) -> None:
        """Judge with this model from now on, and again the pages that are remembered or were never judged."""
        self.judge, self.model = judge, model
        scores: dict[int, float] = {}
        for page, verdict in self.memory.judge(judge):
            scores[page.id] = self.focus.open(verdict).confidence
            self._judged(page.seq, _of(verdict, page.hidden))
        rows = self.shard.unjudged(SEED_PRIORITY)
        for start in range(0, len(rows), 16):
            part = rows[start : start + 16]
            verdicts = judge.judge_words(words([excerpt(unpack_text(text)) for _, text, _ in part]))
            for (seq, _, hidden), verdict in zip(part, verdicts, strict=True):
                self._judged(seq, _of(verdict, hidden))
        self.value_again(scores)

    def turn(self, course: Course) -> bool:
        """Take the course that the coordinator tells; whether it is another than that by which all was valued."""
        self.focus.turn(course)
        return course != self._valued_by

    def value_again(self, scores: Mapping[int, float] | None = None) -> None:
        """What waits is worth something else now: there is a new model (and `scores`), or another course."""
        seen = [page.id for page in self.memory.pages]
        if self.offers.links is not None:
            if scores is None:
                rows = sources(self.shard.db, seen)
                scores = {row.lease.id: self.focus.open(row.verdict).confidence for row in rows}
            self.offers.judged(scores)
        else:
            new_phase = self.focus.course.learning != self._valued_by.learning
            if new_phase:
                cold = review(self.shard.db, self.focus, seen, cold=True, new_phase=True)
                self.offers.frontier.rescore_cold(cold)
            self.offers.valued(review(self.shard.db, self.focus, seen, new_phase=new_phase))
        self._valued_by = self.focus.course
        self.shard.put("course", msgspec.msgpack.encode(self._valued_by))

    def to_the_front(self, hubs: Sequence[int]) -> None:
        """Let the links of these pages come before all others that wait, once the harvest is on (B10, B12)."""
        if self.focus.course.learning:
            return
        links = (self.shard.links_of(id) for id in hubs)
        self.offers.frontier.rescore({id: _FRONT for part in links for id in np.frombuffer(part, np.int64).tolist()})

    def _judged(self, seq: int, verdict: Verdict) -> None:
        self.shard.set_verdict(seq, verdict.topic, verdict.confidence, _pack_topics(verdict), self.model)

    def remember(self) -> None:
        """Take up again what was known at the last stop, from the rows."""
        window = self.memory.pages.maxlen or 0
        rows = self.shard.last_pages(window, SEED_PRIORITY) if window else []
        for start in range(0, len(rows), 64):
            part = rows[start : start + 64]
            cut = words([excerpt(unpack_text(text)) for _, _, _, text, _, _ in part])
            own = zip(part, apart(cut), self._bags(cut), strict=True)
            for (seq, id, confidence, _, links, hidden), hashes, bag in own:
                self.memory.pages.append(Remembered(seq, id, hashes, hidden=hidden, bag=bag))
                if bag is not None:
                    self.offers.recall(id, confidence, bag[0], np.frombuffer(links or b"", np.int64).tolist())
        if rows:
            self.offers.recall_contexts(self.shard.last_contexts(4 * window))


def _open(lease: Lease, page: Page, value: Value, verdict: Verdict, bag: Bag | None) -> Open:
    return Open(lease, page, value, verdict.confidence, *(bag[:1] if bag else ()))


def _short(answer: Answer) -> str:
    """Why a page is not whole; "" where it is. What is archived of it may be whole all the same."""
    return answer.truncated or ("length" if answer.cut else "")


def _length(text: str, counted: int) -> int:
    """How many words a text has, if `counted` are in its excerpt."""
    return counted if len(text) <= LOOKED_AT else round(counted * len(text) / LOOKED_AT)


def _says(page: Page) -> int:
    """What a page asks for, as flags of its row."""
    return NOINDEX * page.noindex | NOFOLLOW * page.nofollow | NOARCHIVE * page.noarchive


def _of(verdict: Verdict, hidden: bool) -> Verdict:
    """A verdict on a page that may be on no topic, whatever it says."""
    return Verdict(OTHERS, verdict.confidence) if hidden else verdict


def _hash(data: bytes) -> int:
    digest = xxhash.xxh3_64_intdigest(data)
    return digest - (1 << 64) if digest >= 1 << 63 else digest


def _pack_ids(page: Page) -> bytes | None:
    return np.array([link.target.id for link in page.links], np.int64).tobytes() or None


def _anchors(page: Page) -> list[str]:
    return [link.anchor for link in page.links]


def _pack_topics(verdict: Verdict) -> bytes | None:
    return msgspec.msgpack.encode(verdict.topics) if len(verdict.topics) > 1 else None


def _unpack_topics(packed: bytes | None) -> tuple[tuple[int, float], ...]:
    return msgspec.msgpack.decode(packed, type=tuple[tuple[int, float], ...]) if packed else ()
