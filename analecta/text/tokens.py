"""The words of pages, a batch at a time: one tokenizer for training, judging and fingerprints.

A word is a run of letters, digits and marks, in lower case, known by a 64-bit hash. All texts of a batch are
joined into one UTF-8 buffer and cut and hashed there in numpy, which takes some 50 us a page of 4.6 kB.
Words of one character, pure numbers and very long runs are left out. Scripts that are written without spaces
(Chinese, Japanese, Thai), and Korean, whose words carry their particles, are cut into overlapping pairs of
characters, which needs no dictionary and finds topics about as well as one.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from analecta.arrays import Bools, Bytes, Float32s, Int32s, Ints, UInt64s

_NONE: Ints = np.zeros(0, np.int64)
LOOKED_AT = 200_000  # characters of a text whose words count: one page in ten thousand has more
LONGEST = 64  # bytes; longer runs are digests, base64 or text without spaces
_STOP_WORDS = Path(__file__).parent / "stopwords"  # a list for each language, written for Analecta
# The languages of the lists; English is first and wins where none stands out.
LANGUAGES = ("en", *sorted({path.stem for path in _STOP_WORDS.glob("*.txt")} - {"en"}))

BLOCK = 1 << 15  # bytes hashed at once: the powers below stay in the cache and a huge page costs no memory
_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2^64
_MIX = np.uint64(0xD6E8FEB86659FD93)
_POWERS = np.cumprod(np.full(BLOCK + LONGEST, _BASE, np.uint64))
_INVERSES = np.cumprod(np.full(BLOCK + LONGEST, pow(_BASE, -1, 1 << 64), np.uint64))

# ASCII letters in lower case and digits stay, as do the bytes of other characters; all else becomes 0.
_FOLD = bytes(c if c >= 0x80 else ord(chr(c).lower()) if chr(c).isalnum() else 0 for c in range(256))
_PLANES = 0x20000  # the characters in use (and emoji) are below; what is above are rare ideographs
_APART, _CASED, _PAIRED = 1, 2, 3
_PAIRED_BLOCKS = (  # letters and marks of these are cut into pairs
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x31FF),  # kana, 々, Bopomofo
    (0x3400, 0x9FFF),  # Han
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),
    (0xFF66, 0xFFDC),  # of half width
    (_PLANES, _PLANES),  # all that is above
)
_SPAN = np.array([1] * 0xC0 + [2] * 0x20 + [3] * 0x10 + [4] * 0x10, np.uint8)  # bytes by first byte


BITS = 18
BUCKETS = 1 << BITS  # words as numbers below it: no dictionary to build, to look up or to send along with a model


class Bags(NamedTuple):
    """Which buckets the words of each page fall into, in ascending order, and how often each of them is met.

    Page i has buckets[starts[i]:starts[i + 1]].
    """

    buckets: Int32s
    counts: Float32s
    starts: Int32s

    def apart(self) -> list[tuple[Int32s, Float32s]]:
        """The buckets and counts of each page, on their own."""
        spans = zip(self.starts.tolist(), self.starts[1:].tolist(), strict=False)
        return [(self.buckets[i:j].copy(), self.counts[i:j].copy()) for i, j in spans]


@dataclass(frozen=True)
class Words:
    """The words of a batch: page i has hashes[starts[i]:starts[i + 1]], in the order of the text.

    They were cut from `buffer`, all texts in lower case with a 0 for what is no word; text i begins at offsets[i].
    `lines` are the same texts as they are, a newline before and after each.
    """

    hashes: UInt64s
    starts: Ints
    buffer: bytes = field(repr=False)
    lines: bytes = field(repr=False)
    offsets: Ints = field(repr=False)
    begins: Ints = field(repr=False)
    ends: Ints = field(repr=False)
    known: Bags | None = field(default=None, repr=False)  # where they were counted before

    def __len__(self) -> int:
        """How many pages there are."""
        return len(self.starts) - 1

    @cached_property
    def pages(self) -> Ints:
        """Which page each word is of."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def bags(self) -> Bags:
        """The words by buckets; counted once, whoever asks."""
        if self.known is not None:
            return self.known
        narrow: type[np.signedinteger] = np.int32 if len(self) < 1 << (31 - BITS) else np.int64  # half the time
        keys = np.sort(self.pages.astype(narrow) << BITS | buckets(self.hashes).astype(narrow))
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.diff(first, append=len(keys)).astype(np.float32)
        keys = keys[first]
        starts = np.searchsorted(keys, np.arange(len(self) + 1, dtype=np.int64) << BITS).astype(np.int32)
        return Bags((keys & (BUCKETS - 1)).astype(np.int32), counts, starts)

    def strings(self, which: Ints | slice = slice(None)) -> list[str]:
        """The words themselves, or `which` of them; slow, for training and for people."""
        spans = zip(self.begins[which].tolist(), self.ends[which].tolist(), strict=True)
        return [self.buffer[begin:end].decode() for begin, end in spans]


def excerpt(text: str) -> str:
    """A text, or the beginning and the end of a very long one: so no page takes long to judge and to compare."""
    half = LOOKED_AT // 2
    return text if len(text) <= LOOKED_AT else f"{text[:half]}\n{text[-half:]}"


def words(texts: Sequence[str]) -> Words:
    """Cut texts into words and hash them."""
    lines, buffer, offsets = _join(texts)
    paired = _NONE
    if not lines.isascii():
        lines, buffer, offsets, paired = _fold_beyond_ascii(texts, lines, buffer, offsets)
    begins, ends = _cut(buffer, paired)
    keep = _worth_keeping(buffer, begins, ends)
    begins, ends = begins[keep], ends[keep]
    starts = np.searchsorted(begins, offsets)
    return Words(_hash(buffer, begins, ends), starts, buffer.tobytes(), lines, offsets, begins, ends)


def buckets(hashes: UInt64s) -> Ints:
    """The bucket of each word."""
    return (hashes >> np.uint64(64 - BITS)).astype(np.int64)


class Vocabulary:
    """A set of word hashes, each with its feature number, made for fast look-up of whole batches.

    `features` maps position in `hashes` to a feature: several words may share one, as the forms of a stem do.
    """

    def __init__(self, hashes: Sequence[int] | UInt64s, features: Sequence[int] | Ints | None = None) -> None:
        """Know these words; without `features` word i is feature i."""
        given = np.asarray(hashes, np.uint64)
        numbers = np.arange(len(given)) if features is None else np.asarray(features, np.int64)
        order = np.argsort(given, kind="stable")
        self.size = int(numbers.max()) + 1 if len(numbers) else 0
        self._sorted, self._features = given[order], numbers[order]
        # Hashes are evenly spread, so their first bits say where to look: 3 times faster than bisection at 70,000
        # words. Most words of a page are not in a small vocabulary, and find nothing at their place.
        bits = min(max(16, (4 * len(given)).bit_length()), 18)  # at 18 the tables still fit a core's cache
        self._shift = np.uint64(64 - bits)
        places = (self._sorted >> self._shift).astype(np.int64)
        self._first = np.searchsorted(places, np.arange(1 << bits)).astype(np.int32)
        self._taken = np.bincount(places, minlength=1 << bits).astype(np.bool_)

    def __len__(self) -> int:
        """How many words are known."""
        return len(self._sorted)

    def find(self, hashes: UInt64s) -> tuple[Ints, Ints]:
        """Where the known words are among `hashes`, and their features."""
        places = hashes >> self._shift
        at = np.flatnonzero(self._taken[places])
        found = np.full(len(hashes), -1, np.int32)
        ranks = self._first[places[at]]
        while len(at):  # some share a place: so look at the next one too, as long as it can be it
            there = self._sorted[ranks]
            same = there == hashes[at]
            found[at[same]] = ranks[same]
            on = np.flatnonzero((there < hashes[at]) & (ranks + 1 < len(self._sorted)))
            at, ranks = at[on], ranks[on] + 1
        at = np.flatnonzero(found >= 0)
        return at, self._features[found[at]]


def counts(batch: Words, vocabulary: Vocabulary) -> csr_matrix:
    """How often each feature occurs on each page: pages x features, sparse, float64."""
    at, features = vocabulary.find(batch.hashes)
    return tally(batch.pages[at], features, len(batch), vocabulary.size)


def tally(pages: Ints, features: Ints, height: int, width: int) -> csr_matrix:
    """How often each feature is paired with each page, as a sparse matrix of `height` pages."""
    width = max(width, 1)
    keys = pages * width + features
    if height * width < 1 << 31:
        keys = keys.astype(np.int32)  # sorted in half the time
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    data = np.diff(first, append=len(keys)).astype(np.float64)
    keys = keys[first]
    pointers = np.searchsorted(keys, np.arange(height + 1) * width)
    columns = keys - np.repeat(np.arange(height) * width, np.diff(pointers))
    return csr_matrix((data, columns, pointers), shape=(height, width))


@cache
def stop_words(language: str = "en") -> frozenset[str]:
    """Words that say nothing about a topic; none are known for a language without a list."""
    code = language[:2].lower()
    if code not in LANGUAGES:
        return frozenset()
    return frozenset(words([(_STOP_WORDS / f"{code}.txt").read_text(encoding="utf-8")]).strings())


def likely_language(strings: Sequence[str]) -> str:
    """The language whose stop words are the most of these words; English when none stands out."""
    seen = Counter(strings)
    found = {code: sum(map(seen.__getitem__, stop_words(code) & seen.keys())) for code in LANGUAGES}
    return max(LANGUAGES, key=lambda code: found[code])


def _join(texts: Sequence[str]) -> tuple[bytes, Bytes, Ints]:
    """The texts with a newline before, between and after them, the same folded, and where each begins."""
    raw = [text.encode("utf-8", "replace") for text in texts]
    offsets = np.cumsum([1] + [len(r) + 1 for r in raw])
    lines = b"\n".join((b"", *raw, b""))
    return lines, np.frombuffer(bytearray(lines.translate(_FOLD)), np.uint8), offsets


def _cut(buffer: Bytes, paired: Ints) -> tuple[Ints, Ints]:
    """Where words begin and end; the characters at `paired` go together by twos, each with its next."""
    inside = buffer != 0
    ends = paired + _SPAN[buffer[paired]]
    for k in range(4 if len(paired) else 0):
        inside[paired[paired + k < ends] + k] = False
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    if not len(paired):
        return edges[::2], edges[1::2]
    two = np.flatnonzero(ends[:-1] == paired[1:])
    begins = np.concatenate([edges[::2], paired[two]])
    order = np.argsort(begins)
    return begins[order], np.concatenate([edges[1::2], ends[two + 1]])[order]


def _fold_beyond_ascii(
    texts: Sequence[str], lines: bytes, buffer: Bytes, offsets: Ints
) -> tuple[bytes, Bytes, Ints, Ints]:
    """Lower case for the texts that have letters of other alphabets in upper case; punctuation becomes 0.

    Also gives where the characters stand that are to be cut into pairs.
    """
    at, kinds = _characters(buffer)
    # str.lower costs 30 us a page beyond ASCII, and most pages have but dashes and quotation marks there.
    cased = set((np.searchsorted(offsets, at[kinds == _CASED], side="right") - 1).tolist())
    if cased:
        # A sigma at the end of a word is written ς, but where words end is ours to say: have only one.
        folded = [text.lower().replace("ς", "σ") if i in cased else text for i, text in enumerate(texts)]
        lines, buffer, offsets = _join(folded)
        at, kinds = _characters(buffer)
    apart = at[kinds == _APART]
    span = _SPAN[buffer[apart]]
    for k in (3, 2, 1, 0):
        buffer[apart[span > k] + k] = 0
    return lines, buffer, offsets, at[kinds == _PAIRED]


def _characters(buffer: Bytes) -> tuple[Ints, Bytes]:
    """Where the characters beyond ASCII begin, and their kinds."""
    at = np.flatnonzero(buffer >= 0xC2)
    span = _SPAN[buffer[at]]
    code = np.zeros(len(at), np.int64)
    code += buffer[at] & (0x7F >> span)
    for k in (1, 2, 3):
        code = np.where(span > k, code << 6 | buffer[np.minimum(at + k, len(buffer) - 1)] & 0x3F, code)
    return at, _kinds()[np.minimum(code, _PLANES)]


@cache
def _kinds() -> Bytes:
    """For each character whether it parts words, has a lower case, or neither."""
    kinds = np.zeros(_PLANES + 1, np.uint8)
    for code in range(0x80, _PLANES):
        char = chr(code)
        if char.lower() != char:
            kinds[code] = _CASED
        elif unicodedata.category(char)[0] in "PSZC":
            kinds[code] = _APART
    for low, high in _PAIRED_BLOCKS:
        kinds[low : high + 1][kinds[low : high + 1] == 0] = _PAIRED
    kinds[ord("ς")] = _CASED  # see _fold_beyond_ascii
    return kinds


def _worth_keeping(buffer: Bytes, begins: Ints, ends: Ints) -> Bools:
    """Not single characters, not pure numbers, not endless."""
    first, length = buffer[begins], ends - begins
    keep = (length > _SPAN[first]) & (length <= LONGEST)
    digits = np.flatnonzero(first <= ord("9"))
    if len(digits):
        # All that comes after a digit word until the next one would count, so stop at the word's own end.
        bounds = np.stack([begins[digits], ends[digits]], axis=1).ravel()
        keep[digits[np.maximum.reduceat(buffer, bounds)[::2] <= ord("9")]] = False
    return keep


def _hash(buffer: Bytes, begins: Ints, ends: Ints) -> UInt64s:
    """Polynomials of the bytes of all words at once: differences of running sums, brought to power 0, mixed."""
    hashes = np.empty(len(begins), np.uint64)
    for low in range(0, len(buffer), BLOCK):
        i, j = np.searchsorted(begins, (low, low + BLOCK), side="right")  # byte 0 begins no word
        block = buffer[low : low + BLOCK + LONGEST]
        sums = np.cumsum(block * _POWERS[: len(block)])
        begin = begins[i:j] - low
        hashes[i:j] = (sums[ends[i:j] - (low + 1)] - sums[begin - 1]) * _INVERSES[begin]
    hashes ^= hashes >> np.uint64(32)
    hashes *= _MIX
    hashes ^= hashes >> np.uint64(29)
    return hashes
