"""One entry for each command: help, the overview and what the window refuses follow from it."""

from __future__ import annotations

import json

import pytest

from inspector.cli.command import CommandEntry
from inspector.cli.commands import COMMANDS
from inspector.cli.main import build_parser, main, window_scene
from inspector.exit_codes import ExitCode


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_that_every_command_is_in_the_overview_and_opens_no_window(command: CommandEntry) -> None:
    overview = " ".join(build_parser().format_help().split())

    assert f"timeline-inspector {command.name} {command.operands}".strip() in overview
    assert command.summary in overview
    assert window_scene([command.name]) is None


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_that_every_command_has_help_of_its_own(
    command: CommandEntry, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command.name, "--help"]) == ExitCode.OK

    told = " ".join(capsys.readouterr().out.split())
    assert f"{command.summary[:1].upper()}{command.summary[1:]}." in told


def test_that_the_schema_is_a_table_for_people_and_json_for_programs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["schema"]) == ExitCode.OK
    assert "| timer_fired | timer | lateness | local due |" in capsys.readouterr().out

    assert main(["schema", "--json"]) == ExitCode.OK
    kinds = json.loads(capsys.readouterr().out)["kinds"]
    assert "timer_fired" in {kind["name"] for kind in kinds}
