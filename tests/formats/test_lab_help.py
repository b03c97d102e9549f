"""What the help page of the refresh-rate lab says can be done."""

import re
import shlex
from pathlib import Path

from inspector.analysis.lab_timer import LabTimer
from inspector.cli import build_parser
from inspector.formats.lab_timers import parse_timer, read_timers
from inspector.resources import resource_path
from inspector.sessions.lab_arguments import LAB_EPILOG

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
