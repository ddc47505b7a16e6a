"""The table of reasons is held to the code: every word that the engine can write as a reason is in it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import analecta
from analecta.fetch import REASONS as NO_ANSWER
from analecta.frontier.hosts import BAD_HOST, BUSY_HOST
from analecta.views.reasons import REASONS, sentence

ROOT = Path(analecta.__file__).parent
ENGINE = ("crawl", "fetch", "frontier", "store")
WORD = re.compile(r"[a-z]+(-[a-z]+)*")  # statuses have a sentence of their own
# Calls by which a URL gets its reason.
CALLS = {
    "NoResponse",
    "NoAddress",
    "_end",
    "_again",
    "requeue",
    "give_up",
    "settle",
    "settle_queued",
    "_settle",
    "refuse",
    "_give_up",
}
# Reasons that have a name, as `BAD_HOST, BUSY_HOST = "bad-host", "busy-host"`.
NAMED = {"BAD_HOST": BAD_HOST, "BUSY_HOST": BUSY_HOST}


def words(tree: ast.AST) -> Iterator[str]:
    """Strings that stand where reasons stand: arguments of those calls, what `refusal` returns, SQL."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in CALLS:
            yield from strings([*node.args[:4], *(k.value for k in node.keywords if k.arg == "reason")])
        elif isinstance(node, ast.FunctionDef) and node.name == "refusal":
            yield from strings([part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"reason = '([a-z-]+)'", node.value)
        elif isinstance(node, ast.Tuple) and any(isinstance(part, ast.Attribute) for part in node.elts):
            # (n, candidate, UrlState.FAILED, False, "bad-host")
            yield from strings(node.elts if "State" in ast.unparse(node) else [])


def strings(nodes: list[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in NAMED:
            yield NAMED[node.id]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and WORD.fullmatch(node.value):
            yield node.value


def produced() -> set[str]:
    found: set[str] = set()
    for package in ENGINE:
        for path in (ROOT / package).glob("*.py"):
            if path.name != "guard.py":  # its refusals are details, for a person
                found.update(words(ast.parse(path.read_text())))
    return found


def test_every_reason_in_the_code_is_explained():
    found = produced()
    assert {"poison", "bad-host", "redirect-loop", "queue-full", "scope-host", "crawl-delay", "dns"} <= found
    assert BUSY_HOST in found
    assert found <= set(REASONS)


def test_every_reason_in_a_grown_library_is_explained(grown):
    with grown.shards() as shards:
        seen = {reason for shard in shards for (reason,) in shard.execute("SELECT DISTINCT reason FROM urls") if reason}
    assert {reason for reason in seen if not reason.startswith("http-")} <= set(REASONS)


def test_every_explained_reason_is_in_the_code():
    text = "".join(path.read_text() for package in ENGINE for path in (ROOT / package).glob("*.py"))
    assert not [word for word in REASONS.keys() - NO_ANSWER.keys() if not re.search(rf"[\"']{word}[\"']", text)]


def test_the_document_shows_the_table():
    document = (ROOT.parent / "docs" / "reasons.md").read_text()
    assert dict(re.findall(r"(?m)^\| `([a-z-]+)` \| (.*) \|$", document)) == REASONS


@pytest.mark.parametrize(("reason", "words"), [("http-404", "Not Found"), ("http-301", "another"), ("http-999", "999")])
def test_statuses_are_told_in_words(reason, words):
    assert words in sentence(reason)
