"""What a spreadsheet would run is text in what is exported."""

import csv
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.engines.lab.timer_files import read_timers
from inspector.formats.csv_cells import quoted, text_cell, text_of_cell

_FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "'=1", "''@x"]


@pytest.mark.parametrize("text", _FORMULAS)
def test_that_a_formula_is_written_as_text(text: str) -> None:
    assert text_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "boss", "5 s", "'quoted'", "a=b", " =1", "“=”"])
def test_that_what_is_no_formula_is_written_as_it_is(text: str) -> None:
    assert text_cell(text) == text


@given(st.text(alphabet="'=+-@\t\r\n\",a;", max_size=8))
def test_that_every_text_is_read_back_as_it_was(text: str) -> None:
    line = f"1,{quoted(text_cell(text))},2\r\n"

    (cells,) = csv.reader(StringIO(line, newline=""))

    assert [cells[0], text_of_cell(cells[1]), cells[2]] == ["1", text, "2"]


@given(st.text(alphabet="'=+-@\t\r\n\",a;", max_size=8))
def test_that_no_cell_begins_like_a_formula(text: str) -> None:
    assert not text_cell(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_that_timers_get_their_names_back(tmp_path: Path) -> None:
    path = tmp_path / "timers.csv"
    path.write_text(f"name,interval\n{text_cell('=boss')},1\n+x,2\n")

    assert [timer.name for timer in read_timers(path)] == ["=boss", "+x"]
