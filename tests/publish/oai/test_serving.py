import json
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest

from tests.process import heed

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
COMMAND = "import analecta.cli.serve_oai; from analecta.cli import main; main()"


@pytest.fixture
def run():
    """Starts the command; ended at the end."""
    started = []

    def run(*arguments):
        command = [sys.executable, "-c", COMMAND, "serve-oai", *map(str, arguments)]
        started.append(subprocess.Popen(command, preexec_fn=heed, **PIPES))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


def test_the_address_is_printed_and_ctrl_c_ends_it(growing, run):
    growing.add("a")
    process = run(growing.library.folder, "--port", "0", "--json")
    told = json.loads(process.stdout.readline())
    assert told["records"] == 1
    with urlopen(f"{told['url']}?verb=Identify") as answer:
        assert b"<adminEmail>me@example.org</adminEmail>" in answer.read()
    process.send_signal(signal.SIGINT)
    assert (process.wait(60), process.stderr.read()) == (130, "")


def test_an_example_to_try_is_printed(growing, run):
    growing.add("a")
    process = run(growing.library.folder, "--port", "0")
    assert process.stdout.readline().startswith("Serving 1 record of ")
    with urlopen(process.stdout.readline().strip()) as answer:
        assert b"<ListRecords>" in answer.read()


def test_what_is_no_library_is_told(tmp_path, run):
    process = run(tmp_path)
    assert process.wait(60) == 2
    assert "is not a library" in process.stderr.read()
