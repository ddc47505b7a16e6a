"""Near-duplicates: a 64-bit fingerprint of a page, and an index that finds earlier pages nearly equal to it.

The low 48 bits are a simhash over the set of a page's three-word runs: pages that differ in a few words differ in
a few bits (one changed word in 200-800 is forgiven 86 times in 100, 1 % of the words every other time). The high
16 bits are a plain hash of the title and must be equal: on 12,456 pages of documentation a simhash alone took
`RNA.frequencies` for `Protein.frequencies`, stubs of one template in which only the words that matter differ, and
such words stand in the title. A page of fewer than 30 words has too few runs for that, so its fingerprint is a
plain hash of its text. 0 means that there is nothing to compare.

Where a good part of a page is prose, only its prose counts, and of its title only what comes before the name of the
site: so a copy with another menu, footer or site name is found. The title cannot be left out there either: one host
had a copyright line of 377 words on each of its pages, and without titles 57 of them were taken for others.

Numbers are no words: long pages that differ only in numbers are near-duplicates, if the title is the same
(calendars without end are like that); short ones are not.
"""

import re
from collections.abc import Sequence
from typing import Self

import numpy as np
import xxhash

from analecta.arrays import Bools, Ints, UInt64s
from analecta.text.tokens import Words

FEW = 30  # words; pages with fewer are duplicates only when all words are equal
RUN = 3
LINE = 120  # bytes; lines that are longer are prose, shorter ones headings, menus, links, footers
PROSE = 200  # words; with less prose, or less than a third of the page, the whole page counts

_TITLE = 48  # the title is from this bit on
_SIM = np.uint64((1 << _TITLE) - 1)
_SHARE = 3
_BITS = 3  # in which the texts of near-duplicates differ at most
_BANDS = _BITS + 1  # of which one is equal then
_REACH = 256  # pages of a chain that are looked at, at most
_NEWLINE = 10
_FAR = 1 << 40
_ONES = np.uint64(0x0101010101010101)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_STIR = np.uint64(0xBF58476D1CE4E5B9)
_SITE = re.compile(r" (?:[-–—|·•»/:]+ |\()")  # "Bees - Our site", "Bees (print)"
_NUMBER = re.compile(r"\d+")


def fingerprints(batch: Words, titles: Sequence[str]) -> Ints:
    """The fingerprints of the pages of a batch, signed as SQLite has them; 0 for a page without words.

    The texts that it was cut from have a line for each piece.
    """
    lengths = np.diff(batch.starts)
    prose = _in_prose(batch)
    much = np.diff(np.append(0, np.cumsum(prose))[batch.starts])
    wordy = (much >= PROSE) & (_SHARE * much >= lengths)
    counted = prose | ~wordy[batch.pages]
    prints = _simhashes(batch, counted) | _title_hashes(titles, wordy) << np.uint64(_TITLE)
    for i in np.flatnonzero(lengths < FEW):
        text = b" ".join(batch.buffer[batch.offsets[i] : batch.offsets[i + 1]].replace(b"\0", b" ").split())
        prints[i] = xxhash.xxh3_64_intdigest(text, seed=int(prints[i] >> np.uint64(_TITLE)))
    prints[lengths == 0] = 0
    return prints.view(np.int64)


def _in_prose(batch: Words) -> Bools:
    """Which words are in a long line of their text."""
    ends = np.flatnonzero(np.frombuffer(batch.lines, np.uint8) == _NEWLINE)
    return np.repeat(np.diff(ends) > LINE, np.diff(np.searchsorted(batch.begins, ends)))


def _title_hashes(titles: Sequence[str], wordy: Bools) -> UInt64s:
    """16 bits a title; numbers count here (Chapter 3, release 5.1), spaces and case do not."""
    plain = (" ".join(title.lower().split()) for title in titles)
    kept = (_without_site(title) if head else title for title, head in zip(plain, wordy.tolist(), strict=True))
    digests = (xxhash.xxh3_64_intdigest(title.encode("utf-8", "replace")) >> 48 for title in kept)
    return np.fromiter(digests, np.uint64, len(titles))


def _without_site(title: str) -> str:
    """A title up to its first dash, bar or bracket, and the numbers after it."""
    site = _SITE.search(title)
    return " ".join([title[: site.start()], *_NUMBER.findall(title, site.start())]) if site else title


def _simhashes(batch: Words, counted: Bools) -> UInt64s:
    """Bit b is set when it is set in most of the page's different runs of words that count."""
    sets, starts = _sets_of_runs(batch, counted)
    simhashes = np.zeros(len(batch), np.uint64)
    some = np.flatnonzero(np.diff(starts))
    if len(some):
        size = np.diff(starts)[some]
        major = _bit_counts(sets, starts[some]) * 2 > size[:, None]
        packed = np.packbits(major, axis=1, bitorder="little")
        simhashes[some] = np.ascontiguousarray(packed).view("<u8").ravel() & _SIM
    return simhashes


def _sets_of_runs(batch: Words, counted: Bools) -> tuple[UInt64s, Ints]:
    """The different runs of each page, page after page: page number in the high bits, hash in the low 48."""
    count = max(len(batch.hashes) - RUN + 1, 0)
    runs = batch.hashes[:count].copy()
    for k in range(1, RUN):
        runs *= _MIX
        runs += batch.hashes[k : count + k]
    runs ^= runs >> np.uint64(31)
    runs *= _STIR
    runs ^= runs >> np.uint64(29)
    pages = batch.pages.astype(np.uint64)
    within = pages[:count] == pages[len(pages) - count :]  # a run does not go over the end of its page
    for k in range(RUN):
        within &= counted[k : count + k]
    keys = np.sort((runs & _SIM | pages[:count] << np.uint64(_TITLE))[within])
    keys = keys[np.diff(keys, prepend=~keys[:1]) != 0]
    return keys, np.searchsorted(keys, np.arange(len(batch) + 1, dtype=np.uint64) << np.uint64(_TITLE))


def _bit_counts(hashes: UInt64s, starts: Ints) -> Ints:
    """How often each of the 64 bits is set, for each of the (not empty) groups that begin at `starts`.

    Bit k of all eight bytes is counted at once, in the eight bytes of one integer, which hold 255 at most:
    so groups are first summed in pieces. 8 us a page, where unpacked bits take 34.
    """
    pieces = np.unique(np.concatenate([starts, np.arange(0, len(hashes), 255)]))
    sums = np.empty((len(pieces), 8, 8), np.uint8)
    for k in range(8):
        lanes = np.add.reduceat(hashes >> np.uint64(k) & _ONES, pieces)
        sums[:, :, k] = lanes.astype("<u8").view(np.uint8).reshape(-1, 8)
    flat = sums.reshape(-1, 64)
    return np.add.reduceat(flat, np.searchsorted(pieces, starts), axis=0, dtype=np.int64)


def _distance(prints: UInt64s, others: UInt64s) -> Ints:
    """How many bits differ; pages of other titles are far away."""
    apart = prints ^ others
    return np.where(apart >> np.uint64(_TITLE) == 0, np.bitwise_count(apart).astype(np.int64), _FAR)


class NearDuplicates:
    """Remembers fingerprints and tells which earlier page is within three bits of a new one.

    Of four bands of 12 bits one must be equal if three bits at most differ. So a page is in four lists, one for
    each of its bands together with its title; lists are chains in arrays, newest first: 36 bytes a page.
    """

    def __init__(self, limit: int = 2_000_000) -> None:
        """Remember `limit` pages, then forget the older half."""
        self._limit = limit
        self._size = 0
        self._make_room(1 << 12)

    @classmethod
    def load(cls, prints: Ints, ids: Ints, room: int = 0) -> Self:
        """An index of these pages, in the order in which they were met, with `room` for so many in all."""
        index = cls()
        index._make_room(max(min(room, index._limit), len(index._prints)))
        index.add(prints[-index._limit :], ids[-index._limit :])
        return index

    def __len__(self) -> int:
        """How many pages are remembered."""
        return self._size

    def find(self, prints: Ints) -> list[int | None]:
        """For each the id of the nearest page remembered, the earliest of equals; None if none is near."""
        sought = np.asarray(prints, np.int64).view(np.uint64)
        query = np.repeat(np.arange(len(sought)), _BANDS)
        band = np.tile(np.arange(_BANDS), len(sought))
        row = self._heads[band, self._slots(sought).T.ravel()]
        best = np.full(len(sought), _FAR, np.int64)
        for _ in range(_REACH):
            live = (row >= 0) & (sought[query] != 0)
            if not live.any():
                break
            query, band, row = query[live], band[live], row[live]
            distance = _distance(self._prints[row], sought[query])
            near = distance <= _BITS
            np.minimum.at(best, query[near], distance[near] << 32 | row[near])
            row = self._next[band, row]
        return [None if b == _FAR else int(self._ids[b & 0xFFFFFFFF]) for b in best.tolist()]

    def add(self, prints: Ints, ids: Ints) -> None:
        """Remember pages."""
        fresh = np.asarray(prints, np.int64).view(np.uint64)
        keep = fresh != 0
        fresh, numbers = fresh[keep], np.asarray(ids, np.int64)[keep]
        if self._size + len(fresh) > self._limit:
            self._forget()
        end = self._size + len(fresh)
        if end > len(self._prints):
            self._make_room(max(end, len(self._prints) * 5 // 4))
        self._prints[self._size : end], self._ids[self._size : end] = fresh, numbers
        self._size = end
        self._chain(end - len(fresh))

    def sift(self, prints: Ints, ids: Ints) -> list[int | None]:
        """Find, within the batch too, and remember those that are new: what a crawl does with each batch."""
        found = self.find(prints)
        for i, j in self._pairs(np.asarray(prints, np.int64).view(np.uint64)):
            if found[i] is None and found[j] is None:
                found[i] = int(ids[j])
        new = np.array([f is None for f in found], np.bool_)
        self.add(np.asarray(prints)[new], np.asarray(ids)[new])
        return found

    def _pairs(self, prints: UInt64s) -> list[tuple[int, int]]:
        """The pages of a batch that are near each other, the later one first: they are in one list at least."""
        slots = self._slots(prints)
        order = np.argsort(slots, axis=1, kind="stable")
        ordered = np.take_along_axis(slots, order, axis=1)
        pairs: set[tuple[int, int]] = set()
        for apart in range(1, min(len(prints), _REACH + 1)):
            band, place = np.nonzero(ordered[:, apart:] == ordered[:, :-apart])
            if not len(band):
                break
            later, earlier = order[band, place + apart], order[band, place]
            near = _distance(prints[later], prints[earlier]) <= _BITS
            near &= prints[later] != 0
            pairs.update(zip(later[near].tolist(), earlier[near].tolist(), strict=True))
        return sorted(pairs)

    def _slots(self, prints: UInt64s) -> Ints:
        """Bands x pages: which chain each band of each page is in."""
        title = prints >> np.uint64(_TITLE) << np.uint64(12)
        bands = [(title | prints >> np.uint64(12 * b) & np.uint64(0xFFF)) * _MIX for b in range(_BANDS)]
        return (np.array(bands) >> np.uint64(64 - self._width)).astype(np.int64)

    def _make_room(self, rows: int) -> None:
        """Have place for so many pages, and for a quarter as many chains a band."""
        self._width = rows.bit_length() - 2
        old = getattr(self, "_prints", np.zeros(0, np.uint64)), getattr(self, "_ids", np.zeros(0, np.int64))
        self._prints, self._ids = np.zeros(rows, np.uint64), np.zeros(rows, np.int64)
        self._prints[: self._size], self._ids[: self._size] = old[0][: self._size], old[1][: self._size]
        self._heads = np.full((_BANDS, 1 << self._width), -1, np.int32)
        self._next = np.full((_BANDS, rows), -1, np.int32)
        self._chain(0)

    def _forget(self) -> None:
        """Drop the older half."""
        half = self._size // 2
        kept = self._size - half
        self._prints[:kept], self._ids[:kept] = self._prints[half : self._size], self._ids[half : self._size]
        self._size = kept
        self._make_room(len(self._prints))

    def _chain(self, first: int) -> None:
        """Put the pages from row `first` on at the head of their chains."""
        rows = np.arange(first, self._size, dtype=np.int32)
        for b, slots in enumerate(self._slots(self._prints[first : self._size])):
            order = np.argsort(slots, kind="stable")
            slot, row = slots[order], rows[order]
            starts = np.diff(slot, prepend=-1) != 0
            before = np.where(starts, self._heads[b, slot], np.roll(row, 1))
            self._next[b, row] = before
            self._heads[b, slot] = row  # of equal slots the last, so the newest, stays
