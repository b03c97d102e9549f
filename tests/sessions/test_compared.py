"""Captures and recordings compared: their frames, and the calls of their clocks and timers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from inspector.analysis.statistics.compared_calls import (
    CallSamples,
    SessionCalls,
    call_changes,
    calls_of,
)
from inspector.analysis.statistics.compared_columns import RunColumn, column_changes
from inspector.analysis.statistics.comparison import Verdict
from inspector.analysis.statistics.runs import ComparedRun, differences
from inspector.analysis.statistics.time_series import StutterLimits
from inspector.errors import CaptureError
from inspector.sessions.captured import CapturedSession
from inspector.sessions.compared import (
    columns_of,
    files_named,
    run_of_file,
    run_of_session,
    told_apart,
)
from inspector.testing import pass_seconds, scene_file, virtual_session

SCENE = """
def build(stage):
    game = stage.root.child("game")
    game.set_interval(PERIOD, lambda: None, name="attack")
    stage.root.child("ui").set_interval(0.1, lambda: None, name="blink")
"""


def run_of_scene(folder: Path, period: float, frame_ms: float) -> ComparedRun:
    """Run a scene for 20 s of frames that are as long as that, more or less."""
    folder.mkdir(exist_ok=True)
    session = virtual_session(scene_file(folder, SCENE.replace("PERIOD", str(period))))
    at_ns = number = 0
    while at_ns < 20_000_000_000:
        at_ns += round(frame_ms * (1_000_000 + 20_000 * (number % 7)))
        number += 1
        session.pass_to(at_ns)
    session.refresh()
    return run_of_session(session, folder.name)(lambda _done: None)


def capture(path: Path, frame_times_ms: list[float]) -> Path:
    rows = "\n".join(f"{each}" for each in frame_times_ms)
    path.write_text(f"FrameTimeMs\n{rows}\n", encoding="utf-8")
    return path


def test_that_a_slower_capture_is_said_to_be_slower(tmp_path: Path) -> None:
    before = run_of_file(capture(tmp_path / "before.csv", [10.0, 10.2, 9.8, 10.1] * 200))
    after = run_of_file(capture(tmp_path / "after.csv", [11.0, 11.2, 10.8, 11.1] * 200))

    (found,) = differences([before, after])

    assert found.found.verdict is Verdict.SLOWER
    assert found.sentence.startswith(
        "“after.csv” is slower than “before.csv”: 99.75 → 90.70 fps, -9.1% ("
    )
    assert "about these runs, not about versions" in found.sentence
    assert found.calls == ()


def test_that_the_same_frames_are_no_evidence(tmp_path: Path) -> None:
    run = run_of_file(capture(tmp_path / "a.csv", [10.0, 10.2, 9.8, 30.1] * 200))

    (found,) = differences([run, run])

    assert found.sentence.startswith("There is no evidence that “a.csv” is faster or slower")


def test_that_a_run_that_is_part_of_the_other_is_said_to_be() -> None:
    times_ns = 10_000_000 + np.random.default_rng(1).integers(0, 1_000_000, 2_000)
    whole, part = ComparedRun("whole", times_ns), ComparedRun("part", times_ns[700:1_300])

    (after,), (before,) = differences([whole, part]), differences([part, whole])

    said = "All 600 frames of “part” are in “whole” too, so the two are not independent"
    assert said in after.sentence
    assert said in before.sentence


def test_that_a_run_and_its_copy_are_said_to_be_the_same() -> None:
    times_ns = 10_000_000 + np.random.default_rng(1).integers(0, 1_000_000, 2_000)

    (found,) = differences([ComparedRun("a", times_ns), ComparedRun("b", times_ns.copy())])

    assert "“a” and “b” have the same frame times" in found.sentence


@pytest.mark.parametrize("pattern", [[16], [16, 17, 17]])
def test_that_even_frames_do_not_make_a_run_part_of_another(pattern: list[int]) -> None:
    times_ns = np.array(pattern * 300) * 1_000_000

    (found,) = differences([ComparedRun("a", times_ns), ComparedRun("b", times_ns[:300])])

    assert found.overlap == ""


def test_that_each_of_several_is_compared_with_the_first(tmp_path: Path) -> None:
    runs = [
        run_of_file(capture(tmp_path / f"{each}.csv", [each, each + 0.1, each - 0.1] * 100))
        for each in (10.0, 12.0, 8.0)
    ]

    found = differences(runs)

    assert [each.found.verdict for each in found] == [Verdict.SLOWER, Verdict.FASTER]
    assert {each.before.name for each in found} == {"10.0.csv"}


def test_that_sessions_are_compared_by_clock_and_by_timer(tmp_path: Path) -> None:
    before = run_of_scene(tmp_path / "before", 0.1, 20)
    after = run_of_scene(tmp_path / "after", 0.05, 20)

    (found,) = differences([before, after])

    changes = {
        (each.clock.rpartition(" › ")[2], each.label, each.what): each.change
        for each in found.calls
    }
    attack = changes["game", "attack", "Calls"]
    assert attack.before == pytest.approx(10, rel=0.05)
    assert attack.share == pytest.approx(1, abs=0.1)
    assert attack.verdict is Verdict.MORE
    assert changes["game", "", "Calls"].share == attack.share
    assert changes["ui", "blink", "Calls"].verdict is Verdict.NO_EVIDENCE


def test_that_timers_that_are_later_are_slower() -> None:
    late_ms = np.tile([1.0, 2.0, 1.5, 1.2], 50)

    def calls(factor: float) -> SessionCalls:
        found = CallSamples()
        found.at_ns.extend(range(0, 20_000_000_000, 100_000_000))
        found.late_ns.extend((factor * 1_000_000 * late_ms).astype(int).tolist())
        return SessionCalls({("root", "attack"): found}, 20.0)

    rate, late = call_changes([calls(1)], [calls(1.5)])

    assert (rate.what, rate.change.before, rate.change.verdict) == (
        *("Calls", 10.0),
        Verdict.NO_EVIDENCE,
    )
    assert (late.what, late.unit) == ("Lateness, P95", "ms")
    assert (late.change.before, late.change.after) == (2.0, 3.0)
    assert late.change.verdict is Verdict.SLOWER


def test_that_progress_is_told_and_can_end_the_comparison(tmp_path: Path) -> None:
    run = run_of_file(capture(tmp_path / "a.csv", [10.0, 10.2, 9.8, 30.1] * 200))
    shares: list[float] = []

    differences([run, run, run], shares.append)

    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.5 < shares[-1] <= 1

    def refuse(done: float) -> None:
        if done > 0.25:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        differences([run, run, run], refuse)


def test_that_the_share_that_is_done_is_told_before_each_number() -> None:
    made = CallSamples()
    made.at_ns.extend(range(0, 20_000_000_000, 100_000_000))
    calls = SessionCalls({("root", name): made for name in "abcd"}, 20.0)
    values = np.linspace(30, 40, 100)
    columns = [RunColumn.of(name, "%", values, np.full(100, 16.0)) for name in "abcd"]
    of_calls: list[float] = []
    of_columns: list[float] = []

    call_changes([calls], [calls], of_calls.append)
    column_changes([columns], [columns], of_columns.append, 1)

    assert of_calls == of_columns == [0, 0.25, 0.5, 0.75]


@pytest.mark.parametrize("of_after", [True, False])
def test_that_classes_of_frames_are_compared_where_both_have_frames(*, of_after: bool) -> None:
    values, lasts_ms = np.linspace(30, 40, 100), np.linspace(10, 20, 100)
    before, after = (
        [RunColumn.of("load", "%", factor * values, lasts_ms, are_frames=are_frames)]
        for factor, are_frames in ((1, True), (2, of_after))
    )

    changes = column_changes([before], [after], lambda _done: None, 1)

    of_classes = [each for each in changes if "frames" in each.what]
    assert len(of_classes) == (4 if of_after else 0)
    assert all(each.change.share == pytest.approx(1) for each in of_classes)
    assert all((each.change.low, each.change.high) == (None, None) for each in of_classes)
    assert len(changes) > len(of_classes)


def test_that_calls_of_a_session_are_known_by_clock_and_name_with_when_and_how_long(
    tmp_path: Path,
) -> None:
    scene = """
        class Actor:
            def shoot(self, delta):
                pass

        def build(stage):
            game = stage.root.child("game")
            scheduler = stage.scheduler(game, name="calls")
            scheduler.schedule(Actor().shoot, 1)
            game.child("arena").set_interval(0.5, lambda: None, name="spawn")
    """
    session = virtual_session(scene_file(tmp_path, scene))
    pass_seconds(session, 3)
    session.refresh()

    found = calls_of(session.history)

    session.close()
    assert found.seconds == 3
    # A scheduler is called in every frame; how long timers take is not measured.
    counts = {key: (len(each.at_ns), len(each.took_ns)) for key, each in found.samples.items()}
    assert counts == {
        ("root › game", ""): (183, 183),
        ("root › game", "calls"): (180, 180),
        ("root › game", "Actor.shoot"): (3, 3),
        ("root › game › arena", ""): (6, 0),
        ("root › game › arena", "spawn"): (6, 0),
    }


def sampled(path: Path, mean_ms: float = 16.6) -> Path:
    """Write a log that has a sample each half second."""
    rng = np.random.default_rng(7)
    rows = "\n".join(
        f"60,{time:.4f},{number * 500_000_000}"
        for number, time in enumerate(rng.normal(mean_ms, 0.2, 100))
    )
    path.write_text(f"fps,frametime,elapsed\n{rows}\n", encoding="utf-8")
    return path


def test_that_logs_of_samples_last_as_long_as_they_took(tmp_path: Path) -> None:
    path = sampled(tmp_path / "mangohud.csv")

    read = run_of_file(path)
    opened = run_of_session(CapturedSession(path), "open")(lambda _done: None)

    for run in (read, opened):
        assert run.samples
        assert run.ends_ns.tolist()[:2] == [500_000_000, 1_000_000_000]
        assert run.series.sampled_ms == pytest.approx(50_000)
    together = ComparedRun.pooled("both", [read, run_of_file(sampled(tmp_path / "b.csv", 15.0))])
    assert together.series.sampled_ms == pytest.approx(100_000)


def test_that_of_samples_only_what_they_allow_is_compared(tmp_path: Path) -> None:
    runs = [run_of_file(sampled(tmp_path / f"{mean}.csv", mean)) for mean in (16.6, 15.0)]

    (found,) = differences(runs, asked={"p99"}, stutter=StutterLimits())

    mean, p99 = found.found.differences
    assert (mean.metric.id, mean.verdict) == ("mean", Verdict.FASTER)
    assert (p99.before, p99.after) == (None, None)
    assert "Only what samples allow is compared." in found.sentence


def test_that_stuttering_is_compared_by_the_limits_that_are_given() -> None:
    rng = np.random.default_rng(3)
    times_ms = rng.normal(10, 0.2, 2_000)
    times_ms[100::100] *= 2
    run = ComparedRun("one", (times_ms * 1e6).astype(np.int64))

    (usual,) = differences([run, run])
    (found,) = differences([run, run], stutter=StutterLimits(1.5, 60.0))
    (stutter,) = (
        each for each in found.found.differences if each.metric.id == "capframex.stuttering"
    )

    assert len(found.found.differences) == len(usual.found.differences) + 2
    share = times_ms[100::100].sum() / times_ms.sum()
    assert stutter.before == pytest.approx(100 * share, rel=1e-6)


def uneven_run(name: str, mean_ms: float, seed: int = 1) -> ComparedRun:
    times_ms = np.random.default_rng(seed).normal(mean_ms, 0.2, 300)
    return ComparedRun(name, (times_ms * 1_000_000).astype(np.int64))


def test_that_runs_of_a_version_are_taken_together() -> None:
    before = ComparedRun.pooled("before", [uneven_run(f"a{of}", 10, of) for of in range(3)])
    after = ComparedRun.pooled("after", [uneven_run(f"b{of}", 11, of + 5) for of in range(3)])

    (found,) = differences([before, after])

    assert len(before.times_ns) == 900
    assert "“after” is slower than “before”: " in found.sentence
    assert "This is about the versions, by 3 and 3 runs" in found.sentence
    assert found.found.differences[0].before == pytest.approx(before.series.mean_rate)


def test_that_one_run_on_a_side_says_nothing_of_versions() -> None:
    before = ComparedRun.pooled("before", [uneven_run("a", 10)])
    after = ComparedRun.pooled("after", [uneven_run(f"b{of}", 11, of + 5) for of in range(3)])

    (found,) = differences([before, after])

    assert "This is about these runs, not about versions of a program" in found.sentence


def test_that_outliers_are_named_and_left_out_only_when_asked() -> None:
    runs = [uneven_run("a", 10.0, 1), uneven_run("b", 10.1, 2), uneven_run("c", 10.5, 3)]
    others = ComparedRun.pooled("after", [uneven_run("d", 10, 4), uneven_run("e", 10, 5)])

    kept, without = (
        ComparedRun.pooled("before", runs, without_outliers=asked) for asked in (False, True)
    )

    assert [*kept.outliers] == ["c"]
    assert kept.outliers["c"] == pytest.approx(10.1 / 10.5 - 1, abs=0.003)
    assert [each.name for each in without.runs] == ["a", "b"]
    assert ComparedRun.pooled("before", runs).runs == kept.runs == tuple(runs)
    (with_it,), (without_it,) = (differences([each, others]) for each in (kept, without))
    assert "c is an outlier: its average is -4.0% from the median of “before”" in with_it.sentence
    assert "Left out as outliers: c." in without_it.sentence
    assert others.outliers == {}


def test_that_a_run_counts_once() -> None:
    run = uneven_run("a", 10)

    with pytest.raises(CaptureError, match="counts once"):
        ComparedRun.pooled("before", [run, uneven_run("b", 10, 2), uneven_run("copy", 10)])
    assert ComparedRun.pooled("before", [run]).runs == (run,)


def test_that_sessions_of_a_version_are_compared_by_what_all_of_them_have() -> None:
    def calls(period_ms: int, *names: str) -> SessionCalls:
        made = CallSamples()
        made.at_ns.extend(range(0, 20_000_000_000, period_ms * 1_000_000))
        return SessionCalls({("root", name): made for name in names}, 20.0)

    before = [calls(100, "attack", "old"), calls(101, "attack", "old")]
    after = [calls(50, "attack", "new"), calls(51, "attack")]

    (rate,) = call_changes(before, after)

    assert (rate.label, rate.change.verdict) == ("attack", Verdict.MORE)


def test_that_folders_and_patterns_stand_for_their_files(tmp_path: Path) -> None:
    names = ("b.csv", "a.csv", ".hidden", "c.txt")
    for name in names:
        (tmp_path / name).write_text("x")
    (tmp_path / "empty").mkdir()

    a, b, c = (tmp_path / name for name in ("a.csv", "b.csv", "c.txt"))
    assert files_named(str(tmp_path)) == [(a, None), (b, None), (c, None)]
    assert files_named(f"{tmp_path}/*.csv:busy") == [(a, "busy"), (b, "busy")]
    assert files_named(str(tmp_path / "missing.csv")) == [(tmp_path / "missing.csv", None)]
    for text in ("empty", "*.json"):
        with pytest.raises(CaptureError, match="There is no file in"):
            files_named(str(tmp_path / text))


def test_that_files_of_one_name_are_told_apart_by_folders_and_columns() -> None:
    times_ns = np.array([1, 2])

    def names(*files: tuple[str, str | None, str]) -> list[str]:
        runs = [ComparedRun(name, times_ns) for _, _, name in files]
        places = [(Path(path) if path else None, column) for path, column, _ in files]
        return [each.name for each in told_apart(runs, places)]

    assert names(("x/a.csv", None, "a.csv"), ("x/b.csv", None, "b.csv")) == ["a.csv", "b.csv"]
    assert names(("x/y/a.csv", None, "a.csv"), ("z/y/a.csv", None, "a.csv – game")) == [
        "x/y/a.csv",
        "z/y/a.csv – game",
    ]
    assert names(("x/a.csv", None, "a.csv"), ("y/a.csv", None, "a.csv")) == ["x/a.csv", "y/a.csv"]
    assert names(("a.csv", "ms", "a.csv"), ("a.csv", "busy", "a.csv")) == ["a.csv:ms", "a.csv:busy"]
    assert names(("a.csv", "ms", "a.csv"), ("a.csv", "ms", "a.csv")) == ["a.csv", "a.csv"]
    # A run that has a name of its own, and one of no file.
    assert names(("x/a.csv", None, "mine"), ("y/a.csv", None, "a.csv"), ("", None, "a.csv")) == [
        *("mine", "y/a.csv", "a.csv"),
    ]
    # All of a path is the end of another.
    assert names(("a.csv", None, "a.csv"), ("x/a.csv", None, "a.csv")) == ["a.csv", "x/a.csv"]


def test_that_a_stream_of_several_is_in_the_name_of_its_run(tmp_path: Path) -> None:
    rows = "\n".join(f"{name}.exe,16.5" for name in ("one", "two", "two"))
    (path := tmp_path / "a.csv").write_text(f"Application,MsBetweenPresents\n{rows}\n")

    chosen, other = run_of_file(path), run_of_file(path, stream="one")

    assert (chosen.stream, other.stream) == (chosen.streams[0], chosen.streams[1])
    assert [each.name for each in (chosen, other)] == [
        f"a.csv – {stream}" for stream in chosen.streams
    ]
    assert len(chosen.times_ns) == 2 * len(other.times_ns) == 2


def test_that_columns_beside_have_values_where_frames_have_times() -> None:
    beside: Any = SimpleNamespace(
        quantities=(SimpleNamespace(name="gpu", unit="ms", at=4),),
        numbers=lambda places: [np.array([1.0, 2.0, np.nan, 4.0])] if places == [4] else [],
        damage=lambda places: {4: "damaged"} if places == [4] else {},
    )
    times_ns = np.array([2_000_000, 0, 3_000_000, 4_000_000])

    (column,) = columns_of(times_ns, beside)
    (sampled,) = columns_of(times_ns, beside, np.array([5_000_000, 6, 7, 8_000_000]))

    assert (column.name, column.unit, column.damage) == ("gpu", "ms", "damaged")
    assert column.samples.tolist() == [[1, 2], [4, 4]]
    assert column.classes
    assert sampled.samples.tolist() == [[1, 5], [4, 8]]
    assert sampled.classes == ()
    assert columns_of(times_ns, None) == []


def test_that_a_recording_is_compared_by_its_frames_and_calls(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, SCENE.replace("PERIOD", "0.05")))
    session.recorder.start(tmp_path / "a.tlrec")
    pass_seconds(session, 1)
    session.recorder.stop()
    told: list[float] = []

    run = run_of_file(tmp_path / "a.tlrec", on_progress=told.append)
    expected = run_of_session(session, "a.tlrec")(lambda _done: None)
    session.close()

    assert (run.name, run.notes, run.missing) == ("a.tlrec", (), "")
    assert (run.streams, run.stream) == ((), "")
    assert run.times_ns.tolist() == expected.times_ns.tolist()
    assert run.calls.samples.keys() == expected.calls.samples.keys()
    assert told
