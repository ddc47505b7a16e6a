import csv
import io

import orjson
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analecta.errors import ResourceError, UsageError
from analecta.export.tables import safe_cell, write, write_csv

COLUMNS = {"title": str, "order": int, "topics": dict, "noindex": bool}
ROWS = [{"title": f"=t{i}", "order": -i, "topics": {"a": 0.5}, "noindex": i == 1} for i in range(5000)]


def cell_text(cell):
    """The text that `safe_cell` was given: a quote of ours is before what would need one."""
    return cell[1:] if cell.startswith("'") and safe_cell(cell[1:]) != cell[1:] else cell


@pytest.mark.parametrize(
    "cell",
    [
        "=cmd",
        " =1",
        "\u00a0=1",
        "+1",
        "-1",
        "@x",
        "\tx",
        "\rx",
        "safe\n=1",
        "a\r\n +1",
        "＝1",
        "\ufeff=1",
        "\u200b=1",
        "\0@x",
    ],
)
def test_f38_cells_that_look_like_formulas_get_a_quote(cell):
    assert safe_cell(cell) == f"'{cell}"
    assert cell_text(safe_cell(cell)) == cell


def test_f38_other_cells_stay_as_they_are():
    for cell in ("", "x=1", "a - b", "https://a.test/?q=-1", "'tis", "two\nlines"):
        assert safe_cell(cell) == cell


@given(st.text(st.sampled_from("'=+-@ \t\r\n\u00a0\ufeff\0ab,;\"")))
def test_f38_a_table_read_again_gives_the_same_texts(text):
    out = io.BytesIO()
    write_csv([{"title": text}], {"title": str}, out)
    _, *rows = csv.reader(io.StringIO(out.getvalue().decode(), newline=""))
    assert cell_text(rows[0][0] if rows and rows[0] else "") == text


def test_csv_has_all_columns_and_numbers_as_they_are(tmp_path):
    write(ROWS, COLUMNS, "csv", tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[1] == {"title": "'=t1", "order": "-1", "topics": '{"a":0.5}', "noindex": "true"}


def test_json_lines_hold_the_values_themselves(tmp_path):
    assert write(ROWS, COLUMNS, "jsonl", tmp_path / "t.jsonl") == 5000
    lines = (tmp_path / "t.jsonl").read_bytes().splitlines()
    assert [orjson.loads(line) for line in lines] == ROWS


def test_parquet_has_types_and_several_row_groups(tmp_path):
    write(iter(ROWS), COLUMNS, "parquet", tmp_path / "t.parquet")
    table = pq.read_table(tmp_path / "t.parquet")
    assert table.column("title").to_pylist() == [row["title"] for row in ROWS]
    assert [str(field.type) for field in table.schema] == ["string", "int64", "string", "bool"]


def test_no_rows_make_an_empty_table(tmp_path):
    assert write([], COLUMNS, "parquet", tmp_path / "t.parquet") == 0
    assert pq.read_table(tmp_path / "t.parquet").column_names == list(COLUMNS)


def test_a_file_is_whole_or_not_there(tmp_path):
    def broken():
        yield ROWS[0]
        raise RuntimeError

    (tmp_path / "t.csv").write_text("before,then\n")
    with pytest.raises(RuntimeError):
        write(broken(), COLUMNS, "csv", tmp_path / "t.csv")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("t.csv", "before,then\n")]


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="cannot write"):
        write(ROWS, COLUMNS, "csv", tmp_path / "file" / "t.csv")
    with pytest.raises(UsageError, match="-o FILE"):
        write(ROWS, COLUMNS, "parquet", None)
