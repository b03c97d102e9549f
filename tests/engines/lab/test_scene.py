"""Scenes in the refresh-rate lab, and the command ``lab``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs

from inspector.cli.main import main
from inspector.engines.lab.display import recorded_display, steady_display
from inspector.engines.lab.refresh_lab import Divergence, LabVerdict
from inspector.engines.lab.scene import begin_scene_lab, run_scene_lab
from inspector.errors import InspectorError, SceneError

SECOND = 1_000_000_000

SCENE = """
def build(stage):
    stage.name("blinker")
    game = stage.root.child("game")
    slow = game.child("slow", rate=0.5)
    game.set_interval(0.1, lambda: None, name="blink")
    slow.set_timeout(0.25, lambda: None, name="once")
    frames = []

    def count(_delta):
        frames.append(None)
        if len(frames) % 60 == 0:
            game.set_timeout(0, lambda: None, name="every 60 frames")

    stage.every_frame(count)
"""


FRAME_TIMERS = """
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.engines.egret.timer import BY_CALLS, TickerTimer
from inspector.engines.egret.ticker import Ticker

def build(stage):
    scheduler = Scheduler(stage.root, name="combat")
    scheduler.schedule(lambda seconds: None, 0.25, name="quarter")
    ticker = Ticker(clock=stage.root)
    timer = TickerTimer(ticker, 1000, counting=BY_CALLS)
    timer.on_timer = lambda: None
    timer.start()

    def frame(delta):
        scheduler.run_frame()
        ticker.update()

    stage.every_frame(frame)
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "scene.py"
    path.write_text(SCENE, encoding="utf-8")
    return path


def lab(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = main(["lab", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_that_timers_of_a_scene_fire_in_the_frame_at_or_after_their_due_time(scene: Path) -> None:
    display = recorded_display("16 ms", [16_000_000] * 63)

    run = run_scene_lab(scene, [display])

    blink = next(result for result in run.results if result.timer.title == "blink (game)")
    assert blink.expected_ns == tuple(range(SECOND // 10, SECOND + 1, SECOND // 10))
    assert blink.fired_ns == tuple(
        display.frames_ns[display.frame_of(due_ns)] for due_ns in blink.expected_ns
    )
    assert blink.verdict is LabVerdict.ON_TIME
    assert run.title == "blinker"


def test_that_a_rate_of_a_clock_is_heeded(scene: Path) -> None:
    run = run_scene_lab(scene, [steady_display(240, SECOND)])

    once = next(result for result in run.results if result.timer.title == "once (slow)")
    assert once.expected_ns == once.fired_ns == (SECOND // 2,)


def test_that_what_counts_frames_diverges_with_the_display(scene: Path) -> None:
    displays = [steady_display(rate, 4 * SECOND) for rate in (60, 240)]

    run = run_scene_lab(scene, displays)

    usual, fast = (each for each in run.results if each.timer.title.startswith("every 60 frames"))
    assert (usual.count, usual.expected_count) == (4, 4)
    assert usual.verdict.is_right
    assert fast.count == 16
    assert fast.verdict is LabVerdict.EARLY
    assert fast.divergence is not None
    assert fast.divergence.index == 0


def test_that_timers_of_schedulers_and_tickers_are_timers_too(tmp_path: Path) -> None:
    path = tmp_path / "frames.py"
    path.write_text(FRAME_TIMERS, encoding="utf-8")

    run = run_scene_lab(path, [steady_display(240, 2 * SECOND)])

    sound, counted = run.results
    assert sound.timer.title == "quarter (combat)"
    assert sound.fired_ns == tuple(range(SECOND // 4, 2 * SECOND + 1, SECOND // 4))
    assert sound.verdict is LabVerdict.EXACT
    # Egret's fault, found in somebody's scene.
    assert counted.expected_ns == (SECOND, 2 * SECOND)
    assert counted.fired_ns == sound.fired_ns
    assert counted.verdict is LabVerdict.EARLY


def test_that_a_stall_is_not_cut(scene: Path) -> None:
    display = recorded_display("stall", [100_000_000, 900_000_000, 16_000_000])

    run = run_scene_lab(scene, [display])

    blink = next(result for result in run.results if result.timer.title == "blink (game)")
    assert blink.fired_ns == (SECOND // 10, *[SECOND] * 9)


def test_that_displays_come_one_after_the_other_and_progress_is_told(scene: Path) -> None:
    told: list[float] = []

    run = run_scene_lab(
        scene, [steady_display(30, SECOND), steady_display(90, SECOND)], told.append
    )

    names = [result.display.name for result in run.results]
    assert names == sorted(names)
    assert told[-1] == 1
    assert told == sorted(told)


def test_that_a_scene_that_fails_or_stops_is_reported(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def build(stage):\n    1 / 0\n", encoding="utf-8")
    raising = tmp_path / "raising.py"
    raising.write_text(
        "def build(stage):\n    stage.root.set_interval(0.1, lambda: 1 / 0, name='oops')\n",
        encoding="utf-8",
    )

    with pytest.raises(SceneError, match="ZeroDivisionError"):
        run_scene_lab(broken, [steady_display(60, SECOND)])
    run = run_scene_lab(raising, [steady_display(60, SECOND)])

    assert run.failures == ("“oops” failed with ZeroDivisionError: division by zero",)
    assert run.results[0].count == 10


def test_that_a_scene_that_does_too_much_is_refused(
    scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspector.events.log import EventLog  # noqa: PLC0415

    read = EventLog.read

    def lossy(log: EventLog, cursor: int) -> object:
        return structs.replace(read(log, cursor), lost=1)

    monkeypatch.setattr(EventLog, "read", lossy)
    with pytest.raises(InspectorError, match="more per second than the lab"):
        run_scene_lab(scene, [steady_display(60, SECOND)])


# ------------------------------------------------------------------ the command


def test_that_the_egret_case_is_the_first_example(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = lab(capsys)

    assert (code, err) == (0, "")
    block = out.partition("240 Hz, timer “every 1 s”, 10 s")[2]
    line = next(line for line in block.splitlines() if "Egret, by calls" in line)
    assert " ".join(line.split()) == (
        "✗ Egret, by calls too early 40 instead of 10 250 ms −30.0 s −15.8 s −750 ms −30.0 s "
        "firing 1 at 0:00.250, 750 ms early"
    )
    assert "Wrong in 17 of 69 runs: 5 too early, 12 too late." in out


def test_that_subjects_displays_and_timers_can_be_chosen(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    timers = tmp_path / "timers.csv"
    timers.write_text("name,interval\nfrom file,250ms\n", encoding="utf-8")

    code, out, _err = lab(
        capsys,
        *("--timers", timers, "--timer", "typed=500ms,repeat=3"),
        *("--display", "30,59.94", "--display", "variable:7"),
        *("--subject", "clock,egret-repair*", "--seconds", "2", "--json"),
    )

    results = json.loads(out)["results"]
    assert code == 0
    assert {each["timer"] for each in results} == {"from file", "typed"}
    assert {each["display"] for each in results} == {"30 Hz", "59.94 Hz", "variable:7"}
    assert len({each["subject"] for each in results}) == 10
    assert {each["expected"] for each in results} == {8, 4}


def test_that_the_frames_of_a_capture_are_a_display(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    capture = tmp_path / "capture.csv"
    capture.write_text("MsBetweenPresents\n" + "16\n" * 125, encoding="utf-8")

    code, out, _err = lab(capsys, "--frame-times", capture, "--subject", "scheduler", "--json")

    (result,) = json.loads(out)["results"]
    assert code == 0
    assert result["display"] == "capture.csv"
    assert result["fired_ns"] == [1_008_000_000, 2_000_000_000]


def test_that_a_scene_is_run_under_every_display(
    capsys: pytest.CaptureFixture[str], scene: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "scene.svg"

    code, out, _err = lab(
        capsys,
        *("--scene", scene, "--display", "60,240", "--seconds", "4", "--export", picture),
    )

    assert code == 0
    assert "60 Hz, 4 s" in out
    assert "✗ every 60 frames (game)" in out
    assert f"wrote {picture} (6 runs)" in out
    assert "blinker" in picture.read_text(encoding="utf-8")


def test_that_check_turns_a_wrong_run_into_an_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert lab(capsys, "--subject", "egret", "--check")[0] == 1
    assert lab(capsys, "--subject", "clock", "--check")[0] == 0


def test_that_subjects_and_displays_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _err = lab(capsys, "--list")

    assert code == 0
    assert "egret-repair-4" in out
    assert "48 and 144 Hz" in out


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["--display", "fast"], 2, "--display: not a display: “fast”"),
        (["--display", "0"], 2, "between 1 and 1000 Hz"),
        (["--display", "60/0"], 2, "not a display"),
        (["--display", "variable:x"], 2, "whole number"),
        (["--subject", "unity"], 2, "no subject “unity”"),
        (["--timer", "blink"], 2, "--timer blink: not a duration"),
        (["--timer", "blink=1us"], 2, "fire 10,000,000 times"),
        (["--seconds", "9 h"], 2, "refreshes are too many"),
        (["--seconds", "0"], 2, "above 0"),
        (["--scene", "1", "--timer", "1"], 2, "--timer: a scene brings its own"),
        (["--scene", "nowhere.py"], 4, "no file"),
        (["--timers", "nowhere.csv"], 9, "There is no file nowhere.csv"),
        (["--frame-times", "nowhere.csv"], 9, "There is no file nowhere.csv"),
        (["--export", "lab.xls"], 1, "“.xls” is not a format"),
    ],
)
def test_that_a_mistake_is_said_in_a_sentence(
    arguments: list[str], code: int, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    got, out, err = lab(capsys, *arguments)

    assert (got, out) == (code, "")
    assert problem in err
    assert err.startswith("timeline-inspector: ")


def test_that_a_failing_callback_of_a_scene_makes_the_exit_code_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "raising.py"
    path.write_text(
        "def build(stage):\n    stage.root.set_interval(1, lambda: 1 / 0, name='oops')\n",
        encoding="utf-8",
    )

    code, _out, err = lab(capsys, "--scene", path, "--display", "60")

    assert code == 1
    assert "“oops” failed with ZeroDivisionError" in err


def test_that_a_firing_that_never_came_is_described() -> None:
    assert Divergence(2, 3 * SECOND, None).text == "firing 3, due at 0:03.000, never came"
    assert Divergence(0, None, SECOND).text == "firing 1 at 0:01.000 was not expected"


@pytest.mark.parametrize("argument", ["--display", "--subject"])
def test_that_commas_alone_name_nothing(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = lab(capsys, argument, ",")

    assert code == 2
    assert out == ""
    assert err == (
        f"timeline-inspector: Argument {argument}: no name given. “timeline-inspector lab --list” "
        "lists the names.\n"
    )


def test_that_a_scene_can_be_left_at_any_step(scene: Path) -> None:
    steps = begin_scene_lab(scene, [steady_display(60, SECOND)])
    shares = [next(steps) for _ in range(70)]

    steps.close()

    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1
