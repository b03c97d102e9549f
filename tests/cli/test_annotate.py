"""The command ``annotate``: what people leave in a recording from the shell."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from inspector.cli.main import window_scene
from inspector.events.recording import annotations_of
from inspector.exit_codes import ExitCode
from inspector.timebase import NS_PER_MS
from tests.cli.answers import Run

SCENE = """
def build(stage):
    stage.root.set_interval(0.05, lambda: None, name="tick")
"""


@pytest.fixture(autouse=True)
def _recorded(run: Run, tmp_path: Path) -> None:
    """Have a recording in the folder."""
    (tmp_path / "game.py").write_text(SCENE)
    assert run("run game.py --seconds 3 --record game.tlrec --quiet") == (0, "", "")


def test_that_it_needs_no_window() -> None:
    assert window_scene(["annotate", "game.tlrec"]) is None


def test_that_what_is_left_is_listed(run: Run) -> None:
    assert run("annotate game.tlrec") == (0, "no bookmarks, notes or named ranges\n", "")

    line = "   1  0:02.500  bookmark: boss arrives\n"
    assert run('annotate game.tlrec --at 2.5 --name "boss arrives"') == (0, line, "")
    line = "   2  0:01.000 to 0:02.500  range: boss fight\n      first\n      second\n"
    text = "--text 'first\nsecond'"
    said = run(f'annotate game.tlrec --at 1 --until +1.5s --name "boss fight" {text}')
    assert said == (0, line, "")
    line = "   3  0:01.983  note: Why?\n"
    assert run('annotate game.tlrec --at "frame 118" --text "Why?"') == (0, line, "")
    run("annotate game.tlrec --at -1s --name end --note")

    _, listed, _ = run("annotate game.tlrec --list")
    assert [text.split("  ")[-1] for text in listed.splitlines() if ": " in text] == [
        "range: boss fight",
        "note: Why?",
        "note: end",
        "bookmark: boss arrives",
    ]


def test_that_programs_can_read_the_list(run: Run) -> None:
    run("annotate game.tlrec --at 1 --until 2 --name fight --text long")
    code, out, _ = run("annotate game.tlrec --json")

    (found,) = json.loads(out)
    created = found.pop("created")
    assert (code, created[:2], created[-6:]) == (0, "20", "+00:00")
    assert found == {
        "id": 1,
        "kind": "range",
        "at_ns": 1_000 * NS_PER_MS,
        "end_ns": 2_000 * NS_PER_MS,
        "name": "fight",
        "text": "long",
    }


def test_that_one_is_changed_in_what_is_said_and_keeps_the_rest(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "game.tlrec"
    run("annotate game.tlrec --at 1 --name here --text long")
    (before,) = annotations_of(path)
    run("annotate game.tlrec --change 1 --name there")
    run("annotate game.tlrec --change 1 --until 2")
    (found,) = annotations_of(path)
    assert (found.kind, found.name, found.text) == ("range", "there", "long")
    assert (found.end_ns, found.created) == (2_000 * NS_PER_MS, before.created)

    run("annotate game.tlrec --change 1 --bookmark --at 1.5")
    (found,) = annotations_of(path)
    assert (found.kind, found.at_ns, found.end_ns) == ("bookmark", 1_500 * NS_PER_MS, None)


def test_that_some_are_removed_or_none(run: Run, tmp_path: Path) -> None:
    for name in "abc":
        run(f"annotate game.tlrec --at 1 --name {name}")
    code, out, err = run("annotate game.tlrec --remove 1 --remove 9")
    assert (code, out) == (ExitCode.USAGE, "")
    assert "There is no annotation 9 in the recording; there are: 1, 2, 3." in err
    assert run("annotate game.tlrec --remove 1 --remove 3 --remove 1") == (
        0,
        "removed 1  0:01.000  bookmark: a\nremoved 3  0:01.000  bookmark: c\n",
        "",
    )
    assert [each.name for each in annotations_of(tmp_path / "game.tlrec")] == ["b"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ("--at 2 --until 1 --name x", 2, "A range ends after it begins, not at 0:01.000 before"),
        ("--at 2 --until 2 --name x", 2, "The range is empty"),
        ("--at 99 --name x", 2, "1:39.000 is in the future: it is now 0:03.000."),
        ("--at soon --name x", 2, "“soon” is not an instant"),
        ("--at 1 --until 2", 2, "The range is empty: give it a name."),
        ('--at 1 --name ""', 2, "The bookmark is empty: give it a name."),
        ('--at 1 --text "  "', 2, "The note is empty: give it a text."),
        (f"--at 1 --name {'x' * 201}", 2, "The name has 201 characters; at most 200 are allowed."),
        ("--name x", 2, "Give an instant: --at 02:10.5"),
        ("--change 7 --name x", 2, "There is no annotation 7 in the recording; there are: none."),
        ("--change 7", 2, "Name what --change should change"),
        ("--list --at 1", 2, "--list and --remove take no --at"),
        ("--at 1 --until 2 --note --text x", 2, "A note or a bookmark has no --until"),
        ("--at 1 --note --bookmark --name x", 2, "not allowed with argument"),
        ("--remove two", 2, "not a number of an annotation"),
        ("--note", 2, "Give an instant: --at 02:10.5"),
        ("--bookmark", 2, "Give an instant: --at 02:10.5"),
        ("--at 1 --name x --json", 2, "--json only lists"),
        ("--remove 1 --json", 2, "--json only lists"),
    ],
)
def test_that_what_makes_no_sense_is_refused_in_a_sentence(
    run: Run, tmp_path: Path, arguments: str, code: int, sentence: str
) -> None:
    before = (tmp_path / "game.tlrec").read_bytes()
    found, out, err = run(f"annotate game.tlrec {arguments}")

    assert (found, out) == (code, "")
    assert sentence in err
    assert err.startswith("timeline-inspector: ")
    assert (tmp_path / "game.tlrec").read_bytes() == before


def test_that_a_file_that_cannot_be_written_or_is_none_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "game.tlrec").chmod(0o444)
    code, _, err = run("annotate game.tlrec --at 1 --name x")
    assert (code, "it is read-only" in err) == (ExitCode.FAILED, True)
    assert run("annotate game.tlrec")[0] == ExitCode.OK
    code, _, err = run("annotate game.py --at 1 --name x")
    assert (code, "is not a recording" in err) == (ExitCode.UNREADABLE, True)
    code, _, err = run("annotate nothing.tlrec")
    assert (code, "There is no file" in err) == (ExitCode.UNREADABLE, True)


def test_that_nothing_from_a_file_steers_the_terminal(run: Run, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "game.tlrec")
    connection.execute(
        "INSERT INTO annotations (kind, at_ns, name, text, created) VALUES (?, 5, ?, ?, '')",
        ("bookmark", "red\x1b[31m\nline", "a\x07b\u202ec"),
    )
    connection.commit()
    connection.close()
    _, out, _ = run("annotate game.tlrec")
    assert out == "   1  0:00.000  bookmark: red [31m line\n      a b c\n"
