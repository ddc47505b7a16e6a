"""F67: thousands of clients that hold their connections to `serve-oai`."""

import contextlib
import json
import resource
import socket
import subprocess
import sys
import threading
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.publish.oai.growing import Growing

IDLE, SLOW = 3000, 300
COMMAND = "import analecta.cli.serve_oai; from analecta.cli import main; main()"


@pytest.fixture
def many_files():
    """As many open files as there are clients."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = IDLE + SLOW + 500
    if before[1] != resource.RLIM_INFINITY and before[1] < wanted:
        pytest.skip(f"only {before[1]} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(wanted, before[0]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def served(tmp_path):
    """A server process with the usual limit of 1,024 open files: where it is."""
    made = Growing(tmp_path / "lib")
    made.add("a")
    made.shard.close()
    command = f"ulimit -n 1024; exec {sys.executable} -c '{COMMAND}' serve-oai {made.library.folder} --port 0 --json"
    process = subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    yield json.loads(process.stdout.readline())["url"]
    process.kill()
    process.communicate()


def dribble(clients, stop):
    """One more header line from each, again and again."""
    while not stop.wait(0.2):
        for client in clients:
            with contextlib.suppress(OSError):
                client.sendall(b"X-More: x\r\n")


def test_f67_others_are_answered_with_3000_idle_and_300_slow_clients(many_files, served):
    url = served
    address, stop = (urlsplit(url).hostname, urlsplit(url).port), threading.Event()
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(address, 30)) for _ in range(IDLE + SLOW)]
        slow = clients[-SLOW:]
        for client in slow:
            with contextlib.suppress(OSError):
                client.sendall(b"GET /oai?verb=Identify HTTP/1.1\r\nHost: h\r\n")
        dribbling = threading.Thread(target=dribble, args=(slow, stop))
        dribbling.start()
        stack.callback(dribbling.join)
        stack.callback(stop.set)
        for _ in range(20):
            with urlopen(f"{url}?verb=Identify", timeout=30) as answer:
                assert b"</Identify>" in answer.read()
