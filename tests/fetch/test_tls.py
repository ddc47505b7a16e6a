"""F73: what is wrong with a secure connection is named."""

import asyncio
import datetime
import ipaddress
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from analecta.fetch.guard import Guard
from analecta.fetch.http import Http
from analecta.fetch.tls import certificate_reason, handshake_reason
from analecta.fetch.transfer import FetchLimits
from analecta.model import FetchResult, NoResponse, Request, Response
from tests.hostile import HostileServer, answer

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
CA = trustme.CA()


def leaf(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def self_signed(folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "alone")])
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), NOW - DAY, NOW + DAY)
    signed = made.add_extension(here, critical=False).sign(key, hashes.SHA256())
    plain = serialization.NoEncryption()
    text = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "alone.pem").write_bytes(text + signed.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "alone.pem")
    return context


BAD = {
    "tls-expired": lambda _: leaf(CA.issue_cert("127.0.0.1", not_before=NOW - 9 * DAY, not_after=NOW - DAY)),
    "tls-not-yet-valid": lambda _: leaf(CA.issue_cert("127.0.0.1", not_before=NOW + DAY, not_after=NOW + 9 * DAY)),
    "tls-wrong-name": lambda _: leaf(CA.issue_cert("other.test")),
    "tls-self-signed": self_signed,
    "tls-unknown-issuer": lambda _: leaf(trustme.CA().issue_cert("127.0.0.1")),
}


@pytest.fixture(scope="module")
def ca_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    CA.cert_pem.write_to_path(str(path))
    return str(path)


def ask(url: str, ca_file: str, **options: object) -> FetchResult:
    async def run() -> FetchResult:
        limits = FetchLimits(ca_file=ca_file, **options)  # type: ignore[arg-type]
        http = Http("T", limits, guard=Guard(["127.0.0.0/8"]))
        try:
            return await http(Request(url, ""))
        finally:
            await http.close()

    return asyncio.run(run())


def test_a_certificate_of_a_known_authority_is_fine(ca_file: str) -> None:
    with HostileServer(otherwise=answer(b"ok"), tls=leaf(CA.issue_cert("127.0.0.1"))) as server:
        got = ask(f"https://{server.address}/", ca_file)
    assert isinstance(got, Response), got
    assert (got.body, got.certificate) == (b"ok", "")


@pytest.mark.parametrize("reason", BAD)
def test_f73_what_is_wrong_with_a_certificate_is_named(reason: str, ca_file: str, tmp_path: Path) -> None:
    with HostileServer(otherwise=answer(b"ok"), tls=BAD[reason](tmp_path)) as server:
        got = ask(f"https://{server.address}/", ca_file)
    assert isinstance(got, NoResponse)
    assert (got.reason, got.retry, got.refused) == (reason, False, False)
    assert got.detail
    assert server.asked == []


@contextmanager
def answering(end: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that reads what comes first and ends each connection so; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection = listening.accept()[0]
                except OSError:
                    return
                with connection:
                    connection.recv(4096)
                    end(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield "{}:{}".format(*listening.getsockname())
        listening.shutdown(socket.SHUT_RDWR)


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def speak_http(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nno\n")


def speak_tls_1_0(connection: socket.socket) -> None:
    hello = b"\x03\x01" + bytes(32) + b"\0" + b"\0\x2f\0"  # version, random, no session, a cipher, no compression
    message = b"\x02" + len(hello).to_bytes(3) + hello
    connection.sendall(b"\x16\x03\x01" + len(message).to_bytes(2) + message)


def alert_protocol_version(connection: socket.socket) -> None:
    connection.sendall(b"\x15\x03\x01\0\x02\x02\x46")


@pytest.mark.parametrize(
    ("end", "reason", "retry"),
    [
        (speak_http, "tls-plain-http", False),
        (speak_tls_1_0, "tls-too-old", False),
        (alert_protocol_version, "tls-too-old", False),
        (reset, "tls-reset", True),
        (lambda _: None, "tls-reset", True),
    ],
)
def test_f73_a_broken_handshake_is_named(
    end: Callable[[socket.socket], None], reason: str, retry: bool, ca_file: str
) -> None:
    with answering(end) as address:
        got = ask(f"https://{address}/", ca_file)
    assert isinstance(got, NoResponse)
    assert (got.reason, got.retry) == (reason, retry)


@pytest.mark.parametrize("reason", ["tls-expired", "tls-wrong-name", "tls-self-signed"])
def test_f73_a_bad_certificate_may_be_allowed_for_a_named_host(reason: str, ca_file: str, tmp_path: Path) -> None:
    with HostileServer(otherwise=answer(b"ok"), tls=BAD[reason](tmp_path)) as server:
        got = ask(f"https://{server.address}/", ca_file, allow_bad_tls=["127.0.0.1"])
        others = ask(f"https://{server.address}/", ca_file, allow_bad_tls=["127.0.0.2", "elsewhere.test"])
    assert isinstance(got, Response)
    assert got.certificate.startswith("not verified")
    assert isinstance(others, NoResponse)
    assert others.reason == reason


def test_a_handle_that_let_a_bad_certificate_pass_does_not_let_the_next(ca_file: str) -> None:
    async def run(url: str) -> list[FetchResult]:
        limits = FetchLimits(ca_file=ca_file, allow_bad_tls=["127.0.0.1"])
        http = Http("T", limits, guard=Guard(["127.0.0.0/8"]), parallel=1)
        got = [await http(Request(url, "")), await http(Request(url.replace("127.0.0.1", "127.0.0.2"), ""))]
        await http.close()
        return got

    context = leaf(trustme.CA().issue_cert("127.0.0.1", "127.0.0.2"))
    with answering_everywhere(context) as port:
        allowed, other = asyncio.run(run(f"https://127.0.0.1:{port}/"))
    assert isinstance(allowed, Response)
    assert isinstance(other, NoResponse)
    assert other.reason == "tls-unknown-issuer"


@contextmanager
def answering_everywhere(context: ssl.SSLContext) -> Iterator[int]:
    """A TLS server on all loopback addresses; its port."""
    with socket.create_server(("0.0.0.0", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    plain = listening.accept()[0]
                    with context.wrap_socket(plain, server_side=True) as connection:
                        connection.recv(4096)
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
                except ssl.SSLError:
                    continue
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def test_what_nobody_has_a_name_for_is_tls_and_its_words() -> None:
    assert handshake_reason("error:0A000410:SSL routines::ssl/tls alert handshake failure") == "tls"
    assert certificate_reason(23, "certificate revoked") == "tls"
