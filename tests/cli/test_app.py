"""How commands are found, and speak to machines."""

import inspect
import json
import os
import subprocess
import sys

import msgspec
import pytest

from analecta.cli.app import COMMANDS, load_command
from analecta.cli.render import print_json
from analecta.settings.edit import first_settings
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder


class Said(msgspec.Struct):
    files: dict[str, tuple[str, int]]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_the_first_sentence_of_each(name):
    assert COMMANDS[name] == inspect.cleandoc(load_command(name).help).split("\n\n")[0]


def imported(*words):
    """The modules that a command imports."""
    program = "import sys; from analecta.cli import app; app(sys.argv[1:], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_list_of_commands_imports_no_command():
    there = {f"analecta.cli.{name.replace('-', '_')}" for name in COMMANDS} | {"numpy", "scipy", "msgspec"}
    assert imported("--help") & there == set()


def test_the_state_of_a_library_is_shown_without_what_crawls_and_publishes(tmp_path):
    LibraryFolder.create(tmp_path / "lib", first_settings([Topic("tea", ("http://a.test/",))], "adaptive"))
    unneeded = {"analecta.crawl", "analecta.publish", "analecta.judge", "analecta.search", "scipy", "pycurl", "tantivy"}
    assert imported("status", str(tmp_path / "lib")) & unneeded == set()


def test_json_is_written_also_of_names_that_are_no_text(capsys):
    print_json({"said": Said({os.fsdecode(b"s\xff.txt"): (os.fsdecode(b"b\xe9e"), 1)})})
    assert json.loads(capsys.readouterr().out) == {"said": {"files": {"s?.txt": ["b?e", 1]}}}
