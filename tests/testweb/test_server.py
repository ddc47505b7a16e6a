import asyncio
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from random import Random

import pytest

from analecta.errors import ResourceError
from analecta.testweb.process import PocketServer, ServerProcess
from analecta.testweb.server import NAMED, Mood, Moods, ServedResponse, bind, listen


def hello(host, target, headers):
    return ServedResponse(200, b"Content-Type: text/plain\r\n", f"{host} {target}".encode())


def talk(data, moods=None, until=0.2):
    """What a server in this process answers to raw bytes."""

    async def run():
        moody = Moods(moods or {}, Random(1).random, time.monotonic)
        server = await listen(hello, bind(0), moody)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(data)
        got = b""
        try:
            while chunk := await asyncio.wait_for(reader.read(65536), until):
                got += chunk
        except TimeoutError:
            pass
        writer.close()
        server.close()
        await server.wait_closed()
        return got

    return asyncio.run(run())


@pytest.fixture(scope="module")
def pocket(tmp_path_factory):
    with PocketServer(300, 3, log=tmp_path_factory.mktemp("log") / "requests") as server:
        yield server


def fetch(server, url, method="GET", **headers):
    host, _, path = url.removeprefix("http://").partition("/")
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request(method, "/" + path, headers={"Host": host, **headers})
        with connection.getresponse() as answer:
            return answer, answer.read()


def test_pipelined_requests_are_answered_in_order():
    got = talk(b"GET /1 HTTP/1.1\r\nHost: a.test\r\n\r\nGET /2 HTTP/1.1\r\nHost: b.test\r\n\r\n")
    assert got.index(b"a.test /1") < got.index(b"b.test /2")


def test_a_late_answer_keeps_its_place():
    moods = {"a.test": Mood(delay=0.05)}
    got = talk(b"GET /1 HTTP/1.1\r\nHost: a.test\r\n\r\nGET /2 HTTP/1.1\r\nHost: b.test\r\n\r\n", moods)
    assert got.index(b"a.test /1") < got.index(b"b.test /2")


def test_an_absolute_target_names_the_host_as_for_a_proxy():
    assert talk(b"GET http://c.test/x?y=1 HTTP/1.1\r\nHost: other\r\n\r\n").endswith(b"c.test /x?y=1")


def test_head_has_the_length_but_no_body():
    got = talk(b"HEAD /abc HTTP/1.1\r\nHost: a.test\r\n\r\n")
    assert got.endswith(b"Content-Length: 11\r\n\r\n")


@pytest.mark.parametrize("request_", [b"POST / HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n", b"x" * 70_000])
def test_what_is_no_request_gets_an_error_and_the_end(request_):
    assert talk(request_, until=2).startswith(b"HTTP/1.1 4")


def test_a_cut_answer_is_shorter_than_it_says():
    got = talk(b"GET /long HTTP/1.1\r\nHost: a.test\r\n\r\n", {"a.test": Mood(cut_every=1)}, until=2)
    assert 0 < len(got) < len(talk(b"GET /long HTTP/1.1\r\nHost: a.test\r\n\r\n"))


def test_a_busy_host_is_fine_on_the_second_try():
    moods = Moods({"a.test": NAMED["busy"]}, Random(1).random, time.monotonic)
    deeds = [moods.next("a.test", "/").status for _ in range(10)]
    assert deeds == [0, 0, 0, 0, 503] * 2
    assert moods.next("b.test", "/").status == 0


def test_a_strict_host_says_429_until_the_second_is_over():
    clock = iter([10.0] * 7 + [11.0])
    moods = Moods({"a.test": Mood(per_second=5)}, Random(1).random, lambda: next(clock))
    assert [moods.next("a.test", "/").status for _ in range(8)] == [0] * 5 + [429] * 2 + [0]


def test_errors_come_at_the_rate_asked_for():
    moods = Moods({}, Random(1).random, time.monotonic, error_rate=0.2)
    deeds = [moods.next("a.test", f"/{i}") for i in range(2000)]
    assert 300 < sum(bool(deed.status or deed.cut) for deed in deeds) < 500
    assert moods.next("a.test", "/robots.txt").status == 0


def test_what_is_served_agrees_with_the_truth(pocket):
    calm = [t for t in pocket.web.pages() if t.url.split("/")[2] not in pocket.web.moods]
    for truth in calm[::7]:
        answer, body = fetch(pocket, truth.url)
        assert answer.status == truth.status, truth
        assert body == pocket.web.answer(*truth.url[7:].replace("/", " /", 1).split(" "), {}).body


def test_a_conditional_request_gets_304_over_http(pocket):
    url = pocket.web.seeds("sailing", 1)[0]
    tag = fetch(pocket, url)[0].headers["ETag"]
    answer, body = fetch(pocket, url, **{"If-None-Match": tag})
    assert (answer.status, body) == (304, b"")


def test_moody_hosts_delay_refuse_and_break_off(pocket):
    hosts = {site.mood: site.host for site in pocket.web.plan.sites}
    began = time.monotonic()
    fetch(pocket, f"http://{hosts['slow']}/")
    assert time.monotonic() - began >= 0.25
    busy = [fetch(pocket, f"http://{hosts['busy']}/")[0] for _ in range(5)]
    assert [answer.status for answer in busy].count(503) == 1
    assert {answer.headers["Retry-After"] for answer in busy} == {None, "1"}
    with pytest.raises(http.client.IncompleteRead):
        [fetch(pocket, f"http://{hosts['cutting']}/") for _ in range(6)]


def test_the_log_tells_what_was_asked_and_when(pocket):
    began = time.monotonic()
    fetch(pocket, "http://nowhere.test/asked?x=1")
    noted = next(noted for noted in pocket.asked() if noted.host == "nowhere.test")
    assert (noted.target, noted.status) == ("/asked?x=1", 404)
    assert began <= noted.time <= time.monotonic()


def test_several_processes_share_a_port_and_end_together():
    with PocketServer(100, 1, processes=2) as server:
        pid, url = server.pid, server.web.seeds("chess", 1)[0]
        assert all(fetch(server, url)[0].status == 200 for _ in range(20))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", server.port), timeout=60)


def test_the_server_dies_with_its_parent():
    code = (
        "from analecta.testweb.process import PocketServer; import os, signal\n"
        "server = PocketServer(100, 1, processes=2).__enter__()\n"
        "print(server.port, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", int(done.stdout)), timeout=60).close()
        except ConnectionRefusedError:
            return
        time.sleep(0.1)
    pytest.fail("it still listens")


def test_a_server_that_cannot_start_says_so(capfd):
    with pytest.raises(ResourceError, match="could not start"), ServerProcess("analecta.testweb.pocket:Nothing"):
        pass
    assert "Nothing" in capfd.readouterr().err
