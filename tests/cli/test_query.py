"""``query``: SQL on the frames and statistics of files."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.exit_codes import ExitCode
from tests.cli.answers import Run
from tests.forked.python import COMMAND_LINE, python_with
from tests.signalled import told_and_ended

HEAD = "Application,MsBetweenPresents,GPU Power(W),file\n"


def write(path: Path, *rows: str) -> Path:
    path.write_text(HEAD + "\n".join(f"a.exe,{row}" for row in rows) + "\n")
    return path


@pytest.fixture
def files(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs the extra query")
    write(tmp_path / "a.csv", "10,100,1", "30,200,2", "20,NA,3")
    (tmp_path / "it's.csv").write_text("Application,MsBetweenPresents\na.exe,8\na.exe,8\n")


pytestmark = pytest.mark.usefixtures("files")


def rows_of(run: Run, sql: str, *files: str, more: str = "") -> list[dict[str, object]]:
    names = " ".join(f'"{each}"' for each in files)
    code, out, err = run(f'query "{sql}" {names} --json {more}')
    assert code == ExitCode.OK, err
    found: list[dict[str, object]] = json.loads(out)
    return found


def test_that_frames_of_files_are_one_table(run: Run) -> None:
    sql = (
        "select file, stream, frame, at_s, frame_time_ms, busy_ms from frames order by file, frame"
    )

    rows = rows_of(run, sql, "a.csv", "it's.csv")

    assert rows[1] == {
        "file": "a.csv",
        "stream": "a.exe",
        "frame": 1,
        "at_s": 0.04,
        "frame_time_ms": 30,
        "busy_ms": None,
    }
    assert [(row["file"], row["at_s"]) for row in rows[3:]] == [
        ("it's.csv", 0.008),
        ("it's.csv", 0.016),
    ]


def test_that_columns_beside_frame_times_have_their_names(run: Run) -> None:
    sql = r"select \"GPU Power(W)\" w, file_2 from frames"

    assert rows_of(run, sql, "a.csv", "it's.csv") == [
        {"w": 100, "file_2": 1},
        {"w": 200, "file_2": 2},
        {"w": None, "file_2": 3},
        {"w": None, "file_2": None},
        {"w": None, "file_2": None},
    ]


def test_that_statistics_are_a_table(run: Run) -> None:
    rows = rows_of(run, "select * from metrics where id = 'presentmon.max'", "it's.csv")

    assert rows == [
        {
            "file": "it's.csv",
            "id": "presentmon.max",
            "tool": "PresentMon",
            "name": "Max FPS",
            "unit": "fps",
            "value": 125,
        }
    ]


def test_that_answers_are_cut_and_say_so(run: Run) -> None:
    code, out, err = run('query "select frame, frame_time_ms from frames" a.csv --limit 2 --csv')

    assert code == ExitCode.OK
    assert list(csv.reader(out.splitlines())) == [
        ["frame", "frame_time_ms"],
        ["0", "10.0"],
        ["1", "30.0"],
    ]
    assert "Only 2 rows are shown" in err
    _, out, err = run('query "select frame, frame_time_ms from frames" a.csv')
    first, _line, *rows = (line.split() for line in out.splitlines())
    assert first == ["frame", "frame_time_ms"]
    assert rows == [["0", "10"], ["1", "30"], ["2", "20"]]
    assert err == ""


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select nope from frames", "nope"),
        ("selec 1", "syntax error"),
        ("", "this is nothing"),
        ("create table x as select 1", "this is CREATE"),
        ("select 1; select 2", "this is SELECT and SELECT"),
        ("set enable_external_access = true", "this is SET"),
        ("copy frames to 'x.csv'", "this is COPY"),
        ("attach 'x.db'", "this is ATTACH"),
        ("select * from read_csv('a.csv')", "file system operations are disabled"),
        ("select * from 'a.csv'", "file system operations are disabled"),
        ("select * from glob('*')", "file system operations are disabled"),
        ("select * from read_text('/etc/passwd')", "file system operations are disabled"),
    ],
)
def test_that_only_these_tables_are_read_by_one_select(
    run: Run, tmp_path: Path, sql: str, reason: str
) -> None:
    before = sorted(tmp_path.iterdir())

    code, out, err = run(f'query "{sql}" a.csv')

    assert (code, out) == (ExitCode.FAILED, "")
    assert reason in err
    assert sorted(tmp_path.iterdir()) == before


def test_that_a_file_that_cannot_be_read_is_named(run: Run) -> None:
    code, _, err = run('query "select 1" missing.csv')

    assert code != ExitCode.OK
    assert "missing.csv" in err


def test_that_without_the_library_it_says_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)

    code, _, err = run('query "select 1" a.csv')

    assert code == ExitCode.BAD_ENVIRONMENT
    assert "pip install 'timeline-inspector[query]'" in err


def test_that_damaged_values_are_null_and_told(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "d.csv", *(f"10,{'oops' if n == 3 else n},1" for n in range(9)))

    code, out, err = run('query "select count(\\"GPU Power(W)\\") from frames" d.csv --csv')

    assert (code, out.split()[-1]) == (ExitCode.OK, "8")
    assert "d.csv: GPU Power(W): 1 value is damaged and was left out; the first is in line 5" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_that_a_signal_ends_a_query_without_end(tmp_path: Path, number: signal.Signals) -> None:
    write(tmp_path / "damaged.csv", "10,1,1", "no number,1,1")
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"
    python = python_with(COMMAND_LINE)
    process = subprocess.Popen(
        [*python, "-m", "inspector", "query", endless, str(tmp_path / "damaged.csv")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    # What is said before the query begins.
    assert "damaged" in told_and_ended(process, number)
