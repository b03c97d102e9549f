"""Captures that are damaged, absurd or strange: what was read, or one sentence."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from inspector.cli import main as cli
from inspector.exit_codes import ExitCode
from inspector.formats.tables.frame_times_csv import CSV_COLUMNS
from tests.cli.damaged_captures import damaged, own_csv, own_json
from tests.fuzz import rounds

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.answers import Run

_EXPORTS = "-o out.svg -o out.csv -o out.json"
_COLUMNS = ("", "", "", "", ":1", ":5", ":busy_ms", f":{'9' * 5_000}")
_OPTIONS = ("", "", "--stacked", "--measure delta", "--measure busy", "--range 1:5")
_LONGEST_ANSWER = 6_000


def _line(random: Random) -> str:
    kind = random.random()
    if kind < 0.15:
        return "stats c.csv --columns --without-outliers -o s.csv -o s.md"
    if kind < 0.3:
        return "compare c.csv c.csv --columns -o k.csv -o k.md"
    if kind < 0.8:
        return f"export c.csv{random.choice(_COLUMNS)} {_EXPORTS} {random.choice(_OPTIONS)}"
    seconds = random.choice(["", "--seconds 1"])
    if kind < 0.9:
        return f"lab --frame-times c.csv --timer 100ms --subject clock {seconds}"
    # A second may be a million frames.
    return "run 4 --frame-times c.csv --frames 500"


def test_that_no_damaged_capture_is_more_than_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in rounds(25):
        random = Random(seed)
        (tmp_path / "c.csv").write_bytes(damaged(random))
        line = _line(random)

        code = cli.main(line.split())

        err = capsys.readouterr().err
        possible = {ExitCode.OK, ExitCode.FAILED, ExitCode.UNREADABLE}
        assert code in possible, f"seed {seed}: {line}: {err}"
        assert len(err) < _LONGEST_ANSWER, f"seed {seed}: {line}: {err[:200]}"


def test_that_our_own_csv_saved_again_as_ansi_is_read(tmp_path: Path, run: Run) -> None:
    (tmp_path / "game.csv").write_bytes(own_csv().decode().encode("cp1252"))

    assert run("export game.csv -o out.json")[0] == ExitCode.OK

    there = json.loads((tmp_path / "out.json").read_bytes())
    assert there["columns"]["interval_ns"][:3] == [16_700_000, 16_600_000, 33_400_000]


def test_that_a_byte_of_no_text_among_columns_is_a_sentence(tmp_path: Path, run: Run) -> None:
    (tmp_path / "game.json").write_bytes(own_json().replace(b'"at_ns"', b'"\xf3t_ns"', 1))

    code, _, err = run("export game.json -o out.csv")

    assert (code, "game.json is not complete JSON" in err) == (ExitCode.UNREADABLE, True)


def test_that_a_cell_longer_than_any_is_a_sentence(tmp_path: Path, run: Run) -> None:
    (tmp_path / "game.csv").write_bytes(own_csv() + b'"' + b"x" * 140_000 + b"\n")

    code, _, err = run("export game.csv -o out.json")

    assert code == ExitCode.UNREADABLE
    assert "game.csv is damaged: it has not only whole numbers in line 14." in err


def test_that_an_own_table_that_is_cut_off_is_read_up_to_there(tmp_path: Path, run: Run) -> None:
    (tmp_path / "game.csv").write_bytes(own_csv()[:-40])

    assert run("export game.csv -o out.json")[0] == ExitCode.OK

    assert json.loads((tmp_path / "out.json").read_bytes())["frame_count"] == 11


@pytest.mark.parametrize("command", ["run 4 --frame-times zeros.csv --seconds 1"])
def test_that_frames_in_which_no_time_passes_do_not_get_anywhere(
    tmp_path: Path, run: Run, command: str
) -> None:
    (tmp_path / "zeros.csv").write_text("ms\n0\n0\n")

    code, _, err = run(command)

    assert code == ExitCode.UNREADABLE
    assert "no time passes in ms, so it never reaches --seconds. Use --frames" in err


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (5, "no column busy_ns"),
        (None, "no column busy_ns"),
        ({"a": 1}, "no column busy_ns"),
        ([[1], [2]], "not only whole numbers in busy_ns"),
        ([1.5] * 12, "not only whole numbers in busy_ns"),
        ([True] * 12, "not only whole numbers in busy_ns"),
        (["soon"] * 12, "not only whole numbers in busy_ns"),
        ([-1] * 12, "busy_ns before 0 or beyond 146 years"),
        ([2**63 - 1] * 12, "busy_ns before 0 or beyond 146 years"),
        ([2**64] * 12, "not only whole numbers in busy_ns"),
        ([0] * 11, "columns of different lengths"),
    ],
)
def test_that_a_strange_column_is_named(
    tmp_path: Path,
    run: Run,
    column: Any,  # noqa: ANN401 - anything
    reason: str,
) -> None:
    values = json.loads(own_json())
    values["columns"]["busy_ns"] = column
    (tmp_path / "game.json").write_text(json.dumps(values))

    code, _, err = run("export game.json -o out.svg")

    assert code == ExitCode.UNREADABLE
    assert f"game.json is damaged: it has {reason}. Export it again." in err


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("at_ns", list(range(12, 0, -1)), "frames that go back in time"),
        ("frame", [0, 2, *range(3, 13)], "frames that do not follow each other"),
    ],
)
def test_that_frames_come_one_after_another(
    tmp_path: Path, run: Run, name: str, values: list[int], reason: str
) -> None:
    whole = json.loads(own_json())
    whole["columns"][name] = values
    (tmp_path / "game.json").write_text(json.dumps(whole))

    assert f"it has {reason}." in run("export game.json -o out.svg")[2]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_that_nesting_without_end_is_a_sentence(tmp_path: Path, run: Run, text: str) -> None:
    ours = '{"format": "timeline-inspector frame times", "x": '
    (tmp_path / "game.json").write_text(ours + text)

    code, _, err = run("export game.json -o out.svg")

    assert (code, "is not complete JSON" in err) == (ExitCode.UNREADABLE, True)


def test_that_frames_at_one_instant_are_drawn(tmp_path: Path, run: Run) -> None:
    rows = [",".join(CSV_COLUMNS), *(",".join([str(n), *["0"] * 15]) for n in range(5))]
    (tmp_path / "game.csv").write_text("\n".join(rows))

    for measure in ("interval", "busy", "delta"):
        line = f"export game.csv -o {measure}.svg -o {measure}.csv --measure {measure}"
        assert run(line)[0] == ExitCode.OK
        assert (tmp_path / f"{measure}.svg").stat().st_size


def test_that_a_column_of_5000_digits_is_a_sentence(tmp_path: Path, run: Run) -> None:
    (tmp_path / "c.csv").write_text("ms\n1\n")

    code, _, err = run(f"export c.csv:{'9' * 5_000} -o out.svg")

    assert code == ExitCode.UNREADABLE
    assert "c.csv has no column “999" in err
    assert len(err) < 300
