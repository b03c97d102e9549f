"""What the help page of the refresh-rate lab says can be done."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

from inspector.cli.main import build_parser
from inspector.engines.lab.command import LAB_EPILOG
from inspector.engines.lab.display import DISPLAY_RATES, steady_display, variable_display
from inspector.engines.lab.graph import outcome_text
from inspector.engines.lab.refresh_lab import EXAMPLE_TIMER, run_cell
from inspector.engines.lab.subjects import subjects_named
from inspector.engines.lab.timer import LabTimer
from inspector.engines.lab.timer_files import parse_timer, read_timers
from inspector.resources import resource_path

PAGE = resource_path("help", "lab.md").read_text(encoding="utf-8")
BLINK_AND_SHOT = (
    LabTimer(500_000_000, name="blink"),
    LabTimer(100_000_000, 10, 2_000_000_000, "shot"),
)


def test_that_every_command_of_the_help_is_understood() -> None:
    text = PAGE + LAB_EPILOG.replace("“", '"').replace("”", '"')
    commands = re.findall(r"^ *(timeline-inspector lab.*)$", text, re.MULTILINE)

    assert len(commands) >= 7
    for command in commands:
        options = build_parser().parse_args(shlex.split(command)[1:])
        assert options.command == "lab"


def test_that_the_timers_of_the_help_are_read(tmp_path: Path) -> None:
    blocks = re.findall(r"^```\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    line = next(block for block in blocks if block.startswith("blink="))
    table = next(block for block in blocks if block.startswith("name,"))
    path = tmp_path / "timers.csv"
    path.write_text(table, encoding="utf-8")
    (array,) = re.findall(r"`(\[\{.*\}\])`", PAGE)
    values = tmp_path / "timers.json"
    values.write_text(array, encoding="utf-8")

    assert tuple(parse_timer(text) for text in line.split(";")) == BLINK_AND_SHOT
    assert read_timers(path) == BLINK_AND_SHOT
    assert read_timers(values) == BLINK_AND_SHOT[:1]


def test_that_the_numbers_of_the_first_example_come_out() -> None:
    (egret,) = subjects_named(["egret"])

    result = run_cell(EXAMPLE_TIMER, egret, steady_display(240, 10_000_000_000))

    assert {after - before for before, after in pairwise(result.fired_ns)} == {250_000_000}
    assert outcome_text(result) == "40 instead of 10, 30 s early"
    assert "which take 250 ms at 240 Hz" in PAGE
    assert "40 times instead of 10 in 10 seconds, and the last firing is 30 s early" in PAGE


def test_that_the_repairs_do_what_the_help_says() -> None:
    names = [
        "egret-repair-1",
        "egret-repair-2",
        "egret-repair-2-described",
        "egret-repair-3",
        "egret-repair-4",
        "egret-elapsed",
    ]
    first, second, described, third, fourth, elapsed = subjects_named(names)
    steady = [steady_display(rate, 10_000_000_000) for rate in DISPLAY_RATES]

    wrong = {
        subject.name: [
            display.name
            for display in steady
            if not run_cell(EXAMPLE_TIMER, subject, display).verdict.is_right
        ]
        for subject in (first, second, described, third, fourth, elapsed)
    }

    assert wrong[first.name] == ["30 Hz", "48 Hz"]
    assert wrong[second.name] == ["72 Hz", "90 Hz", "144 Hz", "165 Hz"]
    assert wrong[described.name] == ["72 Hz", "90 Hz", "144 Hz", "165 Hz"]
    published = {
        rate: run_cell(EXAMPLE_TIMER, second, steady_display(rate, 10_000_000_000)).count
        for rate in (72, 75, 90, 100, 144, 165)
    }
    assert published == {72: 0, 75: 0, 90: 0, 100: 0, 144: 0, 165: 9}
    assert "at once on displays of 72, 75, 90, 100 and 144 Hz" in PAGE
    assert wrong[third.name] == wrong[fourth.name] == wrong[elapsed.name] == []
    short = LabTimer(30_000_000)
    variable = variable_display(10_000_000_000)
    assert not run_cell(short, fourth, variable).verdict.is_right
    assert run_cell(short, elapsed, variable).verdict.is_right


def test_that_a_second_at_60_hertz_takes_cocos_61_frames() -> None:
    (cocos,) = subjects_named(["cocos2d-x-3.4"])
    display = steady_display(60, 10_000_000_000)

    result = run_cell(EXAMPLE_TIMER, cocos, display)

    assert display.frame_of(result.fired_ns[0]) + 1 == 61
    assert "call a timer of one second in frame 61" in PAGE
