"""``stats`` and ``compare``: statistics of files, conditions, and their exit codes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from inspector.analysis.statistics.time_series import StutterLimits
from inspector.cli import comparison
from inspector.exit_codes import ExitCode
from inspector.sessions.compared import FilesToCompare
from tests.cli.answers import Run


def capture(folder: Path, name: str, times_ms: list[float]) -> Path:
    path = folder / name
    rows = "".join(f"{each}\n" for each in times_ms)
    path.write_text(f"frametime_ms\n{rows}", encoding="utf-8")
    return path


@pytest.fixture
def uneven(tmp_path: Path) -> Path:
    return capture(tmp_path, "uneven.csv", [10.0] * 98 + [20.0, 40.0])


def test_that_each_statistic_stands_under_its_tool(run: Run, uneven: Path) -> None:
    code, out, _ = run(f"stats {uneven} --all")

    assert code == ExitCode.OK
    assert out.startswith(f"{uneven}: 100 frames, column frametime_ms\n")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "Timeline Inspector Frames 100 frames" in lines
    assert "1% Low FPS 33.3 fps frameview.low-1" in lines
    assert "1% low average 25.0 fps capframex.low-1" in lines
    assert "Apple Hitch time ratio - apple.hitches" in lines


def test_that_a_few_statistics_are_shown_and_those_that_an_option_is_about(
    run: Run, uneven: Path
) -> None:
    def shown(options: str) -> list[str]:
        _, out, _ = run(f"stats {uneven} {options}")
        return [line.split()[-1] for line in out.splitlines()[4:] if line]

    *few, hint = shown("")
    assert (len(few), hint) == (8, "--all")
    assert "missed" in shown("--refresh 60")
    assert "capframex.stuttering" in shown("--stutter-factor 2")
    assert len(shown("--all")) > 90


def test_that_one_statistic_and_all_are_not_asked_for_together(run: Run, uneven: Path) -> None:
    code, out, err = run(f"stats {uneven} --all --metric p99")

    assert (code, out) == (ExitCode.USAGE, "")
    assert "--metric: not allowed with argument --all" in err


def test_that_frames_that_take_no_time_are_left_out_and_counted(run: Run, tmp_path: Path) -> None:
    path = capture(tmp_path, "still.csv", [10.0, 0.0, 10.0, 0.0])

    _, out, err = run(f"stats {path}")

    assert "2 frames, column" in out
    assert "2 frames that take no time: not in the statistics." in err


def test_that_what_is_undefined_says_why(run: Run, uneven: Path) -> None:
    _, out, _ = run(f"stats {uneven} --metric apple.hitches --metric presentmon.animation-error")

    error, refresh = out.splitlines()[-2:]
    assert error.startswith("no presentmon.animation-error: This needs an animation error, or ")
    assert error.endswith("a frame of a session begins, not when it is displayed.")
    assert refresh == "no apple.hitches: The refresh rate is unknown: say it with --refresh."


def test_that_a_session_has_no_animation_error_and_says_why(run: Run) -> None:
    run("run 4 --frames 30 --record a.tlrec --quiet")

    code, _, err = run('stats a.tlrec --assert "presentmon.animation-error < 1"')

    assert code == ExitCode.CANNOT_TELL
    assert "not when it is displayed" in err


def test_that_several_files_are_rows(run: Run, uneven: Path, tmp_path: Path) -> None:
    even = capture(tmp_path, "even.csv", [10.0] * 50)

    code, out, _ = run(f"stats {uneven} {even} --metric fps --metric max")

    assert code == ExitCode.OK
    heading, _, *rows = out.splitlines()
    assert heading.split() == ["file", "fps", "max"]
    assert [row.split()[1:] for row in rows] == [
        ["96.2", "fps", "40.0", "ms"],
        ["100", "fps", "10.0", "ms"],
    ]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        *(("p99 <= 20ms", True), ("p99<20", False), ("fps > 96fps", True)),
        *(("max >= 40.5 ms", False), ("p99 < 0.03s", True), ("p99 < 0.019s", False)),
        *(("p50 < 10001us", True), ("p50 < 9999µs", False), ("duration > 1000ms", True)),
    ],
)
def test_that_a_condition_that_does_not_hold_fails(
    run: Run, uneven: Path, condition: str, *, holds: bool
) -> None:
    code, _, err = run(shlex.join(["stats", str(uneven), "--assert", condition]))

    assert code == (ExitCode.OK if holds else ExitCode.FAILED)
    assert (f"{condition} does not hold" in err) is not holds


def test_that_quiet_says_only_what_fails(run: Run, uneven: Path) -> None:
    asserted = ("--assert", "p50 < 11ms", "--assert", "max < 39ms", "--quiet")

    code, out, err = run(shlex.join(["stats", str(uneven), *asserted]))

    assert (code, out) == (ExitCode.FAILED, "")
    assert err == f"timeline-inspector: {uneven}: max < 39ms does not hold: max is 40.00 ms\n"


@pytest.mark.parametrize(
    ("rows", "condition", "why"),
    [
        ("10\n" * 29, "p99 < 20ms", "There are only 29 frames, and 30 are needed."),
        ("10\n", "fps > 1", "There is only 1 frame, and 30 are needed."),
        ("10\n" * 50 + "oops\n", "p99 < 20ms", "1 row is damaged and was skipped"),
        ("10\n" * 50, "apple.hitches < 9", "apple.hitches is undefined: The refresh rate"),
    ],
)
def test_that_a_condition_without_the_data_it_needs_cannot_be_told(
    run: Run, tmp_path: Path, rows: str, condition: str, why: str
) -> None:
    (tmp_path / "a.csv").write_text(f"frametime_ms\n{rows}", encoding="utf-8")

    code, _, err = run(shlex.join(["stats", "a.csv", "--assert", condition, "--quiet"]))
    _, out, _ = run(shlex.join(["stats", "a.csv", "--assert", condition, "--json"]))

    assert code == ExitCode.CANNOT_TELL
    assert f"a.csv: whether {condition} cannot be told: {why}" in err
    (unknown,) = json.loads(out)["unknown"]
    assert unknown["why_not"].startswith(why)


def test_that_a_condition_on_what_is_there_can_be_allowed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("frametime_ms\n" + "10\n" * 50 + "oops\n", encoding="utf-8")

    code, _, _ = run('stats a.csv --assert "p99 < 20ms" --allow-missing')
    worse, _, _ = run('stats a.csv --assert "p99 < 9ms" --allow-missing')
    short, _, _ = run('stats a.csv --assert "frames > 10" --range 0:20')

    assert (code, worse) == (ExitCode.OK, ExitCode.FAILED)
    assert short == ExitCode.CANNOT_TELL
    assert run('stats a.csv --assert "frames > 10" --range 0:20 --allow-missing')[0] == ExitCode.OK


def test_that_the_worst_of_several_outcomes_is_the_exit_code(run: Run, tmp_path: Path) -> None:
    capture(tmp_path, "good.csv", [10.0] * 50)
    capture(tmp_path, "bad.csv", [30.0] * 50)
    capture(tmp_path, "one.csv", [10.0])

    def code(*files: str) -> int:
        return run(shlex.join(["stats", *files, "--assert", "p99 < 20ms", "--quiet"]))[0]

    assert code("good.csv", "one.csv") == ExitCode.CANNOT_TELL
    assert code("good.csv", "one.csv", "nowhere.csv") == ExitCode.UNREADABLE
    assert code("good.csv", "one.csv", "nowhere.csv", "bad.csv") == ExitCode.FAILED


def test_that_json_has_values_formulas_and_failures(run: Run, uneven: Path) -> None:
    code, out, _ = run(
        shlex.join(["stats", str(uneven), "--json", "--metric", "p50", "--assert", "max < 39ms"])
    )
    values = json.loads(out)

    assert code == ExitCode.FAILED
    (file,) = values["files"]
    assert file["metrics"]["p50"] == {
        "value": 10.0,
        "unit": "ms",
        "tool": "",
        "name": "P50",
        "formula": "f sorted, place ⌈0.5 n⌉ (nearest rank)",
    }
    assert values["failed"] == [{"file": str(uneven), "condition": "max < 39ms", "value": 40.0}]


def test_that_the_formulas_are_listed(run: Run) -> None:
    code, out, _ = run("stats --formulas")

    assert code == ExitCode.OK
    assert "1000 / mean of the ⌊0.01 n⌋ + 1 longest f" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["stats"], "Name one or more files"),
        (["stats", "x.csv", "--assert", "p99"], "not a condition: “p99”; write “p99 < 16.7ms”"),
        (["stats", "x.csv", "--assert", "p99 < 5fps"], "p99 is in ms, not in fps"),
        (["stats", "x.csv", "--assert", "p99 < x"], "not a number: “x”"),
        (["stats", "x.csv", "--assert", "low-1 < 3"], "no such metric: “low-1” (there are "),
        (["stats", "x.csv", "--refresh", "0"], "a refresh rate must be between"),
        (["stats", "x.csv", "--refresh", "fast"], "a refresh rate"),
        (["compare", "x.csv", "y.csv", "--fail-if", "p99 > 5"], "a change is in percent"),
        (["compare", "x.csv", "y.csv", "--fail-if", "max > 5%"], "compared are fps, p50"),
        (["compare", "x.csv"], "required: AFTER"),
        (["compare"], "required: BEFORE and AFTER, or --before"),
        (["compare", "--before", "x.csv"], "--before: add --after"),
        (["compare", "x.csv", "y.csv", "--after", "z.csv"], "--after: not with files"),
        (["compare", "x.csv", "y.csv", "--without-outliers"], "needs --before and --after"),
        (["compare", "x.csv", "y.csv", "--junit", "j.xml"], "--junit: add a --fail-if"),
    ],
)
def test_that_arguments_that_make_no_sense_are_refused(
    run: Run, arguments: list[str], said: str
) -> None:
    code, _, err = run(shlex.join(arguments))

    assert code == ExitCode.USAGE
    assert said in err


def test_that_a_file_without_frames_is_said(run: Run, uneven: Path) -> None:
    code, _, err = run(f"stats {uneven} --range 100:200")

    assert code == ExitCode.UNREADABLE
    assert "There is no frame in the range 100:200" in err


def test_that_a_slower_capture_is_told_and_fails_a_condition(run: Run, tmp_path: Path) -> None:
    before = capture(tmp_path, "before.csv", [10.0, 10.2, 9.8, 10.1] * 200)
    after = capture(tmp_path, "after.csv", [11.0, 11.2, 10.8, 11.1] * 200)

    code, out, err = run(shlex.join(["compare", str(before), str(after), "--fail-if", "fps < -5%"]))

    assert code == ExitCode.FAILED
    assert f"“{after.name}” is slower than “{before.name}”: 99.75 → 90.70 fps, -9.1% (" in out
    assert "This is about these runs, not about versions of a program" in out
    assert "fps < -5% holds: fps -9.1% (" in err
    code, _, _ = run(shlex.join(["compare", str(before), str(after), "--fail-if", "fps < -20%"]))
    assert code == ExitCode.OK


def test_that_a_comparison_is_data_too(run: Run, uneven: Path) -> None:
    code, out, _ = run(f"compare {uneven} {uneven} --json")
    values = json.loads(out)

    assert code == ExitCode.OK
    assert values["verdict"] == "no evidence of a difference"
    assert values["differences"]["p99"]["change"] == 0
    assert (values["confidence"], len(values["verdict_by"])) == (0.95, 7)


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ("10\n", "At least 30 frames of each are needed."),
        ("10\n" * 200 + "oops\n", "1 row is damaged and was skipped"),
        (
            "\n".join(str(10 + number / 100) for number in range(200)),
            "Frames depend on each other over about ",
        ),
    ],
)
def test_that_a_condition_of_failure_without_data_cannot_be_told(
    run: Run, tmp_path: Path, after: str, why: str
) -> None:
    capture(tmp_path, "before.csv", [10.0, 10.2, 9.8, 10.1] * 50)
    (tmp_path / "after.csv").write_text(f"frametime_ms\n{after}\n", encoding="utf-8")

    code, _, err = run('compare before.csv after.csv --fail-if "p99 > +5%"')
    _, out, _ = run('compare before.csv after.csv --fail-if "p99 > +5%" --json')

    assert code == ExitCode.CANNOT_TELL
    assert f"whether p99 > +5% cannot be told: {why}" in err
    (tested,) = json.loads(out)["tested"]
    assert (tested["metric"], tested["holds"]) == ("p99", None)
    assert tested["why_not"].startswith(why)
    assert run("compare before.csv after.csv")[0] == ExitCode.OK


def test_that_what_was_tested_is_in_the_data(run: Run, tmp_path: Path) -> None:
    capture(tmp_path, "before.csv", [10.0, 10.2, 9.8, 10.1] * 50)
    capture(tmp_path, "after.csv", [11.0, 11.2, 10.8, 11.1] * 50)
    asked = ("frameview.low-0.1 < -5%", "p50 > +20%")

    code, out, _ = run(
        shlex.join(
            ["compare", "before.csv", "after.csv", "--json"]
            + [part for each in asked for part in ("--fail-if", each)]
        )
    )

    values = json.loads(out)
    assert code == ExitCode.FAILED
    assert [(each["condition"], each["holds"]) for each in values["tested"]] == [
        (asked[0], True),
        (asked[1], False),
    ]
    assert values["failed"] == [asked[0]]
    assert values["verdict_by"] == ["p50", "frameview.low-0.1"]
    assert "frameview.low-0.1" in values["differences"]


def test_that_several_files_are_compared_with_the_first(run: Run, tmp_path: Path) -> None:
    before, slower, faster = (
        capture(tmp_path, f"{name}.csv", [time, time + 0.2, time - 0.2, time + 0.1] * 100)
        for name, time in (("before", 10.0), ("slower", 11.0), ("faster", 9.0))
    )
    report = tmp_path / "report.html"

    files = map(str, (before, slower, faster))
    code, out, err = run(
        shlex.join(["compare", *files, "--fail-if", "fps < -5%", "-o", str(report)])
    )

    assert code == ExitCode.FAILED
    assert f"“{slower.name}” is slower than “{before.name}”" in out
    assert f"“{faster.name}” is faster than “{before.name}”" in out
    assert f"{slower.name}: fps < -5% holds: fps -" in err
    assert report.read_text().startswith("<!doctype html>")
    _, out, _ = run(f"compare {before} {slower} {faster} --json")
    assert [each["verdict"] for each in json.loads(out)["comparisons"]] == ["slower", "faster"]


def test_that_runs_of_two_versions_are_compared(run: Run, tmp_path: Path) -> None:
    for side, time in (("a", 10.0), ("b", 11.0)):
        for number in range(3):
            times = [time + 0.01 * number + 0.001 * (each * 7 % 100) for each in range(200)]
            capture(tmp_path, f"{side}{number}.csv", times)
    sides = "compare --before a0.csv a1.csv a2.csv --after 'b*.csv'"
    conditions = "--fail-if 'fps < -5%' --fail-if 'p99 > +50%'"

    code, out, err = run(f"{sides} {conditions} -o s.md -o s.html --junit j.xml")

    assert code == ExitCode.FAILED
    assert "“after” is slower than “before”" in out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert any(line.startswith("b2.csv 200 2.21 s ") for line in lines)
    assert any(line.startswith("after: all frames 600 ") for line in lines)
    assert any(line.startswith("after: mean of the runs ") for line in lines)
    assert "fps < -5% holds: fps -" in err
    (suite,) = ET.fromstring((tmp_path / "j.xml").read_text())  # noqa: S314 - our own
    assert suite.attrib | {"name": ""} == {"name": "", "tests": "2", "failures": "1", "errors": "0"}
    assert [[each.tag for each in case] for case in suite] == [["failure"], ["system-out"]]
    said = (tmp_path / "s.md").read_text()
    assert "| after | fps \\< -5% | failed | -" in said
    assert "| after | p99 \\> +50% | passed | +" in said
    assert (tmp_path / "s.html").read_text().startswith("<!doctype html>")

    _, out, _ = run(f"{sides} --json")
    values = json.loads(out)
    assert values["about"] == "versions"
    assert [each["file"] for each in values["after_runs"]["runs"]] == [
        *("b0.csv", "b1.csv", "b2.csv")
    ]
    assert values["after_runs"]["runs"][0]["metrics"]["p50"] == pytest.approx(11.05, abs=0.01)


def test_that_a_condition_that_cannot_be_told_is_an_error_for_ci(run: Run, tmp_path: Path) -> None:
    capture(tmp_path, "a.csv", [10.0] * 50)
    capture(tmp_path, "b.csv", [10.0] * 5)

    code, _, _ = run("compare a.csv b.csv --fail-if 'fps < -5%' --junit j.xml")

    assert code == ExitCode.CANNOT_TELL
    ((case,),) = ET.fromstring((tmp_path / "j.xml").read_text())  # noqa: S314 - our own
    (error,) = case
    assert error.tag == "error"
    assert "At least 30 frames of each are needed." in error.attrib["message"]


def test_that_clocks_and_timers_of_recordings_are_compared(run: Run, tmp_path: Path) -> None:
    names = []
    for name, period in (("one", 0.1), ("two", 0.05)):
        scene = tmp_path / f"{name}.py"
        scene.write_text(
            "def build(stage):\n"
            f"    stage.root.child('game').set_interval({period}, lambda: None, name='attack')\n"
        )
        names.append(str(tmp_path / f"{name}.tlrec"))
        assert (
            run(shlex.join(["run", str(scene), "--seconds", "20", "--record", names[-1]]))[0] == 0
        )

    code, out, _ = run(shlex.join(["compare", *names]))

    assert code == ExitCode.OK
    assert "game: attack" in out
    _, out, _ = run(shlex.join(["compare", *names, "--json"]))
    calls = json.loads(out)["calls"]
    (attack,) = (each for each in calls if (each["label"], each["what"]) == ("attack", "Calls"))
    assert attack["change"] == pytest.approx(1, abs=0.1)
    assert attack["verdict"] == "more"


TRACY = """\
name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns
draw<int, 3>,src/draw.cpp,12,4000000,40.5,8,500000,100000,900000,1234.5
update,src/game.cpp,7,6000000,59.5,2,3000000,1000000,5000000,0
update,src/game.cpp,7,oops,59.5,2,3000000,1000000,5000000,0
"""


def test_that_sums_of_tracy_are_a_table(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zones.csv").write_text(TRACY, encoding="utf-8")

    code, out, err = run("stats zones.csv")
    _, text, _ = run("stats zones.csv --json")

    assert code == ExitCode.OK
    assert "1 row is damaged and skipped." in err
    rows = [line.split() for line in out.splitlines()[4:]]
    assert rows[0][:6] == ["update", "2", "6.00", "ms", "59.50", "%"]
    assert rows[1][:3] == ["draw<int,", "3>", "8"]
    assert rows[1][-1] == "src/draw.cpp:12"
    zones = json.loads(text)["zones"]
    assert [each["name"] for each in zones] == ["update", "draw<int, 3>"]
    assert zones[1]["deviation_ns"] == 1234.5


def test_that_what_sums_cannot_answer_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zones.csv").write_text(TRACY, encoding="utf-8")

    code, out, err = run('stats zones.csv --assert "p99 < 5ms"')
    _, _, refused = run("export zones.csv -o a.svg")

    assert (code, out) == (ExitCode.UNREADABLE, "")
    assert "Omit --metric, --assert, --range and --stream." in err
    assert "“timeline-inspector stats” shows them as a table." in refused


def test_that_a_file_that_cannot_be_read_does_not_stop_the_others(
    run: Run, uneven: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.csv").touch()

    code, out, err = run(f"stats empty.csv {uneven.name} nowhere.csv")
    _, text, _ = run(f"stats empty.csv {uneven.name} nowhere.csv --json")
    failed, nothing, said = run("stats empty.csv nowhere.csv")

    assert (code, failed) == (ExitCode.UNREADABLE, ExitCode.UNREADABLE)
    assert [line.split()[0] for line in out.splitlines()[2:]] == [uneven.name]
    assert "empty.csv is left out: empty.csv is empty." in err
    assert "nowhere.csv is left out: There is no file nowhere.csv." in err
    values = json.loads(text)
    assert [each["file"] for each in values["files"]] == [uneven.name]
    assert [each["file"] for each in values["unread"]] == ["empty.csv", "nowhere.csv"]
    assert nothing == ""
    assert len(said.splitlines()) == 2


def test_that_a_comparison_opens_in_the_window_with_its_sides(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{name}.csv" for name in ("a1", "a2", "b1")]
    for name in names:
        capture(tmp_path, name, [10.0, 10.2] * 50)
    opened: list[FilesToCompare] = []
    monkeypatch.setattr(comparison, "open_window", opened.append)

    run("compare a1.csv b1.csv:FrameTimeMs a2.csv --window --stutter-factor 3")
    run('compare --before "a*.csv" --after b1.csv --window --columns --without-outliers')

    first, second = opened
    column = "FrameTimeMs"
    one, other, third = ((Path(name), None) for name in ("a1.csv", "b1.csv", "a2.csv"))
    limits = StutterLimits(3.0)
    assert first == FilesToCompare(((one,), ((other[0], column),), (third,)), stutter=limits)
    assert second == FilesToCompare(
        ((one, third), (other,)), without_outliers=True, with_columns=True
    )


def test_that_a_missing_file_is_said_before_the_window_is_opened(
    run: Run, uneven: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "open_window", lambda _files: pytest.fail("opened"))

    code, _, err = run(f"compare {uneven.name} nowhere.csv --window")

    assert code == ExitCode.UNREADABLE
    assert (
        err == "timeline-inspector: There is no file nowhere.csv. Check the name and the folder.\n"
    )


def test_that_files_are_called_by_their_names_unless_two_have_the_same(
    run: Run, tmp_path: Path
) -> None:
    for folder, time in (("one", 10.0), ("two", 11.0)):
        (tmp_path / folder).mkdir()
        for name in ("same.csv", f"{folder}.csv"):
            capture(tmp_path / folder, name, [time, time + 0.1] * 100)

    _, apart, _ = run(f"compare {tmp_path}/one/one.csv {tmp_path}/two/two.csv")
    _, alike, _ = run(f"compare {tmp_path}/one/same.csv {tmp_path}/two/same.csv")
    run(f"compare {tmp_path}/one/one.csv {tmp_path}/two/two.csv -o c.md")

    assert apart.startswith("before: one.csv, 200 frames\nafter:  two.csv, 200 frames\n")
    assert alike.startswith("before: one/same.csv, 200 frames\nafter:  two/same.csv, 200 frames\n")
    _, columns, _ = run(f"compare {tmp_path}/one/one.csv {tmp_path}/one/one.csv:1")
    assert "after:  one.csv:1, 200 frames\n" in columns
    assert (tmp_path / "c.md").read_text().startswith("# Comparison: one.csv – two.csv\n")


def test_that_limits_of_stuttering_are_those_of_the_statistics(run: Run, tmp_path: Path) -> None:
    times = [10.0, 10.2, 10.1, 10.3] * 100
    times[::50] = [16.0] * len(times[::50])
    for name in ("a.csv", "b.csv"):
        capture(tmp_path, name, times)
    limits = "--stutter-factor 1.5 --low-fps 120"

    _, alone, _ = run(f"stats a.csv {limits} --json")
    _, compared, _ = run(f"compare a.csv b.csv {limits} --json")
    _, usual, _ = run("compare a.csv b.csv --json")

    values = json.loads(alone)["files"][0]["metrics"]
    before = json.loads(compared)["differences"]
    for metric in ("capframex.stuttering", "capframex.low-fps"):
        assert before[metric]["before"] == pytest.approx(values[metric]["value"])
        assert metric not in usual


@pytest.mark.parametrize("more", ["--json", "-o c.html", '--fail-if "fps < -1%"'])
def test_that_the_window_writes_and_checks_nothing(run: Run, more: str) -> None:
    code, _, err = run(f"compare a.csv b.csv --window {more}")

    assert code == ExitCode.USAGE
    assert "rgument --window: not with what is written or checked" in err


def test_that_a_condition_on_a_damaged_column_cannot_be_told_unless_that_is_allowed(
    run: Run, tmp_path: Path
) -> None:
    rows = [f"a.exe,16.{n:02},{'oops' if n == 30 else 8 + n % 3}" for n in range(60)]
    head = "Application,MsBetweenPresents,MsGPUBusy"
    (tmp_path / "c.csv").write_text("\n".join((head, *rows, "")))
    on_column = 'stats c.csv --assert "capframex.gpu-average > 60fps"'

    code, _, err = run(on_column)
    allowed, _, _ = run(f"{on_column} --allow-missing")
    of_times, _, _ = run('stats c.csv --assert "p99 < 20ms"')
    _, _, said = run("stats c.csv --columns")
    _, compared, _ = run("compare c.csv c.csv --columns")

    damage = "MsGPUBusy: 1 value is damaged and was left out; the first is in line 32: “oops”."
    assert (code, allowed, of_times) == (ExitCode.CANNOT_TELL, ExitCode.OK, ExitCode.OK)
    assert f"cannot be told: {damage} Add --allow-missing" in err
    assert damage in said
    assert f"c.csv: {damage}" in compared
    _, out, _ = run("stats c.csv --all")
    ids = ", ".join(f"capframex.gpu-{each}" for each in ("time", "average", "p1", "low-1"))
    assert f"\n{ids}: {damage}\n" in out


@pytest.mark.parametrize("line", ["stats a.csv", "compare a.csv b.csv"])
def test_that_outputs_replace_nothing_unasked_and_do_not_stop_each_other(
    run: Run, tmp_path: Path, line: str
) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("frametime\n" + "16\n17\n" * 50)
    (tmp_path / "mine.md").write_text("mine")

    code, out, err = run(f"{line} -o mine.md -o no/a.md -o a.txt -o new.md")

    assert code == ExitCode.FAILED
    assert "Average" in out
    for sentence in (
        "mine.md exists. Add --overwrite to replace it.",
        "Cannot write no/a.md: no does not exist.",
        "a.txt does not say what to write. Give it the suffix .",
        "Written: new.md",
    ):
        assert f"timeline-inspector: {sentence}" in err
    assert (tmp_path / "mine.md").read_text() == "mine"
    assert run(f"{line} -o mine.md --overwrite")[0] == ExitCode.OK
    assert "Average" in (tmp_path / "mine.md").read_text()


def test_that_test_cases_replace_nothing_unasked(run: Run, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("frametime\n" + "16\n17\n" * 50)
    line = "compare a.csv b.csv --fail-if 'p99 > +5%' --junit j.xml"

    assert run(line)[0] == ExitCode.OK
    assert run(line)[0] == ExitCode.FAILED
    assert run(f"{line} --overwrite")[0] == ExitCode.OK
