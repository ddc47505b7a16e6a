import subprocess
import sys

import pytest

from analecta.errors import UsageError
from analecta.export import FORMATS, TABLES, ExportRequest, check_request, load_writer

ENTRIES = [(kind, format) for kind, formats in FORMATS.items() for format in formats]


@pytest.mark.parametrize(("kind", "format"), ENTRIES)
def test_each_format_names_a_function_and_options_that_there_are(kind, format):
    assert callable(load_writer(FORMATS[kind][format].writer))
    assert set(FORMATS[kind][format].options) <= set(ExportRequest.__struct_fields__)


def test_tables_are_written_by_functions_that_there_are():
    assert all(callable(load_writer(name)) for name in TABLES.values())


def test_the_first_format_is_taken_where_none_is_asked_for():
    assert check_request("pages", None, {"topic": None}) == "jsonl"
    assert check_request("archive", None, {}) == "wacz"


def test_an_option_or_format_of_something_else_is_refused():
    with pytest.raises(UsageError, match=r"--for-training is for `export LIB pages`, not for links"):
        check_request("links", None, {"for_training": True})
    with pytest.raises(UsageError, match="graph can be written as gexf, graphml, not as csv"):
        check_request("graph", "csv", {})
    with pytest.raises(UsageError, match="--topic '' names nothing"):
        check_request("collection", None, {"topic": ""})


def test_the_command_loads_no_writer_before_it_is_used():
    code = "import sys, analecta.cli.export; print(sorted({'pyarrow', 'scipy', 'turbohtml'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
