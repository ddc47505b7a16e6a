import os
import subprocess
import sys
import tempfile

import pytest

from analecta.publish.refresh import Child, Refresher, publishing
from analecta.store.library import LibraryFolder


@pytest.fixture
def library(tmp_path):
    return LibraryFolder.create(tmp_path / "lib", "")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Making:
    """Starts small programs, and keeps them."""

    def __init__(self, program):
        self.program, self.started = program, []

    def __call__(self):
        said = tempfile.TemporaryFile()  # noqa: SIM115
        process = subprocess.Popen([sys.executable, "-c", self.program], stdin=subprocess.PIPE, stderr=said)
        self.started.append(process)
        return Child(process, said)

    def end(self):
        """Let the last one go on to its end."""
        self.started[-1].communicate()


WAITS = "import sys; sys.stdin.read()"
FAILS = "import sys; sys.stdin.read(); sys.exit('one\\nno \\x1b room')"


def notes(library):
    return [note for _, note in library.notes()]


def test_s13_pages_are_made_every_so_often_and_never_twice_at_once(library):
    clock, making = Clock(), Making(WAITS)
    refresher = Refresher(library, 10.0, clock, making)
    for clock.now in (0, 9, 10, 11, 25):
        refresher()
    assert len(making.started) == 1
    making.end()
    refresher()
    clock.now = 30
    refresher()
    assert (refresher.made, len(making.started)) == (1, 1), "it took 15 seconds: the next has to wait for 60"
    clock.now = 85
    refresher()
    assert len(making.started) == 2
    refresher.close()
    assert [process.returncode for process in making.started] == [0, -15]
    making.started[-1].stdin.close()


def test_s13_a_failure_is_told_once_and_the_next_one_is_tried(library):
    clock, making = Clock(), Making(FAILS)
    refresher = Refresher(library, 1.0, clock, making)
    for _ in range(3):
        clock.now += 1.0
        refresher()
        making.end()
        refresher()
    assert notes(library) == ["the published pages could not be made anew: no \\x1b room"]
    assert (len(making.started), refresher.made) == (3, 0)


def test_s13_after_a_success_the_next_failure_is_told_again(library):
    clock, making = Clock(), Making(FAILS)
    refresher = Refresher(library, 1.0, clock, making)
    for making.program in (FAILS, WAITS, FAILS):
        clock.now += 1.0
        refresher()
        making.end()
        refresher()
    assert len(notes(library)) == 2


def test_s13_a_program_that_cannot_be_started_does_not_stop_the_crawl(library):
    def missing():
        raise FileNotFoundError("no such program")

    clock = Clock()
    refresher = Refresher(library, 1.0, clock, missing)
    for clock.now in (1.0, 1.5, 2.0, 3.0):
        refresher()
    refresher.finish()
    assert notes(library) == ["the published pages could not be made anew: no such program"]


def test_s13_at_the_end_the_pages_are_made_a_last_time(library):
    refresher = Refresher(library, 1000.0, Clock(), publishing("--version"))
    refresher.finish()
    assert refresher.made == 1


def test_s13_the_child_is_nice_and_in_a_session_of_its_own(library):
    child = publishing("--version")()
    try:
        assert os.getsid(child.process.pid) == child.process.pid
        assert os.getpriority(os.PRIO_PROCESS, child.process.pid) >= 15
    finally:
        child.process.wait()
        child.said.close()


def test_s13_what_the_command_complains_of_is_told(library):
    refresher = Refresher(library, 1000.0, Clock(), publishing("status", library.folder / "nowhere"))
    refresher.finish()
    assert "is not a library" in notes(library)[0]
