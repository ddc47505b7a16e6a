"""Every SQL statement of the store fits the schema, and none walks through all pages to find one by its id."""

import ast
import builtins
import importlib
import re
import sqlite3
from pathlib import Path

import pytest

import analecta.store
from analecta.store import schema

FOLDER = Path(analecta.store.__file__).parent
VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
OPEN = re.compile(r"\b(FROM|INTO|UPDATE|SET) 1\b|\{")  # which table or column, is known when it is run
BY_ID = re.compile(r"\bid (=|IS|IN) *(\?|:id|\(\?|\(1)")


class StandIn:
    """Stands for what a statement is put together from when it is run; in SQL it is the number 1."""

    def __format__(self, _):
        return "1"

    def __getattr__(self, _):
        return self

    def __call__(self, *_):
        return self

    def __getitem__(self, _):
        return self

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 1


class Names(dict):
    def __missing__(self, name):
        return getattr(builtins, name, StandIn())


def evaluated(node, names):
    """The text of a node; nothing where it is put together from what is not SQL."""
    try:
        return eval(compile(ast.Expression(node), "statement", "eval"), {}, names)
    except (TypeError, ValueError):
        return ""


def statements():
    """The module and text of each statement: constants, and what is put together from them."""
    for path in sorted(FOLDER.glob("*.py")):
        names = Names(vars(importlib.import_module(f"analecta.store.{path.stem}")))
        tree = ast.parse(path.read_text())
        inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in inner:
                text = evaluated(node, names)
                if isinstance(text, str) and text.lstrip().startswith(VERBS) and not OPEN.search(text):
                    yield pytest.param(text, id=f"{path.stem}:{node.lineno}")


STATEMENTS = list(statements())
TABLES = {
    "shard": (schema.SHARD_SQL, schema.GIVEN_UP_INDEX, schema.DEMOTED_INDEX, schema.SITES_TABLE),
    "site links": (schema.SHARD_SQL, schema.SITES_TABLE, schema.SITE_LINKS_TABLE, schema.SITE_URLS_TABLE),
    "library": (
        schema.LIBRARY_SQL, schema.FEEDBACK_TABLE, schema.CRAWLED_SITES_TABLE, schema.SHARDS_TABLE,
    ),
    "oai": (schema.OAI_SQL,),
    "catalogue": (schema.CATALOGUE_SQL, schema.CATALOGUE_INDEXES),
}  # fmt: skip


@pytest.fixture(scope="module")
def databases():
    found = [sqlite3.connect(":memory:") for _ in TABLES]
    for db, parts in zip(found, TABLES.values(), strict=True):
        db.executescript(";".join(parts))
    yield found
    for db in found:
        db.close()


def plan(databases, statement):
    """How SQLite would run it, in the file that has its tables."""
    filled = re.sub(r"\?\d*|(?<![:\w]):[a-z]+", "1", statement)
    filled += "(1)" * filled.endswith(" IN ") + "1" * filled.endswith("WHERE ")
    wrong = ""
    for db in databases:
        try:
            return [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {filled}")]
        except sqlite3.OperationalError as error:
            wrong = wrong or str(error)
    raise AssertionError(f"{wrong}: {filled}")


def test_the_statements_are_found():
    assert len(STATEMENTS) > 200


@pytest.mark.parametrize("statement", STATEMENTS)
def test_no_statement_finds_a_page_by_its_id_in_a_walk_through_all(databases, statement):
    steps = plan(databases, statement)
    if BY_ID.search(statement):
        assert not [step for step in steps if re.match(r"SCAN (p|pages)\b", step)]
