"""`analecta map` as a person types it."""

import subprocess
import sys
from shutil import copytree

import pytest

from analecta.settings.edit import first_settings
from analecta.settings.schema import Topic
from analecta.store.library import LibraryFolder
from analecta.views.clusters import save
from tests.publish.test_map import analysis

CODE = "from analecta.cli import main; import analecta.cli.map; main()"


def run(*words):
    return subprocess.run([sys.executable, "-c", CODE, "map", *map(str, words)], capture_output=True, text=True)


@pytest.fixture
def library(tmp_path):
    made = LibraryFolder.create(tmp_path / "things", first_settings([Topic("Cells", ("http://h.test/",))], "adaptive"))
    made.topic_names(("Cells",))
    return made


def test_p10_the_map_is_written_where_it_is_asked_for(library, tmp_path):
    save(library, analysis(3))
    said = run(library.folder, "-o", tmp_path / "m.html")
    assert (said.returncode, "3 groups" in said.stdout) == (0, True), said
    assert '<h1 dir="auto">things</h1>' in (tmp_path / "m.html").read_text()


def test_p10_without_an_analysis_one_is_made_and_kept(grown, tmp_path):
    copytree(grown.folder, tmp_path / "lib")
    said = run(tmp_path / "lib", "-o", tmp_path / "m.html")
    assert said.returncode == 0, said
    assert (tmp_path / "lib" / "analysis" / "all.json").exists()


def test_p10_an_unknown_topic_is_named_with_those_there_are(library):
    said = run(library.folder, "--topic", "Cell")
    assert said.returncode == 2
    assert "'Cells'" in said.stderr
