"""What is said about this machine, and the log for reports of faults."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.cli.commands import doctor
from inspector.environment import EnvironmentProblemError
from inspector.exit_codes import ExitCode
from tests.cli.answers import Run


@pytest.fixture(autouse=True)
def _without_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "running_programs", list)


@pytest.fixture
def _without_display(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_environment: object) -> None:
        raise EnvironmentProblemError("No window can be opened.")

    monkeypatch.setattr(doctor, "check_display", refuse)


@pytest.mark.usefixtures("_without_display")
def test_that_the_doctor_names_every_package_and_what_does_not_work(run: Run) -> None:
    code, out, err = run("doctor --json")

    found = {each["subject"]: each for each in json.loads(out)}
    assert (code, err) == (ExitCode.FAILED, "")
    assert {"Python", "numpy", "msgspec", "display", "settings", "running programs"} <= set(found)
    assert [each["subject"] for each in found.values() if each["problem"]] == ["display"]
    assert found["display"]["problem"] == "No window can be opened."


@pytest.mark.usefixtures("_without_display")
def test_that_the_doctor_says_what_a_missing_extra_is_for(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "installed_version", lambda _name: "")

    _, out, _ = run("doctor --json")

    found = {each["subject"]: each["found"] for each in json.loads(out)}
    assert found["numpy"] == "not installed"
    for name, extra in (("pyarrow", "arrow"), ("duckdb", "query"), ("mcp", "mcp")):
        assert found[name].startswith(f"not installed; pip install 'timeline-inspector[{extra}]', ")
    assert found["duckdb"].endswith("only queries need it")


def test_that_the_doctor_tries_to_open_a_window(run: Run) -> None:
    code, out, _ = run("doctor")

    assert code == ExitCode.OK, out
    assert " on offscreen, " in out
    assert out.endswith("\nEverything works.\n")


def test_that_a_log_with_times_is_written_for_any_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "--debug", "scenes", "--json"],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )

    place = done.stderr.splitlines()[0].removeprefix("timeline-inspector: logging to ")
    log = Path(place.removesuffix(".")).read_text(encoding="utf-8")
    assert " inspector.debug_log: scenes --json\n" in log
    assert json.loads(done.stdout)
