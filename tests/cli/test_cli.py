"""The command line as scripts see it: exit codes, standard output and error."""

import contextlib
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
import urllib.request
from shutil import copytree
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from rich.console import Console

from analecta.cli import main
from analecta.cli.app import COMMANDS
from analecta.cli.demo import make_demo
from analecta.cli.render import stoppable
from analecta.store.library import LibraryFolder
from analecta.testweb.process import PocketServer
from tests.crawls.site import site
from tests.hostile import answer
from tests.process import heed, interrupt_on_sigint

COMMAND = [sys.executable, "-m", "analecta"]
QUICK = "\n[stop]\nidle = 1.0\nfree_disk = 0\n[fetch]\nback_off = 0.1\n"


def analecta(*words, code=0, cwd="."):
    """The command in this process, which spares it the start; what it said, as bytes went out."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    argv = patch.object(sys, "argv", ["analecta", *map(str, words)])
    streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with streams[0], streams[1], contextlib.chdir(cwd), argv, pytest.raises(SystemExit) as ended:
        main()
    said = SimpleNamespace(stdout=out.buffer.getvalue().decode(), stderr=err.buffer.getvalue().decode())
    assert (ended.value.code or 0) == code, said
    return said


@pytest.fixture(scope="module")
def pocket():
    with PocketServer(size=300, moody=False) as server:
        yield server


@pytest.fixture
def seeds(pocket, tmp_path):
    path = tmp_path / "seeds.txt"
    path.write_text("\n".join(pocket.web.seeds("beekeeping", 3)))
    return path


@pytest.fixture
def lib(seeds, tmp_path):
    analecta("new", tmp_path / "lib", "--seeds", seeds, "--topic", "bees")
    with (tmp_path / "lib" / "analecta.toml").open("a") as file:
        file.write(QUICK)
    return tmp_path / "lib"


@pytest.fixture(scope="module")
def grown(pocket, tmp_path_factory):
    """A library of 100 pages."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "seeds").write_text("\n".join(pocket.web.seeds("beekeeping", 3)))
    analecta("new", folder / "lib", "--seeds", folder / "seeds")
    analecta("crawl", folder / "lib", "--pages", 100, "--connect-to", pocket.address, "--workers", 1)
    return folder / "lib"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A library of one page with a hostile title."""
    folder = tmp_path_factory.mktemp("tiny")
    title = "<title>\x1b]52;c;aGk=\x1b\\ \x9b31m[red]\u202e</title>"
    page = f"<!DOCTYPE html>{title}<p>Roses are red, violets are blue".encode()
    with site({"/": answer(page, content_type="text/html; charset=utf-8")}) as server:
        (folder / "seeds").write_text("http://a.test/")
        analecta("new", folder / "lib", "--seeds", folder / "seeds")
        analecta("crawl", folder / "lib", "--connect-to", f"127.0.0.1:{server.port}", "--workers", 1)
    return folder / "lib"


# --- the command itself ----------------------------------------------------------------------------------------------


def test_help_names_every_command():
    shown = set(analecta("--help").stdout.split())
    assert set(COMMANDS) - shown == set()


def test_help_does_not_wait_for_heavy_libraries():
    program = "import analecta.cli, sys; print({'numpy', 'scipy', 'pycurl', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "set()\n"


def test_the_version_is_shown():
    assert re.fullmatch(r"analecta \d+\.\d+\.\d+\n", analecta("--version").stdout)


@pytest.mark.parametrize(
    "words",
    [["frob"], ["crawl"], ["crawl", "nowhere"], ["crawl", ".", "--pages", "0"], ["status", "nowhere"], ["new", "x"]],
)
def test_bad_use_exits_with_2_and_makes_nothing(words, tmp_path):
    done = analecta(*words, code=2, cwd=tmp_path)
    assert done.stderr
    assert not list(tmp_path.iterdir())


def test_recipes_are_listed_with_what_they_are_for():
    lines = analecta("recipes").stdout.splitlines()
    names = ["adaptive", "bingo", "breadth-first", "communities", "panorama", "synthesis"]
    assert [line.split()[0] for line in lines] == names
    assert all(len(line.split()) > 5 for line in lines)


# --- new -------------------------------------------------------------------------------------------------------------


def test_new_tells_what_it_understood_and_what_not(tmp_path):
    (tmp_path / "seeds").write_text("https://a.test/\nftp://b.test/\nhttps://a.test/\n")
    said = analecta("new", "roses", "--seeds", "seeds", cwd=tmp_path).stdout
    for words in ("Topic roses: 1 seed", "line 2: ftp://b.test/", "more than once: 1", "analecta crawl roses"):
        assert words in said


HTML = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<DL><p><DT><H3 PERSONAL_TOOLBAR_FOLDER="true">Bar</H3><DL><p>
<DT><H3>Science</H3><DL><p><DT><H3>Biology</H3><DL><p><DT><A HREF="https://b.test/">b</A></DL><p></DL><p>
<DT><A HREF="javascript:x()">x</A></DL><p></DL><p>"""


@pytest.fixture
def brought(tmp_path):
    """A folder with a file for each option."""
    (tmp_path / "seeds").write_text("https://a.test/\n")
    (tmp_path / "bookmarks").write_text(HTML)
    (tmp_path / "outline").write_text("Science\n  Biology\n    https://b.test/#x\n    https://c.test/\n  Physics\n")
    (tmp_path / "feed").write_text(
        "<rss><channel><title>News</title><item><link>https://n.test/1</link></item></channel></rss>"
    )
    (tmp_path / "sites").write_text("s.test\n")
    return tmp_path


ALL = [word for kind in ("seeds", "bookmarks", "outline", "feed", "sites") for word in (f"--{kind}", kind)]


def test_new_takes_all_that_a_person_has_together(brought):
    said = analecta("new", "lib", *ALL, "--seeds", "sites", cwd=brought).stdout.splitlines()
    tree = ["  Topic lib: 2 seeds", "  Topic Science", "      Biology: 2 seeds", "  Topic News: 1 seed"]
    assert said[1:5] == tree
    for words in ("  Named more than once: 2", "    Science / Physics", "  analecta crawl lib --pages 1000"):
        assert words in said
    assert any(re.match(r"    bookmarks, line 4: javascript:x\(\): only http", line) for line in said)
    names = [topic["name"] for topic in tomllib.loads((brought / "lib" / "analecta.toml").read_text())["topics"]]
    assert names == ["lib", "Science / Biology", "News"]


def test_new_tells_scripts_the_same(brought):
    made = json.loads(analecta("new", "lib", *ALL, "--topic", "x", "--json", cwd=brought).stdout)
    assert [topic["name"] for topic in made["reading"]["topics"]] == ["x", "Science / Biology", "News"]
    assert made["reading"]["skipped"][0]["file"] == "bookmarks"
    assert made["next"] == "analecta crawl lib --pages 1000"


def test_new_names_what_it_can_begin_with():
    said = analecta("new", "lib", code=2).stderr
    assert (
        "--seeds FILE, --examples DIR, --bookmarks FILE, --outline FILE, --feed FILE, --sites FILE, --paper FILE or"
        in said
    )


@pytest.mark.parametrize("kind", ["seeds", "bookmarks", "outline", "feed", "sites"])
def test_new_makes_nothing_where_one_file_is_bad(brought, kind):
    (brought / "bad").write_bytes(b"\x00\xff")
    before = sorted(brought.iterdir())
    said = analecta("new", "lib", *ALL, f"--{kind}", "bad", code=2, cwd=brought).stderr
    assert re.fullmatch(r"analecta: .*\bbad\b.*\n", said)
    assert sorted(brought.iterdir()) == before


def test_new_wants_an_example_for_one_topic_at_least(tmp_path):
    (tmp_path / "o").write_text("Bees\nWasps\n")
    assert "write URLs of good pages below it" in analecta("new", "lib", "--outline", "o", code=2, cwd=tmp_path).stderr
    assert not (tmp_path / "lib").exists()


def test_new_never_overwrites(lib, seeds):
    before = (lib / "analecta.toml").read_bytes()
    assert "exists already" in analecta("new", lib, "--seeds", seeds, code=2).stderr
    assert (lib / "analecta.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["lib", "--seeds", "none"], 2, "No such file"),
        (["lib", "--seeds", "seeds.txt", "--recipe", "adaptiv"], 2, "did you mean 'adaptive'"),
        (["seeds.txt/lib", "--seeds", "seeds.txt"], 4, "cannot make a library at seeds.txt/lib: Not a directory"),
    ],
)
def test_new_leaves_nothing_behind_where_it_fails(seeds, tmp_path, words, code, said):
    assert said in analecta("new", *words, code=code, cwd=tmp_path).stderr
    assert list(tmp_path.iterdir()) == [seeds]


PAGE = "<!-- saved from url=(0018)https://r.test/old -->\n<p>Old roses <a href='https://l.test/'>more</a>"


@pytest.fixture
def examples(tmp_path):
    """A folder of examples."""
    for name, text in {"Roses/a.html": PAGE, "Roses/b.txt": "Roses are red", "OTHERS/c.txt": "Rosé is a wine"}.items():
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).write_text(text)
    (tmp_path / "mine" / "Roses" / "d.urls").write_text("https://s.test/\n")
    return tmp_path


def settings(folder):
    return tomllib.loads((folder / "lib" / "analecta.toml").read_text())


def test_new_brings_files_that_are_examples_into_the_library(examples):
    said = analecta("new", "lib", "--examples", "mine", cwd=examples).stdout
    assert "  Topic Roses: 1 seed, 2 files, 2 pages to begin at\n  What is not meant: 1 file\n" in said
    assert settings(examples)["topics"] == [
        {
            "name": "Roses",
            "seeds": ["https://s.test/"],
            "starts": ["https://r.test/old", "https://l.test/"],
            "examples": ["topics/mine/Roses/a.html", "topics/mine/Roses/b.txt"],
        }
    ]
    assert settings(examples)["others"] == {"examples": ["topics/mine/OTHERS/c.txt"]}
    assert (examples / "lib" / "topics" / "mine" / "Roses" / "a.html").read_text() == PAGE


def test_new_leaves_no_library_where_a_file_cannot_be_copied(examples):
    (examples / "lib").mkdir()
    with patch("shutil.copyfileobj", side_effect=OSError(28, "No space left on device")):
        said = analecta("new", "lib", "--examples", "mine", code=4, cwd=examples).stderr
    assert re.fullmatch(r"analecta: cannot copy mine/\S+ into lib: No space left on device\n", said)
    assert not list((examples / "lib").iterdir())


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--examples", "none"], 2, "No such file"),
        (["--examples", "seeds.txt"], 2, "is a file"),
        (["--examples", "empty"], 2, "holds no example"),
        (["--feed", "http://127.0.0.1:9/"], 4, "does not answer"),
        (["--feed", "https://a.test/feed"], 2, "--contact"),
    ],
)
def test_new_makes_nothing_of_what_is_no_good(tmp_path, words, code, said):
    (tmp_path / "seeds.txt").write_text("https://a.test/")
    (tmp_path / "empty").mkdir()
    assert re.fullmatch(f"analecta: .*{said}.*\n", analecta("new", "lib", *words, code=code, cwd=tmp_path).stderr)
    assert not (tmp_path / "lib").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "lib", "x", "--sort", "datum"], "'datum' is not one of 'relevance'"),
        (["export", "lib", "page"], "'page' is not one of 'pages'"),
        (["export", "lib", "pages", "--format", "xml"], "'xml' is not one of 'jsonl'"),
        (["export", "lib", "collection", "--topic", ""], "--topic '' names nothing"),
        (["publish", "lib"], "Missing option '--output' / '-o'"),
        (["srch"], "No such command 'srch'"),
        (["evaluate", "communities", "--graph", "x", "--web", "villages:7"], "leave out --graph or --web"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_one_sentence(words, said):
    assert re.fullmatch(f"analecta: [^\n]*{re.escape(said)}[^\n]*\n", analecta(*words, code=2).stderr)


def test_a_command_of_which_nothing_is_said_shows_its_help():
    said = analecta("topics", code=2)
    assert re.search(r"Usage: .*analecta topics", said.stdout)
    assert not said.stderr


def test_ctrl_c_ends_with_a_word_on_what_came_of_it(capsys):
    with interrupt_on_sigint(), pytest.raises(KeyboardInterrupt), stoppable(lambda: "Nothing was changed."):
        signal.raise_signal(signal.SIGINT)
    assert capsys.readouterr().err == "Stopped. Nothing was changed.\n"


# --- add -------------------------------------------------------------------------------------------------------------


def test_add_tells_what_is_new_and_keeps_the_former_settings(brought):
    analecta("new", "lib", "--seeds", "seeds", "--topic", "mine", cwd=brought)
    before = (brought / "lib" / "analecta.toml").read_bytes()
    said = analecta("add", "lib", *ALL, cwd=brought).stdout
    for words in ("  Topic mine: 1 seed", "      Biology: 2 seeds", "There already: 1\n", "analecta.toml.before"):
        assert words in said
    assert (brought / "lib" / "analecta.toml.before").read_bytes() == before


def test_add_shows_only_what_would_be_new_if_asked_to(brought):
    analecta("new", "lib", "--seeds", "seeds", cwd=brought)
    before = (brought / "lib" / "analecta.toml").read_bytes()
    assert (
        "      Biology: 1 seed" in analecta("add", "lib", "--bookmarks", "bookmarks", "--dry-run", cwd=brought).stdout
    )
    shown = json.loads(analecta("add", "lib", "--outline", "outline", "--dry-run", "--json", cwd=brought).stdout)
    assert (shown["topics"][0]["name"], shown["written"]) == ("Science / Biology", False)
    assert (brought / "lib" / "analecta.toml").read_bytes() == before


def test_add_asks_for_the_topic_where_there_are_several(brought):
    analecta("new", "lib", "--seeds", "seeds", "--topic", "mine", cwd=brought)
    analecta("add", "lib", "--seeds", "seeds", "--topic", "yours", cwd=brought)
    before = (brought / "lib" / "analecta.toml").read_bytes()
    assert "say with --topic which" in analecta("add", "lib", "--seeds", "seeds", code=2, cwd=brought).stderr
    assert (brought / "lib" / "analecta.toml").read_bytes() == before
    analecta("add", "lib", "--outline", "outline", cwd=brought)


def test_add_tells_of_seeds_that_another_topic_has(brought):
    analecta("new", "lib", "--seeds", "seeds", "--topic", "mine", cwd=brought)
    said = analecta("add", "lib", "--seeds", "seeds", "--topic", "yours", "--dry-run", cwd=brought).stdout
    assert re.search(r"Seeds that mine has already: [1-9]\d*; a page is an example of one topic only", said)


@pytest.mark.parametrize("topic", ["a / / b", "a /", "a\nb"])
def test_a_name_that_no_topic_can_have_is_refused(brought, topic):
    said = analecta("new", "lib", "--seeds", "seeds", "--topic", topic, code=2, cwd=brought).stderr
    assert "cannot be the name of a topic: " in said
    analecta("new", "lib", "--seeds", "seeds", "--topic", "a / b", cwd=brought)
    said = analecta("add", "lib", "--seeds", "sites", "--topic", topic, code=2, cwd=brought).stderr
    assert "cannot be the name of a topic: " in said


def test_add_exits_with_3_where_nothing_is_new(brought):
    analecta("new", "lib", *ALL, cwd=brought)
    assert "Nothing is new." in analecta("add", "lib", *ALL, "--topic", "lib", code=3, cwd=brought).stdout
    assert not (brought / "lib" / "analecta.toml.before").exists()


def test_add_changes_nothing_while_a_crawl_runs_or_where_a_file_is_bad(brought):
    analecta("new", "lib", "--seeds", "seeds", cwd=brought)
    before = sorted((brought / "lib").iterdir())
    with LibraryFolder(brought / "lib").lock():
        assert "in use" in analecta("add", "lib", "--outline", "outline", code=4, cwd=brought).stderr
    analecta("add", "lib", "--outline", "outline", "--feed", "nothing", code=2, cwd=brought)
    analecta("add", "nowhere", "--outline", "outline", code=2, cwd=brought)
    assert sorted((brought / "lib").iterdir()) == sorted([*before, brought / "lib" / "lock"])


def test_add_brings_files_and_what_is_not_meant_and_the_same_only_once(examples, brought):
    analecta("new", "lib", "--seeds", "seeds", "--topic", "Roses", cwd=examples)
    assert "What is not meant: 1 file" in analecta("add", "lib", "--examples", "mine", "--dry-run", cwd=examples).stdout
    assert not (examples / "lib" / "topics").exists()
    said = analecta("add", "lib", "--examples", "mine", cwd=examples).stdout
    assert "  Topic Roses: 1 seed, 2 files, 2 pages to begin at\n  What is not meant: 1 file\n" in said
    assert settings(examples)["others"] == {"examples": ["topics/mine/OTHERS/c.txt"]}
    assert "There already: 4" in analecta("add", "lib", "--examples", "mine", code=3, cwd=examples).stdout
    (examples / "mine" / "OTHERS" / "e.txt").write_text("Rose is a name")
    more = json.loads(analecta("add", "lib", "--examples", "mine", "--json", cwd=examples).stdout)
    assert more["others"] == {"seeds": [], "examples": ["topics/mine/OTHERS/e.txt"]}


def test_a_topic_added_to_a_library_that_has_crawled_is_found_too(lib, pocket, tmp_path):
    analecta("crawl", lib, "--pages", 10, "--connect-to", pocket.address, "--workers", 1)
    new = [url for url in pocket.web.seeds("astronomy", 20) if explained(lib, url)["state"] == "unknown"]
    (tmp_path / "stars").write_text("\n".join(new[:3]))
    analecta("add", lib, "--seeds", tmp_path / "stars", "--topic", "stars")
    analecta("crawl", lib, "--pages", 60, "--connect-to", pocket.address)
    assert LibraryFolder(lib).topic_names() == ["bees", "stars"]
    assert status(lib)["topics"]["stars"] > 3


def explained(lib, url):
    return json.loads(analecta("explain", lib, url, "--json").stdout)


# --- crawl -----------------------------------------------------------------------------------------------------------


def test_crawl_gives_one_json_object_and_plain_progress(lib, pocket):
    done = analecta("crawl", lib, "--pages", 40, "--connect-to", pocket.address, "--workers", 1, "--json")
    result = json.loads(done.stdout)
    assert (result["code"], result["pages"], result["library"]) == (0, 40, str(lib))
    assert result["topics"] == {"bees": result["on_topic"]}
    assert result["hosts"] == json.loads(analecta("status", lib, "--json").stdout)["hosts"]
    assert re.fullmatch(r"(0:\d\d .* pages/s.*\n)+", done.stderr)


def test_crawl_goes_on_and_counts_the_pages_of_this_run(grown, pocket, tmp_path):
    library = copytree(grown, tmp_path / "copy")
    said = analecta("crawl", library, "--pages", 20, "--connect-to", pocket.address).stdout
    assert said.startswith("20 pages were asked for and kept.")
    assert json.loads(analecta("status", library, "--json").stdout)["pages"] == 120


def test_the_same_seed_gives_the_same_order(seeds, pocket, tmp_path):
    orders = []
    for name in ("a", "b"):
        analecta("new", tmp_path / name, "--seeds", seeds)
        words = ("--seed", 7, "--workers", 1, "--pages", 50, "--connect-to", pocket.address)
        analecta("crawl", tmp_path / name, *words)
        rows = analecta("export", tmp_path / name, "pages").stdout.splitlines()
        orders.append([json.loads(row)["url"] for row in rows])
    assert orders[0] == orders[1]
    assert len(orders[0]) > 40


def test_crawl_exits_with_3_where_nothing_is_left(tiny):
    said = analecta("crawl", tiny, "--connect-to", "127.0.0.1:9", code=3).stdout
    assert said.startswith("Nothing is left to fetch.")


def test_crawl_exits_with_4_where_the_disk_is_full(lib, pocket):
    path = lib / "analecta.toml"
    path.write_text(path.read_text().replace("free_disk = 0", "free_disk = 1_000_000_000_000_000"))
    said = analecta("crawl", lib, "--connect-to", pocket.address, "--workers", 1, code=4).stdout
    assert re.match(r"Only [\d,]+ MB are free on the disk", said)


@pytest.mark.parametrize("address", ["localhost", "a:b", "1.2.3.4:99999", "ftp://a:1", "a b:80"])
def test_connect_to_is_checked_before_anything_starts(lib, address):
    assert "HOST:PORT" in analecta("crawl", lib, "--connect-to", address, code=2).stderr
    assert not list((lib / "shards").iterdir())


def test_the_open_internet_needs_a_contact(lib):
    assert "contact" in analecta("crawl", lib, code=2).stderr
    said = analecta("crawl", lib, "--connect-to", "nowhere.invalid:80", code=2).stderr
    assert "nowhere.invalid:80 is not on this machine" in said
    assert "set contact" in said


def test_a_crawl_that_went_to_the_wrong_place_is_set_right_by_the_next(lib, pocket):
    said = analecta("crawl", lib, "--connect-to", "127.0.0.1:9", "--workers", 1, code=4).stderr
    assert re.search(r"no seed .* without its robots\.txt: http://\S+/robots\.txt \(connect\b", said)
    assert "what answers at 127.0.0.1:9" in said
    right = ("--connect-to", f"http://{pocket.address}/", "--workers", 1)
    assert json.loads(analecta("crawl", lib, "--pages", 5, *right, "--json").stdout)["pages"] == 5


def test_an_unknown_key_in_the_settings_is_named(lib):
    with (lib / "analecta.toml").open("a") as file:
        file.write("delai = 1\n")
    assert "did you mean 'delay'" in analecta("crawl", lib, code=2).stderr


def test_f04_ctrl_c_ends_a_crawl_cleanly(lib):
    with PocketServer(size=300, moody=False, delay=0.1) as slow:
        command = [*COMMAND, "crawl", str(lib), "--connect-to", slow.address, "--workers", "1", "--json"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, preexec_fn=heed, **pipes) as process:
            wait_for(lambda: status(lib)["pages"] > 3)
            running = status(lib)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out)["reason"]) == (130, "interrupted")
    assert f"process {process.pid} " in running["crawling"]
    assert status(lib)["urls"]["leased"] == 0


def status(lib):
    return json.loads(analecta("status", lib, "--json").stdout)


def wait_for(what, seconds=60.0):
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_f05_a_second_crawl_is_refused(lib, pocket):
    (lib / "lock").write_text("")
    holder = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holder, lib / "lock"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        assert "in use" in analecta("crawl", lib, "--connect-to", pocket.address, code=4).stderr
        process.communicate(b"\n")


# --- looking ---------------------------------------------------------------------------------------------------------


def test_status_for_people_and_for_scripts(grown):
    assert "no crawl runs" in analecta("status", grown).stdout
    assert status(grown)["pages"] == 100


def test_settings_that_cannot_be_read_are_told_and_the_rest_is_shown(grown, tmp_path):
    lib = copytree(grown, tmp_path / "lib")
    (lib / "analecta.toml").write_text('\nrecipe = "adaptiv"\n')
    said = analecta("status", lib).stdout
    assert re.search(r"Settings +cannot be read, .*analecta\.toml, line 2: there is no recipe 'adaptiv'", said)
    assert re.search("Pages +100", said)
    assert "line 2" in status(lib)["settings"]
    assert status(grown)["settings"] == ""


def test_a_library_of_another_version_is_called_so(grown, tmp_path):
    lib = copytree(grown, tmp_path / "lib")
    with LibraryFolder(lib).database() as db:
        db.execute("ALTER TABLE models RENAME COLUMN about TO story")
    said = analecta("status", lib, code=4).stderr
    assert "the library is of another version of Analecta" in said
    assert "(no such column: about)" in said


def test_explain_for_people_and_for_scripts(grown, pocket):
    seed = pocket.web.seeds("beekeeping", 1)[0]
    assert "a seed that you gave" in analecta("explain", grown, seed).stdout
    assert json.loads(analecta("explain", grown, "nowhere.test/x", "--json").stdout)["state"] == "unknown"


def test_a_seed_that_was_not_asked_for_yet_is_told_as_one(tmp_path):
    (tmp_path / "seeds.txt").write_text("http://bees.test/a\n")
    analecta("new", tmp_path / "lib", "--seeds", tmp_path / "seeds.txt")
    assert "NOT ASKED YET. Your settings name it" in analecta("explain", tmp_path / "lib", "https://bees.test/a").stdout
    assert "NEVER SEEN" in analecta("explain", tmp_path / "lib", "https://bees.test/b").stdout


def test_export_goes_to_standard_output_or_a_file(grown, tmp_path):
    lines = analecta("export", grown, "pages").stdout.splitlines()
    assert [json.loads(line)["order"] for line in lines] == sorted(json.loads(line)["order"] for line in lines)
    analecta("export", grown, "pages", "--format", "csv", "-o", tmp_path / "p.csv")
    with (tmp_path / "p.csv").open(encoding="utf-8", newline="") as file:
        assert [row["url"] for row in csv.DictReader(file)] == [json.loads(line)["url"] for line in lines]


def test_export_ends_quietly_when_the_reader_has_enough(grown):
    done = subprocess.run(
        f"{' '.join(COMMAND)} export {grown} links | head -1", shell=True, capture_output=True, text=True, timeout=30
    )
    assert json.loads(done.stdout)["source"]
    assert done.stderr == ""


@pytest.mark.parametrize("words", [["links", "--all"], ["pages", "--format", "parquet"], ["frogs"]])
def test_export_refuses_what_makes_no_sense(grown, words):
    analecta("export", grown, *words, code=2)


def test_f39_a_hostile_title_is_inert_in_the_terminal(tiny):
    said = analecta("explain", tiny, "http://a.test/").stdout
    assert "\\x1b]52;c;aGk=\\x1b\\ \\x9b31m[red]\\u202e" in said
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", said)


# --- webs without a network ------------------------------------------------------------------------------------------


def test_replay_serves_what_a_crawl_archived(grown, pocket):
    seed = pocket.web.seeds("beekeeping", 1)[0]
    host, _, path = seed.partition("://")[2].partition("/")
    command = [*COMMAND, "replay", str(grown / "archive"), "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, preexec_fn=heed, **pipes) as process:
        try:
            port = re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())[1]
            request = urllib.request.Request(f"http://127.0.0.1:{port}/{path}", headers={"Host": host})
            with urllib.request.urlopen(request) as got:
                assert got.headers["Content-Type"].startswith("text/html")
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def test_demo_ends_with_the_best_pages_and_where_to_look(tmp_path):
    said = analecta("demo", "--pages", 80, cwd=tmp_path).stdout
    assert said.count("Best new pages about") == 3
    assert f"The library is in {tmp_path / 'demo-library'}" in said
    explained = re.search(r"analecta (explain demo-library \S+)", said)[1].split()
    assert "IN. It is a page about" in analecta(*explained, cwd=tmp_path).stdout
    assert "--force" in analecta("demo", "--pages", 80, code=2, cwd=tmp_path).stderr


def test_demo_replaces_an_earlier_demo_if_told_to(tmp_path):
    LibraryFolder.create(tmp_path / "d", "").put("demo", 1)
    (tmp_path / "d" / "old").touch()
    assert make_demo(tmp_path / "d", Console(file=io.StringIO()), force=True, pages=20, size=300) == 0
    assert status(tmp_path / "d")["pages"] == 20
    assert not (tmp_path / "d" / "old").exists()


def test_demo_takes_nothing_away_but_a_demo(lib):
    before = sorted(os.listdir(lib))
    assert "no demo library" in analecta("demo", lib, "--force", code=2).stderr
    assert sorted(os.listdir(lib)) == before
