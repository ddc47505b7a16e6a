import gzip
import subprocess
import sys
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from analecta.fetch.message import MAX_MEMBERS, decode
from tests.effort import little_work

CAP = 20_000_000
PAGE = b"<p>some words of a page</p>" * 9_000


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


CODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate ": raw_deflate,
    "br": brotli.compress,
    "zstd": zstandard.compress,
    "identity": bytes,
}


@pytest.mark.parametrize("coding", CODERS)
def test_a_coded_body_comes_back_whole(coding: str) -> None:
    assert decode(CODERS[coding](PAGE), coding, CAP) == (PAGE, True)
    assert decode(CODERS[coding](PAGE), coding, len(PAGE)) == (PAGE, True)


@pytest.mark.parametrize("coding", CODERS)
def test_a_body_over_the_cap_is_cut_there(coding: str) -> None:
    assert decode(CODERS[coding](PAGE), coding, 1000) == (PAGE[:1000], False)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_a_cut_body_gives_what_it_holds(coding: str) -> None:
    wire = CODERS[coding](bytes(range(256)) * 2000 + PAGE)
    body, whole = decode(wire[:-20], coding, CAP)
    assert body
    assert not whole


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_text_that_was_never_coded_is_given_back(coding: str) -> None:
    assert decode(b"<html>no coding here</html>", coding, CAP) == (b"<html>no coding here</html>", False)


def test_codings_stack_in_the_order_they_were_put_on() -> None:
    assert decode(gzip.compress(brotli.compress(PAGE)), "br, gzip", CAP) == (PAGE, True)
    assert not decode(PAGE, "gzip, gzip, gzip, gzip", CAP)[1]


def test_members_are_joined_and_padding_is_ignored() -> None:
    wire = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 40
    assert decode(wire, "gzip", CAP) == (b"one two", True)
    assert decode(gzip.compress(b"one") + b"junk after it", "gzip", CAP) == (b"one", True)


def test_f13_ten_thousand_members_stop_at_the_limit() -> None:
    with little_work():
        body, whole = decode(gzip.compress(b"a") * 10_000, "gzip", CAP)
    assert (len(body), whole) == (MAX_MEMBERS, False)


BOMB = """
import resource, sys, time
from analecta.fetch.message import decode
kind = sys.argv[1]
wire = sys.stdin.buffer.read()
decode(b"", kind, 10)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.process_time()
body, whole = decode(wire, kind, 20_000_000)
took = time.process_time() - began
print(len(body), whole, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, took)
"""


def bomb(coding: str) -> bytes:
    """About a gigabyte of nothing, coded."""
    block = bytes(1 << 20)
    if coding == "br":
        packer = brotli.Compressor(quality=5)
        return b"".join(packer.process(block) for _ in range(256)) + packer.finish()
    if coding == "zstd":
        return zstandard.ZstdCompressor().compress(bytes(1 << 28))
    packer = zlib.compressobj(9, zlib.DEFLATED, 15 if coding == "deflate" else 31)
    head = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)  # after a full flush each block is the same
    wire = head + again * 1023
    return gzip.compress(wire) if coding == "gzip, gzip" else wire


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
def test_f13_a_bomb_stops_at_the_cap_in_little_memory_and_time(coding: str) -> None:
    run = subprocess.run([sys.executable, "-c", BOMB, coding], input=bomb(coding), stdout=subprocess.PIPE, check=True)
    size, whole, grown, took = run.stdout.split()
    assert (size, whole) == (b"20000000", b"False")
    assert int(grown) < 128 * 1024  # KB; whole, it would be a gigabyte
    assert float(took) < 10


@given(st.binary(max_size=300), st.sampled_from(list(CODERS)))
def test_f13_any_bytes_are_decoded_or_not_but_never_raise(wire: bytes, coding: str) -> None:
    body, _ = decode(wire, coding, 100)
    assert len(body) <= 100


@given(st.binary(max_size=5000), st.sampled_from(list(CODERS)), st.integers(1, 6000))
def test_what_was_coded_is_decoded_up_to_the_cap(data: bytes, coding: str, cap: int) -> None:
    assert decode(CODERS[coding](data), coding, cap)[0] == data[:cap]
