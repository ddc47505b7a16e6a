"""How commands speak to machines."""

import json
import os

import msgspec

from analecta.cli.app import print_json


class Said(msgspec.Struct):
    files: dict[str, tuple[str, int]]


def test_json_is_written_also_of_names_that_are_no_text(capsys):
    print_json({"said": Said({os.fsdecode(b"s\xff.txt"): (os.fsdecode(b"b\xe9e"), 1)})})
    assert json.loads(capsys.readouterr().out) == {"said": {"files": {"s?.txt": ["b?e", 1]}}}
