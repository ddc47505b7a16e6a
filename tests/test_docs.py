"""Documents and code say the same: settings, commands, recipes, requirements, faults, tests named, links, paths."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from analecta.cli.app import COMMANDS, load_command
from analecta.settings.load import recipe_names
from analecta.settings.schema import Settings
from analecta.store.library import LibraryFolder

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MANY = {"S": 17, "P": 11, "B": 21, "C": 8, "M": 3}
REQUIREMENTS = [f"{letter}{n}" for letter, most in MANY.items() for n in range(1, most + 1)]
FAULTS = [f"F{n:02d}" for n in (*range(1, 47), *range(53, 77))]  # 47 to 52: the cluster
HERE_NOW = [f for f in FAULTS if int(f[1:]) not in {40}]  # the others belong to later work
TEST_NAME = re.compile(r"`(tests/[\w/.-]+\.py)::(\w+)`")


@cache
def tracked() -> list[Path]:
    """The files of the project: what git has, or would take."""
    asked = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(asked, capture_output=True, check=True, text=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def pages() -> list[Path]:
    """The documents; Markdown inside the package are texts that it writes out."""
    return [path for path in tracked() if path.suffix == ".md" and ROOT / "analecta" not in path.parents]


def sections(page: Path, level: str) -> dict[str, str]:
    """The text below each heading of a level, by the heading's first word."""
    found = re.finditer(rf"(?ms)^{level} (\S+)[^\n]*\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", page.read_text())
    return {part[1]: part[2] for part in found}


# --- settings --------------------------------------------------------------------------------------------------------


def kind(wanted: inspect.Type) -> str:
    """What may stand at a key, in the words of the page."""
    match wanted:
        case inspect.UnionType(types=(first, *_)):
            return f"{kind(first)}, or left out"
        case inspect.BoolType():
            return "True or false"
        case inspect.StrType():
            return "Text"
        case inspect.VarTupleType(item_type=inspect.StructType()):
            return "List of tables"
        case inspect.VarTupleType():
            return "List of texts"
        case inspect.DictType(value_type=inspect.IntType()):
            return "Table of whole numbers"
        case inspect.DictType():
            return "Table of texts"
    assert isinstance(wanted, inspect.IntType | inspect.FloatType)
    word = "Whole number" if isinstance(wanted, inspect.IntType) else "Number"
    if wanted.ge is None:
        return word
    return f"{word}, {wanted.ge:g} to {wanted.le:g}" if wanted.le is not None else f"{word}, {wanted.ge:,} or more"


def fields(struct: type = Settings, prefix: str = "") -> dict[str, inspect.Field]:
    """Every key of the settings, with dots."""
    found: dict[str, inspect.Field] = {}
    for field in inspect.type_info(struct).fields:
        inner = field.type
        if not isinstance(inner, inspect.StructType):
            found[prefix + field.name] = field
            inner = getattr(inner, "item_type", None)
        if isinstance(inner, inspect.StructType):
            found |= fields(inner.cls, f"{prefix}{field.name}.")
    return found


def default(line: str) -> object:
    """The default that a line of the page names."""
    written = re.search(r"· default `(.*?)`", line)
    return tomllib.loads(f"value = {written[1]}")["value"] if written else None


def test_every_setting_has_its_heading_and_no_other():
    assert list(sections(DOCS / "settings.md", "###")) == list(fields())


@pytest.mark.parametrize("key", fields())
def test_a_setting_has_the_kind_and_default_that_the_page_says(key):
    field = fields()[key]
    line = sections(DOCS / "settings.md", "###")[key].strip().splitlines()[0]
    assert line.split(" · ")[0] == kind(field.type)
    assert ("must be given" in line) == field.required
    value = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    assert field.required or default(line) == msgspec.json.decode(msgspec.json.encode(value))


def test_settings_name_requirements_that_exist():
    lines = [part.strip().splitlines()[0] for part in sections(DOCS / "settings.md", "###").values()]
    named = {word for line in lines for word in re.findall(r"\b[SPBCM]\d+\b", line)}
    assert len(named) > 10
    assert named <= set(REQUIREMENTS)


# --- commands, recipes -----------------------------------------------------------------------------------------------


def not_told(commands: dict[str, Any], written: dict[str, str]) -> list[tuple[str, str]]:
    """The options that their command's section does not name."""
    options = [(name, word) for name, one in commands.items() for given in one.params for word in _words(given)]
    return [(name, word) for name, word in options if word not in written[name]]


def _words(option: Any) -> list[str]:
    return [word for word in (*option.opts, *option.secondary_opts) if word.startswith("-")]


def test_every_command_and_option_is_in_its_section():
    commands, written = {name: load_command(name) for name in COMMANDS}, sections(DOCS / "commands.md", "##")
    assert list(written) == list(commands)
    assert not_told(commands, written) == []


def test_every_command_below_another_is_in_its_section():
    groups = [one for one in map(load_command, COMMANDS) if hasattr(one, "commands")]
    commands = {name: one for group in groups for name, one in group.commands.items()}
    written = sections(DOCS / "commands.md", "###")
    assert list(written) == list(commands)
    assert not_told(commands, written) == []


def test_every_recipe_has_its_page_and_no_other():
    assert sorted(path.stem for path in (DOCS / "recipes").glob("*.md")) == recipe_names()


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_page_has_the_values_of_its_file(name):
    rows = re.findall(r"(?m)^\| `([\w.]+)` \| `(.*?)` \|", (DOCS / "recipes" / f"{name}.md").read_text())
    written = {key: tomllib.loads("value = " + value.replace("\\|", "|"))["value"] for key, value in rows}
    file = tomllib.loads((ROOT / "analecta" / "recipes" / f"{name}.toml").read_text())
    assert written == {f"{table}.{key}": value for table, keys in file.items() for key, value in keys.items()}


# --- requirements and faults -----------------------------------------------------------------------------------------


@cache
def functions(path: Path) -> dict[str, bool]:
    """The functions of a test file; True for those that are expected to fail."""
    found = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    return {f.name: any(ast.unparse(d).startswith("pytest.mark.xfail") for d in f.decorator_list) for f in found}


def test_every_requirement_has_its_section_in_order():
    assert list(sections(DOCS / "seeds.md", "###")) == REQUIREMENTS


def test_every_fault_has_its_section_in_order():
    assert list(sections(DOCS / "faults.md", "##")) == FAULTS


@pytest.mark.parametrize("page", ["seeds.md", "faults.md"])
def test_each_test_that_a_page_names_exists_and_gaps_are_called_so(page):
    lines = [(line, *named.groups()) for line in _lines(DOCS / page) for named in TEST_NAME.finditer(line)]
    assert [f"{file}::{name}" for _, file, name in lines if name not in functions(ROOT / file)] == []
    assert [line for line, file, name in lines if functions(ROOT / file)[name] != line.startswith("- Gap: ")] == []


@pytest.mark.parametrize("fault", HERE_NOW)
def test_a_fault_is_shown_by_a_test_of_its_name_or_measured(fault):
    part = sections(DOCS / "faults.md", "##")[fault]
    shown = [name for _, name in TEST_NAME.findall(part) if f"_{fault.lower()}_" in name]
    assert shown or re.search(r"`benchmarks/\w+\.py`", part)


def test_no_gap_is_left_out():
    named = set(re.findall(r"- Gap: `(?:[^`]*)::(\w+)`", (DOCS / "faults.md").read_text()))
    files = [path for path in tracked() if path.match("tests/**/test_*.py") or path.match("tests/test_*.py")]
    gaps = {name for path in files for name, fails in functions(path).items() if fails}
    assert {name for name in gaps if re.match(r"test_(f\d\d_)+", name) and _fault(name) in FAULTS} - named == set()


def _fault(name: str) -> str:
    return name.split("_")[1].upper()


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


@pytest.mark.parametrize("page", ["seeds.md", "faults.md", "settings.md"])
def test_each_file_that_a_page_names_exists(page):
    text = (DOCS / page).read_text()
    named = set(re.findall(r"`((?:\w+/)*[\w-]+\.py)`", text)) | {file for file, _ in TEST_NAME.findall(text)}
    assert named
    assert {name for name in named if not (ROOT / name).exists() and not (ROOT / "analecta" / name).exists()} == set()


# --- links, lines, paths ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!\w+:)([^)#\s]+)[^)]*\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_leads_to_every_page():
    seen, todo = set[Path](), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        seen.add(page)
        links = re.findall(r"\]\(([^)#\s:]+\.md)\)", page.read_text())
        todo += [found for link in links if (found := (page.parent / link).resolve()) not in seen]
    assert set(pages()) - seen == set()


def test_no_file_names_a_place_on_somebody_s_machine():
    places = re.compile(r"(?<![\w.}-])/(?:" + "|".join(["work", "root", "tmp/x", "home/(?!me/)"]) + r")(?:/|\b)")
    found = []
    for path in tracked():
        text = path.read_bytes()
        if b"\0" not in text and (place := places.search(text.decode(errors="replace"))):
            found.append((str(path.relative_to(ROOT)), place[0]))
    assert found == []


# --- examples --------------------------------------------------------------------------------------------------------


def test_the_example_reads_a_library(tmp_path):
    library = LibraryFolder.create(tmp_path / "lib", "")
    library.topic_names(("bees",))
    command = [sys.executable, str(ROOT / "examples" / "read_a_library.py"), str(library.folder)]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout == "bees:\n"


@pytest.mark.timeout(400)  # two dozen commands, one after another
def test_the_first_library_is_grown_and_written_out(tmp_path):
    command = [str(ROOT / "examples" / "first_library.sh"), str(tmp_path / "first"), "200"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(command, capture_output=True, text=True, timeout=380, env=os.environ | {"PATH": path})
    assert done.returncode == 0, done.stderr
    assert "IN. It is a page about bees" in done.stdout
    assert len((tmp_path / "first" / "bees.csv").read_text().splitlines()) > 3  # how many are found in 100 pages varies
