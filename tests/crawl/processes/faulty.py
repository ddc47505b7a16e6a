"""A bad line, to try the exchange of links on."""

import random

from analecta.protocols import Transport


class FaultyTransport:
    """A transport that drops, repeats, delays and reorders what another one carries."""

    def __init__(self, inner: Transport, rng: random.Random, drop: float = 0.2, repeat: float = 0.2, late: float = 0.2):
        self.inner = inner
        self.rng = rng
        self.drop, self.repeat, self.late = drop, repeat, late
        self._held: list[bytes] = []

    def send(self, to: int, message: bytes) -> None:
        """Send not at all, once or twice."""
        if self.rng.random() < self.drop:
            return
        self.inner.send(to, message)
        if self.rng.random() < self.repeat:
            self.inner.send(to, message)

    def receive(self) -> list[bytes]:
        """What arrived, shuffled, some of it later."""
        messages = self._held + self.inner.receive()
        self.rng.shuffle(messages)
        self._held = [message for message in messages if self.rng.random() < self.late]
        return [message for message in messages if message not in self._held]
