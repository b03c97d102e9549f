"""``run``: time, output, and failures."""

import json
import os
import re
import sys
import threading
from pathlib import Path

import pytest
from msgspec import structs

from inspector.analysis.lateness.attribution import Cause, Culprit, Lateness, LatenessShare
from inspector.analysis.lateness.late_calls import LateCall, LongestDelays
from inspector.analysis.lateness.samples import Place
from inspector.cli import main as cli
from inspector.cli.late_report import late_values
from inspector.cli.run_report import RunReport, report_text, report_values
from inspector.events import Timeline
from inspector.events.recording import open_recording
from inspector.events.states import ClockState
from inspector.exit_codes import ExitCode
from inspector.testing import scene_file
from tests.cli.answers import Run, rows
from tests.forked.python import COMMAND_LINE, run_python

FAILING = """
    def build(stage):
        stage.root.set_timeout(0.5, lambda: 1 / 0, name="divides")
"""


def test_that_a_run_of_frames_is_exact_and_tells_what_timers_did(run: Run) -> None:
    code, out, err = run("run minimal --frames 600")

    assert (code, err) == (ExitCode.OK, "")
    assert "600 frames in 0:10.000, virtual time, dt 1/60 s" in out
    line = r"^blink +ui +every 1.00 s +10 +10 +exact +04_minimal.py:\d+$"
    assert re.search(line, out, re.MULTILINE)
    assert re.search(r"^  game +00:05.000 +0.5 +2 +10 +running$", out, re.MULTILINE)
    # Columns that say nothing, or nothing else, are left out.
    assert re.search("^clock +local time +rate +pending +fired +state$", out, re.MULTILINE)
    assert "skipped" not in out
    assert "2 of 2 repeating timers have their exact count." in out
    assert "No callback failed." in out


def test_that_a_report_tells_clocks_of_one_name_apart(run: Run, tmp_path: Path) -> None:
    scene_file(
        tmp_path,
        """
        def build(stage):
            for side in ("left", "right"):
                hand = stage.root.child(side).child("hand")
                hand.set_interval(1, lambda: None, name="grip")
        """,
    )
    _, out, _ = run("run scene.py --seconds 2 --json")
    found = [timer["clock"] for timer in json.loads(out)["timers"]]

    assert found == ["left › hand", "right › hand"]


def test_that_a_run_with_a_failed_thread_fails(run: Run, tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        import threading

        def work():
            raise ValueError("no oil")

        def build(stage):
            thread = threading.Thread(target=work, name="worker")
            stage.root.set_timeout(0.05, lambda: (thread.start(), thread.join()))
        """,
    )

    code, out, err = run(f"run {path} --frames 6")

    assert code == ExitCode.FAILED
    assert "1 failure:\n  0:00.050  “worker”  ValueError: no oil" in out
    assert "“worker” failed with ValueError: no oil (scene.py, line 5)" in err


def test_that_a_run_can_be_read_by_programs(run: Run) -> None:
    code, out, _ = run("run minimal --seconds 20 --json")

    values = json.loads(out)
    assert code == ExitCode.OK
    assert (values["frames"], values["session_ns"]) == (1_200, 20_000_000_000)
    timers = {timer["label"]: timer for timer in values["timers"]}
    assert timers["blink"]["fired"] == timers["blink"]["expected"] == 20
    game = next(clock for clock in values["clocks"] if clock["name"] == "game")
    assert game["state"] == "paused since 0:20.000"


@pytest.mark.parametrize(
    ("dt", "frames"), [("1/60", 60), ("1/7", 7), ("10ms", 100), ("0.25", 4), ("1/144", 144)]
)
def test_that_a_step_is_taken_exactly(run: Run, dt: str, frames: int) -> None:
    _, out, _ = run(f"run minimal --seconds 1 --dt {dt} --json")

    values = json.loads(out)
    assert (values["frames"], values["session_ns"]) == (frames, 10**9)


def test_that_a_rate_is_given_to_the_root(run: Run) -> None:
    _, out, _ = run("run minimal --seconds 10 --rate 1/2 --json")

    clocks = {clock["name"]: clock for clock in json.loads(out)["clocks"]}
    assert clocks["root"]["local_ns"] == 5_000_000_000
    assert clocks["game"]["effective_rate"] == "0.25"


def test_that_a_report_tells_of_each_clock_what_the_timeline_does(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene_file(
        tmp_path,
        """
        import random

        def build(stage):
            chance, clocks = random.Random(5), [stage.root]
            for number in range(200):
                above = chance.choice(clocks[-20:])
                clocks.append(above.child(f"clock {number}"))
                clocks[-1].rate = chance.choice((1, 1, 0.5, 1.001, 3, 3, 1 / 3))
            for each in chance.sample(clocks[40:], 10):
                each.pause()
            for each in chance.sample(clocks[40:], 5):
                each.rate = 0
        """,
    )
    reports: list[RunReport] = []

    def kept_values(report: RunReport) -> dict[str, object]:
        reports.append(report)
        return report_values(report)

    monkeypatch.setattr("inspector.cli.run.report_values", kept_values)

    code, out, _ = run("run scene.py --seconds 1.7 --json")

    assert code == ExitCode.OK
    timeline, clocks = reports[0].timeline, json.loads(out)["clocks"]
    assert len(clocks) == 201
    assert timeline.root_id is not None
    states = set()
    for clock, number in zip(clocks, timeline.branch(timeline.root_id), strict=True):
        reasons = timeline.pause_reasons(number)
        assert clock["depth"] == len(timeline.path(number)) - 1
        assert clock["local_ns"] == timeline.local_ns(number)
        assert clock["effective_rate"] == f"{float(timeline.effective_rate(number)):.4g}"
        assert (clock["state"] == "running") == (not reasons)
        assert clock["state"].startswith("stopped") == (bool(reasons) and not reasons[0].is_own)
        assert not reasons or reasons[0].is_own or f"“{reasons[0].clock_name}”" in clock["state"]
        states.add(clock["state"].partition(" since ")[0].partition("” ")[2] or clock["state"][:7])
    assert states == {"running", "paused ", "rate 0 ", "has been paused", "has had rate 0"}


def test_that_a_report_of_programs_names_who_made_the_latest_calls_late(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[RunReport] = []
    monkeypatch.setattr("inspector.cli.run.report_values", reports.append)
    assert run("run 4 --seconds 0.1 --json")[0] == ExitCode.OK
    share = LatenessShare(Cause.TASK_STEP, Culprit(Place("game.py", 4, "crunch")), 90_000_000, 9)
    lateness = Lateness(0, 100_000_000, (share,), (), 9, 0)
    call = LateCall(7, "tick", 3, "loop", "", 1, lateness)
    delays = LongestDelays(20_000_000, 1_500, [call])
    report = structs.replace(reports[0], late=delays)

    text, values = report_text(report, most_timers=10), report_values(report)

    line = "  0:00.100  “tick” on “loop”: 100 ms late: the frame was in crunch() (game.py:4) for"
    heading = "1,500 calls were later than 20.0 ms."
    assert f"\n\n{heading} The longest delays, each by its worst call:\n{line} 90.0 ms" in text
    longest = late_values([call])["late"]
    assert values["late"] == {"over_ns": 20_000_000, "calls": 1_500, "longest": longest}
    one = structs.replace(report, late=structs.replace(delays, count=1))
    assert f"\n\n1 call was later than 20.0 ms.\n{line} 90.0 ms" in report_text(one, most_timers=10)
    for late in (None, structs.replace(delays, count=0, worst=[])):
        assert "later than" not in report_text(structs.replace(report, late=late), most_timers=10)
    assert "late" not in report_values(reports[0])


def test_that_a_report_walks_no_path_for_each_of_thousands_of_clocks(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene_file(
        tmp_path,
        """
        def build(stage):
            clock = stage.root
            for number in range(2_000):
                clock = clock.child(f"clock {number}")
            stage.root.pause()
        """,
    )
    walked = []
    path = Timeline.path

    def counted_path(self: Timeline, clock_id: int) -> list[ClockState]:
        found = path(self, clock_id)
        walked.append(len(found))
        return found

    monkeypatch.setattr(Timeline, "path", counted_path)

    code, out, _ = run("run scene.py --seconds 0.1")

    assert (code, "… and 1,961 more clocks" in out) == (ExitCode.OK, True)
    assert sum(walked) < 10 * 2_000


@pytest.mark.parametrize(("rate", "effective"), [(10, "1e+400"), (0.1, "1e-400")])
def test_that_no_effective_rate_is_too_large_or_too_small_for_a_report(
    run: Run, tmp_path: Path, rate: float, effective: str
) -> None:
    scene_file(
        tmp_path,
        f"""
        def build(stage):
            clock = stage.root
            for number in range(400):
                clock = clock.child(f"clock {{number}}")
                clock.rate = {rate}
        """,
    )

    code, out, err = run("run scene.py --seconds 0.1 --json")

    assert (code, err) == (ExitCode.OK, "")
    assert json.loads(out)["clocks"][-1]["effective_rate"] == effective


def test_that_a_failing_callback_ends_in_exit_code_1_and_is_said(run: Run, tmp_path: Path) -> None:
    scene_file(tmp_path, FAILING)

    code, out, err = run("run scene.py --seconds 1")

    assert code == ExitCode.FAILED
    assert "  0:00.500  “divides”  ZeroDivisionError: division by zero" in out
    assert err == (
        "timeline-inspector: “divides” failed with ZeroDivisionError: division by zero "
        "(scene.py, line 3).\n"
    )


def test_that_the_policy_stop_ends_the_run_there(run: Run, tmp_path: Path) -> None:
    scene_file(tmp_path, FAILING)

    code, out, err = run("run scene.py --seconds 9 --failure-policy stop")

    assert code == ExitCode.FAILED
    assert "in 0:00.500" in out
    assert "The run was stopped before its end." in out
    assert err.endswith("The scene was stopped there.\n")


def test_that_a_scene_that_cannot_be_loaded_shows_the_line(run: Run, tmp_path: Path) -> None:
    scene_file(tmp_path, "def build(stage):\n    stage.nothing\n")

    code, out, err = run("run scene.py --frames 1")

    assert code == ExitCode.SCENE
    assert out == ""
    assert err.startswith(
        "timeline-inspector: scene.py failed in build(stage) (line 2): AttributeError: "
    )
    assert "> 2 │     stage.nothing" in err
    assert err.count("line 2") == 3


@pytest.mark.parametrize("name", ["nowhere.py", "smal_game", "."])
def test_that_a_scene_that_is_not_there_is_one_sentence(run: Run, name: str) -> None:
    code, _, err = run(f"run {name} --frames 1")

    assert code == ExitCode.SCENE
    assert err.count("\n") == 1


def test_that_frame_times_of_a_capture_drive_a_scene(run: Run, tmp_path: Path) -> None:
    capture = "Application,MsBetweenPresents\n" + "game.exe,20.0\ngame.exe,180.0\n" * 10
    (tmp_path / "capture.csv").write_text(capture)

    code, out, _ = run("run minimal --frame-times capture.csv:MsBetweenPresents --export a.csv")

    assert code == ExitCode.OK
    assert "20 frames in 0:02.000, frame times of capture.csv (MsBetweenPresents)" in out
    assert [row["interval_ms"] for row in rows(tmp_path / "a.csv")[:2]] == [
        "20.000000",
        "180.000000",
    ]


def test_that_a_run_in_real_time_takes_that_time(run: Run) -> None:
    code, out, _ = run("run minimal --seconds 0.3 --real-time --json")

    values = json.loads(out)
    assert code == ExitCode.OK
    assert values["session_ns"] >= 300_000_000
    assert values["took_ns"] >= 300_000_000
    # On a busy machine it ends late, and frames are left out.
    assert 1 <= values["frames"] <= values["session_ns"] * 60 // 10**9 + 1
    assert values["how"] == "in real time"


def test_that_a_run_in_real_time_has_exactly_the_frames_that_were_asked_for(run: Run) -> None:
    _, out, _ = run("run minimal --frames 12 --real-time --json")

    assert json.loads(out)["frames"] == 12


def test_that_what_was_cut_from_long_frames_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "capture.csv").write_text("ms\n16\n300\n16\n1250\n")

    _, out, _ = run("run 4 --frame-times capture.csv")
    _, as_json, _ = run("run 4 --frame-times capture.csv --json")

    assert "1.05 s cut from 2 frames longer than max_delta\n" in out
    assert json.loads(as_json)["cut_ns"] == pytest.approx(1_050_000_000, abs=10)


def test_that_a_capture_that_is_too_short_is_said_to_be_repeated(run: Run, tmp_path: Path) -> None:
    (tmp_path / "short.csv").write_text("ms\n16\n17\n", encoding="utf-8")

    code, out, err = run("run 4 --frame-times short.csv --frames 5")

    assert code == ExitCode.OK
    assert "5 frames in 0:00.082, frame times of short.csv (ms), again and again" in out
    assert err == (
        "timeline-inspector: short.csv holds 2 frames, 33.0 ms; it is repeated up to frame 5.\n"
    )
    assert "again" not in run("run 4 --frame-times short.csv --frames 2")[1]


def test_that_a_run_of_very_many_frames_is_announced(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.cli.run._MANY_FRAMES", 1_999)
    (tmp_path / "tiny.csv").write_text("ms\n0.000005\n0.000015\n", encoding="utf-8")

    code, out, err = run("run 4 --frame-times tiny.csv --seconds 0.00002")

    assert code == ExitCode.OK
    assert "2,000 frames in 0:00.000" in out
    assert err == (
        "timeline-inspector: tiny.csv holds 2 frames, 20 ns; it is repeated up to frame 2,000.\n"
        "timeline-inspector: So many frames take minutes. Ctrl+C ends the run, --frames asks for "
        "fewer.\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_that_progress_is_shown_to_a_terminal_only(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.sessions.runs.virtual._PROGRESS_EVERY_NS", -1)
    assert run("run 4 --frames 1280 --quiet") == (ExitCode.OK, "", "")
    try:
        reader, writer = os.openpty()
    except OSError as error:
        pytest.skip(f"this machine has no pseudo-terminals: {error}")
    shown = bytearray()

    def read() -> None:
        while chunk := os.read(reader, 4096):
            shown.extend(chunk)
            if shown.endswith(b"end"):
                return

    thread = threading.Thread(target=read)
    thread.start()
    with os.fdopen(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        cli.main(["run", "4", "--frames", "1280", "--quiet"])
        terminal.write("end")
        terminal.flush()
        thread.join(10)
    os.close(reader)

    assert b" 50%" in shown
    assert b"left" in shown
    assert re.search(rb"\r +\rend$", shown), "the line is cleared at the end"


def test_that_a_failure_inside_the_library_is_placed_in_the_users_own_line(
    run: Run, tmp_path: Path
) -> None:
    scene_file(
        tmp_path,
        """
        def later(clock):
            clock.set_timeout("soon", print)

        def build(stage):
            stage.root.set_timeout(0.5, later, stage.root, name="asks")
        """,
    )

    _, _, err = run("run scene.py --seconds 1 --quiet")

    assert err == (
        "timeline-inspector: “asks” failed with ValueError: "
        "set_timeout(delay, callback): the delay is not a usable number of seconds: “soon” "
        "(scene.py, line 3).\n"
    )


def test_that_an_empty_name_is_no_folder(run: Run) -> None:
    code, _, err = run("run '' --frames 1")

    assert code == ExitCode.SCENE
    assert err.startswith("timeline-inspector: The name of the scene is empty.")


def test_that_what_a_scene_prints_is_not_part_of_the_json(run: Run, tmp_path: Path) -> None:
    scene_file(tmp_path, "def build(stage):\n    print('hello')\n")

    code, out, err = run("run scene.py --frames 3 --json")

    assert code == ExitCode.OK
    assert json.loads(out)["frames"] == 3
    assert err.startswith("hello\n")


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("OwnError('a\\nb')", "OwnError: a"),
        ("ExceptionGroup('many', [OwnError(1)])", "ExceptionGroup: many (1 sub-exception)"),
    ],
)
def test_that_an_error_is_named_as_its_author_wrote_it(
    run: Run, tmp_path: Path, raised: str, said: str
) -> None:
    scene_file(
        tmp_path,
        f"""
        class OwnError(Exception): pass

        def fail():
            raise {raised}

        def build(stage):
            stage.root.set_timeout(0.5, fail, name="fails\\ntwice")
        """,
    )

    _, out, err = run("run scene.py --seconds 1")

    assert f"  0:00.500  “fails⏎twice”  {said}\n" in out
    assert err == f"timeline-inspector: “fails⏎twice” failed with {said} (scene.py, line 5).\n"


def test_that_what_ends_other_programs_fails_here(run: Run, tmp_path: Path) -> None:
    scene_file(
        tmp_path,
        """
        from asyncio import CancelledError

        def stop():
            raise CancelledError

        def build(stage):
            stage.root.set_timeout(0.5, stop)
        """,
    )

    code, _, err = run("run scene.py --seconds 1")

    assert code == ExitCode.FAILED
    assert err == (
        "timeline-inspector: “stop” failed with asyncio.exceptions.CancelledError "
        "(scene.py, line 5).\n"
    )


def test_that_a_run_that_is_terminated_closes_its_recording(tmp_path: Path) -> None:
    scene_file(
        tmp_path,
        """
        import os, signal

        def build(stage):
            stage.root.set_timeout(2, os.kill, os.getpid(), signal.SIGTERM)
        """,
    )
    line = "-m inspector run scene.py --seconds 9 --record a.tlrec"
    done = run_python(COMMAND_LINE, line.split(), os.environ, tmp_path)

    assert done.returncode == ExitCode.TERMINATED
    assert done.stderr == "timeline-inspector: Terminated.\n"
    assert not (tmp_path / "a.tlrec-wal").exists()
    past = open_recording(tmp_path / "a.tlrec")
    assert past.notes == ()
    assert past.last_ns >= 2_000_000_000
    past.close()


def _capture(tmp_path: Path, *times_ms: float) -> str:
    path = tmp_path / "capture.csv"
    path.write_text("frametime\n" + "".join(f"{time_ms}\n" for time_ms in times_ms))
    return str(path)


def test_that_a_run_and_its_graph_count_the_same_frames_over_budget(
    run: Run, tmp_path: Path
) -> None:
    # Half of the frames are a little longer than the budget, as on any timer.
    capture = _capture(tmp_path, *[16.2, 17.2] * 100, *[24.0] * 12)
    graph = tmp_path / "frames.svg"

    _, out, _ = run(f"run minimal --frame-times {capture} --export {graph}")
    _, values, _ = run(f"run minimal --frame-times {capture} --json")

    assert "frame time over budget (19.2 ms): 12 frames (5.7%)" in out
    assert "12 over 19.2 ms (5.7 %)" in graph.read_text()
    assert json.loads(values)["over_budget"] == {
        "measure": "interval",
        "budgets": [
            {
                "budget_ns": 16_666_667,
                "origin": "",
                "tolerance_ns": 2_500_000,
                "frames": 12,
                "share": 12 / 212,
                "missed_refreshes": 12,
            }
        ],
    }


def test_that_a_run_compares_the_time_that_its_graph_shows(run: Run) -> None:
    _, out, _ = run("run minimal --frames 10")
    _, forced, _ = run("run minimal --frames 10 --measure interval --budget 10")

    assert "work in it over budget (19.2 ms): 0 frames" in out
    assert "frame time over budget (11.5 ms): 10 frames (100.0%)" in forced


def test_that_the_budget_of_the_scene_is_among_those_of_its_graph(run: Run, tmp_path: Path) -> None:
    scene = scene_file(
        tmp_path,
        """
        def build(stage):
            stage.frame_rate = 75
        """,
    )
    capture = _capture(tmp_path, *[13.0, 14.0] * 50)
    graph = tmp_path / "frames.svg"

    _, out, _ = run(f"run {scene} --frame-times {capture} --export {graph}")

    assert "frame time over budget (15.3 ms): 0 frames" in out
    assert ">75 fps<" in graph.read_text()
    assert "none over 15.3 ms" in graph.read_text()


def test_that_milliseconds_meant_as_a_delay_are_noticed_in_the_table(
    run: Run, tmp_path: Path
) -> None:
    scene = scene_file(
        tmp_path,
        """
        def build(stage):
            stage.root.set_timeout(5000, print, name="boss")
            stage.root.set_interval(500, print, name="tick")
        """,
    )

    _, out, _ = run(f"run {scene} --seconds 1")

    assert re.search(r"^boss +root +5,000 s +once +0 +– +scene.py:3$", out, re.MULTILINE)
    assert re.search(r"^tick +root +every 500 s +0 +0 +exact +scene.py:4$", out, re.MULTILINE)


def test_that_a_run_in_real_time_says_where_the_time_between_frames_went(run: Run) -> None:
    code, out, _ = run("run minimal --frames 12 --real-time --json --without-inspector")

    values = json.loads(out)
    total, longest = values["shares"]["total"], values["shares"]["longest"]
    assert code == ExitCode.OK
    assert list(total) == [
        "callbacks_ns",
        "inspector_ns",
        "garbage_collection_ns",
        "host_late_ns",
        "idle_ns",
        "unknown_ns",
    ]
    assert sum(longest[name] for name in total) == longest["interval_ns"]
    assert values["left_out"]["budget_ns"] == 16_666_667


def test_that_the_report_names_shares_and_what_is_left_out(run: Run) -> None:
    _, out, _ = run("run minimal --frames 12 --real-time --without-inspector")

    for line in (
        r"^time between frames: callbacks [\d.]+%, inspector [\d.]+%, ",
        r"^the longest, frame \d+, [\d.]+ ms: \w",
        r"^left out: \d+ frames? over budget \(19.2 ms\) because of the inspector alone$",
    ):
        assert re.search(line, out, re.MULTILINE)


def test_that_virtual_time_has_no_shares_to_report(run: Run) -> None:
    _, out, _ = run("run minimal --frames 12 --json")

    values = json.loads(out)
    assert (values["shares"], values["left_out"]) == (None, None)
