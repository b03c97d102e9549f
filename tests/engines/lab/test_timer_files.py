"""Timers for the refresh-rate lab, as people write them."""

from pathlib import Path

import pytest

from inspector.engines.lab.timer import LabTimer
from inspector.engines.lab.timer_files import parse_timer, read_timers
from inspector.errors import CaptureError, InspectorError

MS = 1_000_000


@pytest.mark.parametrize(
    ("text", "timer"),
    [
        ("1", LabTimer(1_000 * MS)),
        ("blink=500ms", LabTimer(500 * MS, name="blink")),
        ("shot = 100ms, repeat=9, delay=2", LabTimer(100 * MS, 10, 2_000 * MS, "shot")),
        ("a=b=250ms", LabTimer(250 * MS, name="a=b")),
        ("once=1,repeat=0", LabTimer(1_000 * MS, 1, name="once")),
    ],
)
def test_that_a_timer_is_read_from_an_argument(text: str, timer: LabTimer) -> None:
    assert parse_timer(text) == timer


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("blink=", "needs an interval"),
        ("blink=soon", "not a duration"),
        ("blink=0", "at least a nanosecond"),
        ("blink=1,twice", "not understood"),
        ("blink=1,times=2", "not understood"),
        ("blink=1,repeat=-1", "0 or more"),
        ("blink=1,repeat=1.5", "0 or more"),
        ("blink=1,delay=later", "not a duration"),
        ("blink=-1", "an interval must be above 0, not -1 s"),
        ("blink=-250ms", "an interval must be above 0, not -250 ms"),
        ("blink=1e-12", "an interval must be at least a nanosecond"),
        ("blink=1,delay=-2ms", "a delay must be 0 or more, not -2 ms"),
    ],
)
def test_that_an_argument_that_is_no_timer_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_timer(text)


EXPECTED = (LabTimer(500 * MS, name="blink"), LabTimer(100 * MS, 10, 2_000 * MS, "shot"))


@pytest.mark.parametrize(
    "text",
    [
        "name,interval,repeat,delay\nblink,500ms,,\nshot,100ms,9,2\n",
        "\ufeffName;Interval;Repeat;Delay\r\nblink;0.5;;\r\n\r\nshot;0.1;9;2\r\n",
        """[{"name": "blink", "interval": 0.5},
            {"name": "shot", "interval": "100ms", "repeat": 9, "delay": 2}]""",
        """{"timers": [{"name": "blink", "interval": "500 ms", "repeat": null},
            {"name": "shot", "interval": 0.1, "repeat": "9", "delay": "2 s"}]}""",
    ],
)
def test_that_timers_are_read_from_csv_and_json(text: str, tmp_path: Path) -> None:
    path = tmp_path / "timers"
    path.write_text(text, encoding="utf-8")

    assert read_timers(path) == EXPECTED


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no column “interval”"),
        ("name,interval\n", "no timers"),
        ("name,delay\na,1\n", "no column “interval”"),
        ("name,interval\na,1\nb,soon\n", "line 3: not a duration"),
        ("name,interval\na,\n", "line 2: a timer needs an interval"),
        ("name,interval\na,1,2,3\n", "line 2: more cells than names"),
        ("name,interval,colour\na,1,red\n", "unknown name “colour”"),
        ('name,interval\n"a,1\n', "unexpected end of data"),
        ("[", "not JSON"),
        ("{}", "no array of timers"),
        ("[1]", "timer 1: “1” is not an object"),
        ('[{"interval": 1}, {"interval": -1}]', "timer 2: an interval must be above 0"),
        ("interval\n" + "1\n" * 300, "300 timers"),
    ],
)
def test_that_a_file_without_timers_says_where_and_what(
    text: str, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "timers.csv"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(CaptureError) as caught:
        read_timers(path)

    assert problem in str(caught.value)
    assert str(path) in str(caught.value)


def test_that_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00\xd8")
    large = tmp_path / "large"
    large.write_bytes(b" " * 1_000_001)

    for path, problem in (
        (tmp_path / "missing", "There is no file"),
        (tmp_path, "is a folder"),
        (binary, "not text in UTF-8"),
        (large, "too large"),
    ):
        with pytest.raises(InspectorError, match=problem):
            read_timers(path)
