"""The rules of the house: what stands where, and how large it may be. See docs/architecture.md."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "analecta"
MOST_ARGUMENTS = 8
MOST_PRIVATE = 10  # private members that tests may touch, in all
# Optional packages: a module that can do without them imports them where it needs them.
EXTRAS: frozenset[str] = frozenset()
# Names that end like a gerund, a participle or an adverb, and are nouns of the field.
NOUNS = {"ranking", "clustering", "stemming", "training", "encoding", "merging", "feed", "seed", "embed"}
SQL = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b", re.S)

Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def parsed(folder: Path) -> dict[str, ast.Module]:
    return {f.relative_to(folder).as_posix(): ast.parse(f.read_text("utf-8")) for f in sorted(folder.rglob("*.py"))}


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    return parsed(PACKAGE)


def packages(node: ast.AST) -> list[str]:
    """The packages that an import names."""
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "").partition(".")[0]]
    return [one.name.partition(".")[0] for one in node.names] if isinstance(node, ast.Import) else []


def hidden(module: ast.Module) -> list[str]:
    """The packages that functions import."""
    inside = [node for function in ast.walk(module) if isinstance(function, Function) for node in ast.walk(function)]
    return [name for node in inside for name in packages(node) if name not in EXTRAS]


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    return sum(one.arg not in ("self", "cls") for one in (*given.posonlyargs, *given.args, *given.kwonlyargs))


def users(modules: dict[str, ast.Module], wanted: set[str], but: str) -> list[str]:
    """The modules outside a folder that import one of these packages."""
    return [
        name
        for name, module in modules.items()
        if not name.startswith(but) and any(wanted & {*packages(node)} for node in ast.walk(module))
    ]


def test_a_class_name_is_used_once(modules):
    names = Counter(
        node.name.lstrip("_") for module in modules.values() for node in module.body if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_no_function_has_many_arguments(modules):
    many = {
        f"{name}:{node.name}"
        for name, module in modules.items()
        for node in ast.walk(module)
        if isinstance(node, Function) and not name.startswith("cli/") and arguments(node) > MOST_ARGUMENTS
    }
    assert many == set()


def test_imports_stand_at_the_top(modules):
    assert [name for name, module in modules.items() if hidden(module)] == []


def test_sql_is_written_in_the_store_alone(modules):
    outside = {name: module for name, module in modules.items() if not name.startswith("store/")}
    texts = [
        (name, node.value)
        for name, module in outside.items()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert [name for name, text in texts if SQL.search(text)] == []
    assert users(modules, {"sqlite3", "apsw"}, "store/") == []


def test_terminal_libraries_are_used_in_cli_alone(modules):
    assert users(modules, {"rich", "typer"}, "cli/") == []


def test_modules_are_named_by_nouns(modules):
    stems = {name: Path(name).stem for name in modules}
    odd = [name for name, stem in stems.items() if re.search("(ing|ed|ly)$", stem) and stem not in NOUNS]
    assert odd == []


def test_tests_use_what_is_public():
    touched = Counter(
        name
        for name, module in parsed(ROOT / "tests").items()
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
        if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    )
    assert touched.total() <= MOST_PRIVATE, touched
