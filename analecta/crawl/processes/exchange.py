"""Links to hosts that another partition owns: by outbox and watermark, so that none is lost and none counts twice.

A letter is written into the outbox in the transaction of the page it comes from, under the next number for its
destination, and sent only after that transaction is committed. The receiver takes letters in order (a gap waits, an
overlap is ignored), remembers its watermark in the transaction that takes them in, and tells it after the commit;
the sender then forgets up to it. What goes unanswered is sent again. Numbers never start anew, so it does not matter
which side was killed when. After a power cut, which ends all sides and empties all lines, a side may lack its last
commits: so nothing is sent before a handshake has shown how far the other is. A letter may then come twice.
"""

from collections.abc import Callable, Sequence

import msgspec

from analecta.model import Candidate
from analecta.store.outbox import Outbox

_LETTER = 60_000  # bytes a letter: well within what a socket takes at once
_WINDOW = 64  # letters on their way to one destination
_RESEND = 1.0  # seconds to wait for a receipt before letters are sent again
_SPARE = 256  # letters kept after their receipt, for a receiver whose last commits were lost in a power cut


class LinkBatch(msgspec.Struct, tag="letter", array_like=True):
    """Candidates number `seq` from `source`."""

    source: int
    seq: int
    candidates: msgspec.Raw


class Ack(msgspec.Struct, tag="receipt", array_like=True):
    """`source` has taken in everything up to `watermark`."""

    source: int
    watermark: int


class Handshake(msgspec.Struct, tag="hello", array_like=True):
    """`source` has started and asks how far its letters were taken in; those up to `base` it no longer has."""

    source: int
    base: int


_encode = msgspec.msgpack.Encoder().encode
_candidates = msgspec.msgpack.Decoder(list[Candidate]).decode


class LinkExchange:
    """One partition's post office."""

    def __init__(self, me: int, partitions: int, box: Outbox, send: Callable[[int, bytes], None]) -> None:
        """`send` may lose messages, repeat and reorder them."""
        self.me = me
        self.peers = [peer for peer in range(partitions) if peer != me]
        self.box = box
        self.send = send
        self._posted = {peer: box.last_posted(peer) for peer in self.peers}  # written
        self._begun = {peer: box.begin(peer) for peer in self.peers}  # may have been sent before this start
        self._settled: dict[int, int] = {}  # known to be taken in; unknown until the peer has answered our hello
        self._sent = dict.fromkeys(self.peers, 0)  # sent at least once since the last resend
        self._sent_at = dict.fromkeys(self.peers, -_RESEND)
        self._taken = {peer: box.watermark(peer) for peer in self.peers}
        self._owed: set[int] = set()  # peers to whom a receipt is due
        self._early: dict[int, dict[int, msgspec.Raw]] = {peer: {} for peer in self.peers}

    @property
    def sent(self) -> int:
        """Letters ever written."""
        return sum(self._posted.values())

    @property
    def received(self) -> int:
        """Letters ever taken in."""
        return sum(self._taken.values())

    @property
    def pending(self) -> int:
        """Letters written and not yet known to be taken in."""
        return sum(posted - self._settled.get(peer, 0) for peer, posted in self._posted.items())

    def post(self, dest: int, candidates: Sequence[Candidate]) -> None:
        """Write candidates into the outbox."""
        letter = _encode(candidates)
        if len(letter) > _LETTER and len(candidates) > 1:
            half = len(candidates) // 2
            self.post(dest, candidates[:half])
            self.post(dest, candidates[half:])
        elif candidates:
            self._posted[dest] += 1
            self.box.post(dest, self._posted[dest], letter)

    def take(self, message: LinkBatch | Ack | Handshake) -> list[Candidate]:
        """Take in a message: the new candidates it makes available."""
        source = message.source
        match message:
            case Ack():
                self._settle(source, message.watermark)
                return []
            case Handshake():
                if message.base > self._taken[source]:  # what we lost the sender no longer has: go on from there
                    self._taken[source] = message.base
                    self.box.set_watermark(source, message.base)
            case LinkBatch():
                if message.seq > self._taken[source]:
                    self._early[source][message.seq] = message.candidates
        self._owed.add(source)
        return self._in_order(source)

    def _settle(self, peer: int, watermark: int) -> None:
        """The peer has taken in everything up to `watermark`.

        More than we had written before this start means that our last commits were lost (a power cut): those
        numbers are used up, and all letters get higher ones, so that there is no gap. Less than it once said means
        that the peer's last commits were lost: it gets those letters again.
        """
        if peer not in self._settled:
            shift = max(0, watermark - self._begun[peer])
            self.box.renumber(peer, shift)
            self._posted[peer] += shift
            self._sent[peer] = watermark
            self._settled[peer] = watermark
        elif watermark > self._settled[peer]:
            self._settled[peer] = watermark
            self.box.delivered(peer, watermark - _SPARE)

    def _in_order(self, source: int) -> list[Candidate]:
        early, found = self._early[source], list[Candidate]()
        while (raw := early.pop(self._taken[source] + 1, None)) is not None:
            found += _candidates(raw)
            self._taken[source] += 1
            self.box.set_watermark(source, self._taken[source])
        return found

    def flush(self, now: float) -> None:
        """After a commit: give receipts, send new letters, and again those that got none."""
        for peer in self._owed:
            self.send(peer, _encode(Ack(self.me, self._taken[peer])))
        self._owed.clear()
        for peer in self.peers:
            if peer not in self._settled:
                self._greet(peer, now)
            elif self._settled[peer] < self._posted[peer]:
                self._send(peer, now)

    def _greet(self, peer: int, now: float) -> None:
        if now - self._sent_at[peer] >= _RESEND:
            self._sent_at[peer] = now
            self.send(peer, _encode(Handshake(self.me, self.box.first_kept(peer) - 1)))

    def _send(self, peer: int, now: float) -> None:
        if now - self._sent_at[peer] >= _RESEND:
            self._sent[peer] = self._settled[peer]
        first = max(self._sent[peer], self._settled[peer])
        room = self._settled[peer] + _WINDOW - first
        if first >= self._posted[peer] or room <= 0:
            return
        for seq, letter in self.box.letters(peer, first, room):
            self.send(peer, _encode(LinkBatch(self.me, seq, msgspec.Raw(letter))))
            self._sent[peer] = seq
        self._sent_at[peer] = now
