"""A tiny DNS server on loopback: each name has a script of replies, the last of which stays."""

import asyncio
import socket
import struct
from collections import Counter
from typing import Self

NXDOMAIN, SERVFAIL = 3, 2
A, AAAA = 1, 28
Reply = list[tuple[str, int]] | int | None  # addresses with their TTL, an error code, or silence


class NameServer(asyncio.DatagramProtocol):
    """Runs in the loop of the test; `asked` counts the questions for each name and type."""

    def __init__(self, **names: list[Reply]) -> None:
        self.names = {name.replace("_", "."): replies for name, replies in names.items()}
        self.asked: Counter[tuple[str, int]] = Counter()
        self.address = ""

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self.transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        self.address = "{}:{}".format(*self.transport.get_extra_info("sockname"))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.transport.close()
        await asyncio.sleep(0)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        end, labels = 12, []
        while data[end]:
            labels.append(data[end + 1 : end + 1 + data[end]].decode().lower())
            end += data[end] + 1
        name, (kind,) = ".".join(labels), struct.unpack("!H", data[end + 1 : end + 3])
        self.asked[name, kind] += 1
        script = self.names.get(name, [NXDOMAIN])
        reply = script.pop(0) if len(script) > 1 else script[0]
        if reply is not None:
            self.transport.sendto(self.message(data[:2], data[12 : end + 5], kind, reply), addr)

    @staticmethod
    def message(ident: bytes, question: bytes, kind: int, reply: list[tuple[str, int]] | int) -> bytes:
        code, answers = (reply, []) if isinstance(reply, int) else (0, reply)
        family = {A: socket.AF_INET, AAAA: socket.AF_INET6}[kind]
        records = [
            b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, ttl, len(packed)) + packed
            for ip, ttl in answers
            if (":" in ip) == (kind == AAAA)
            for packed in [socket.inet_pton(family, ip)]
        ]
        return ident + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0) + question + b"".join(records)
