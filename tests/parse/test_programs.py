"""Programs that read hostile documents: they see nothing, change nothing, and end in time (F53)."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analecta.parse import Parser
from analecta.parse.documents import pdf
from analecta.parse.sandbox import ProgramLimits, can_isolate, run
from tests.parse.pages import any_page
from tests.tools import GHOSTSCRIPT, needs_ghostscript, running, wait_for

SHELL = shutil.which("sh") or "sh"
WAYS = [pytest.param(False, id="folder"), pytest.param(True, id="namespace")]


@pytest.fixture(params=WAYS)
def namespace(request):
    if request.param and not can_isolate(shutil.which("cat") or "cat"):
        pytest.skip("bubblewrap is not installed or may not make namespaces here")
    return request.param


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A temporary folder that holds other people's files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name in ("read", "delete", "rename", "truncate"):
        (tmp_path / name).write_text(f"secret of {name}")
    return tmp_path


def attack(folder: Path) -> bytes:
    """A document that tries each operation on files and says which of them worked."""
    tried = {
        "read": f"({folder}/read) (r) file 100 string readstring pop pop",
        "library": "(/etc/passwd) (r) file 20 string readstring pop pop",
        "list": f"/n 0 def ({folder}/*) {{ pop /n 1 def }} 256 string filenameforall n 0 eq {{ stop }} if",
        "delete": f"({folder}/delete) deletefile",
        "rename": f"({folder}/rename) ({folder}/renamed) renamefile",
        "truncate": f"({folder}/truncate) (w) file closefile",
        "create": f"({folder}/created) (w) file closefile",
        "create-here": "(created) (w) file closefile",
        "temporary": "null (w) .tempfile closefile pop",
        "pipe": f"(%pipe%touch {folder}/piped) (w) file closefile",
    }
    steps = [f"{{ {code} }} stopped {{ (no {name}) }} {{ (done {name}) }} ifelse say" for name, code in tried.items()]
    start = "%!PS\n/Helvetica findfont 12 scalefont setfont /say { 72 700 moveto show showpage } def"
    return "\n".join([start, *steps, "(the end) say"]).encode()


@needs_ghostscript
def test_f53_a_crawled_postscript_document_reaches_no_file(shared):
    before = {path.name: path.read_text() for path in shared.iterdir()}
    with Parser() as parser:
        page = any_page(parser, attack(shared), content_type="application/postscript")
    assert "the end" in page.text
    assert "done" not in page.text
    assert {path.name: path.read_text() for path in shared.iterdir()} == before


@needs_ghostscript
def test_f53_a_postscript_document_reaches_no_file(shared, namespace):
    before = {path.name: path.read_text() for path in shared.iterdir()}
    done = run([GHOSTSCRIPT, *pdf.OPTIONS], attack(shared), namespace=namespace)
    said = done.output.decode()
    assert "the end" in said
    assert "done" not in said
    assert {path.name: path.read_text() for path in shared.iterdir()} == before


@needs_ghostscript
def test_f53_a_postscript_document_does_not_choose_where_its_pages_go(shared, namespace):
    body = f"%!PS\n<< /OutputFile ({shared}/printed) >> setpagedevice showpage".encode()
    assert run([GHOSTSCRIPT, *pdf.OPTIONS], body, namespace=namespace).status != 0
    assert not (shared / "printed").exists()


@needs_ghostscript
def test_f53_one_conversion_leaves_nothing_for_the_next(shared, namespace):
    page = b"%!PS\n/Helvetica findfont 12 scalefont setfont 72 700 moveto (plain words) show showpage"
    for body in (attack(shared), page):
        assert run([GHOSTSCRIPT, *pdf.OPTIONS], body, namespace=namespace).status == 0
    assert len(list(shared.iterdir())) == 4


def test_f53_a_program_has_an_empty_place_and_a_bare_environment(shared, namespace, monkeypatch):
    monkeypatch.setenv("GS_OPTIONS", "-dNOSAFER")
    script = 'echo "$TMPDIR|$GS_OPTIONS|$HOME"; ls -A; touch x 2>&1; ls -A "$TMPDIR" | wc -l; cat'
    said = run([SHELL, "-c", script], b"from stdin", namespace=namespace).output.decode()
    assert said.endswith("0\nfrom stdin")
    folder, options, home = said.splitlines()[0].split("|")
    assert (options, home == folder, folder != str(shared)) == ("", True, True)
    assert "x" not in [path.name for path in shared.rglob("*")]


def test_f53_a_namespace_shows_no_files(namespace, shared):
    if not namespace:
        pytest.skip("this is what a namespace adds")
    done = run([SHELL, "-c", f"ls {shared} /proc /sys /var/tmp /etc/passwd; echo end"], b"", namespace=True)
    assert done.output == b"end\n"


@pytest.mark.parametrize(
    ("script", "stopped"),
    [
        ("while :; do :; done", "time"),
        ("exec >&-; sleep 60", "time"),
        ("while :; do echo abcdefghijklmnopqrstuvwxyz; done", "output"),
    ],
)
def test_f53_a_program_is_stopped_at_its_limits(script, stopped, namespace):
    done = run([SHELL, "-c", script], b"x" * 1_000_000, ProgramLimits(seconds=1, output=10_000), namespace=namespace)
    assert done.stopped == stopped
    assert len(done.output) <= 10_000


def test_f53_a_program_gets_little_memory(namespace):
    script = "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done"
    done = run([SHELL, "-c", script], b"", ProgramLimits(seconds=8, memory=64 << 20), namespace=namespace)
    assert done.status != 0


def test_f53_a_program_dies_with_whoever_runs_it(namespace):
    sleep, mark = shutil.which("sleep"), f"{time.time_ns() % 10**9}.25"
    code = f"from analecta.parse.sandbox import run; run([{sleep!r}, {mark!r}], b'', namespace={namespace})"
    child = subprocess.Popen([sys.executable, "-c", code])
    wait_for(lambda: running(f"{sleep}\0{mark}"))
    time.sleep(0.3)  # bubblewrap starts the program a moment before it begins to look after its own parent
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    wait_for(lambda: not running(f"{sleep}\0{mark}"))
