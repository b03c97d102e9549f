import ast
import gc
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

import inspector.clocks.tree
from inspector.events.log import EventLog
from tests.benchmarks import (
    bench_branches,
    bench_exactness,
    bench_frames,
    bench_playhead,
    bench_queue,
)
from tests.benchmarks.__main__ import FOLDER, benchmarks_of, main, module_names, run_benchmark
from tests.benchmarks.bench_exactness import jittered_frames
from tests.benchmarks.bench_frames import without_recording
from tests.benchmarks.measuring import Case, Effort, Work, measure, powers_of_ten
from tests.benchmarks.peers import PEERS, Peer
from tests.benchmarks.redistributing import ChildClock, SystemClock
from tests.benchmarks.report import (
    Row,
    Verdict,
    absent_row,
    calls_row,
    format_number,
    markdown_table,
    ratio_row,
    rows_from_json,
    summary,
    text_table,
    to_json,
    write_reports,
)
from tests.benchmarks.schedulers import (
    FRAME_NS,
    CancellingScheduler,
    ClockTreeScheduler,
    Scheduler,
)

ROWS = [
    Row("idle_frame/1e5", 412.4, 1_000, unit="ns", detail="one frame"),
    ratio_row("oneshot_drain/1e4 to asyncio", 1.954, 2.2),
    Row("exact_interval/Kivy", 7.67, unit="%"),
    absent_row("steady_sparse/Panda3D", "Panda3D"),
]


# ---------------------------------------------------------------------- report


def test_that_an_upper_limit_holds_when_it_is_just_reached() -> None:
    assert Row("a", 5, 5).verdict is Verdict.HOLDS
    assert Row("a", 5.01, 5).verdict is Verdict.FALLS_SHORT


def test_that_a_lower_limit_holds_when_it_is_just_reached() -> None:
    assert Row("a", 5, 5, at_most=False).verdict is Verdict.HOLDS
    assert Row("a", 4.99, 5, at_most=False).verdict is Verdict.FALLS_SHORT


def test_that_what_no_peer_has_is_held_against_calls_of_an_empty_function() -> None:
    row = calls_row("append", 60.0, 20.0, 4, "one event")

    assert (row.measured, row.goal, row.verdict) == (3.0, 4, Verdict.HOLDS)
    assert row.detail == "one event: 60 ns, an empty call 20 ns"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("bench_*.py")), ids=lambda path: path.stem)
def test_that_no_goal_is_a_time_or_a_size(path: Path) -> None:
    judged = [
        call
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Row"
    ]

    for call in judged:
        units = [ast.unparse(each.value) for each in call.keywords if each.arg == "unit"]
        for goal in map(ast.unparse, call.args[2:3]):
            is_exact = goal == "0" or goal.startswith("FRAME_MS")
            assert is_exact or units in ([], ["'x'"], ["'%'"]), ast.unparse(call)


def test_that_not_a_number_reaches_no_goal() -> None:
    assert Row("a", float("nan"), 5).verdict is Verdict.FALLS_SHORT
    assert Row("a", float("nan"), 5, at_most=False).verdict is Verdict.FALLS_SHORT


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (1.954, "x", "1.95x"),
        (412.4, "ns", "412 ns"),
        (26.25, "us", "26.2 us"),
        (28_000, "x", "28,000x"),
        (0, "", "0"),
        (None, "ns", "–"),
        (float("inf"), "x", "inf"),
    ],
)
def test_that_numbers_have_three_digits(number: float | None, unit: str, text: str) -> None:
    assert format_number(number, unit) == text


def test_that_the_text_table_aligns_its_columns() -> None:
    assert text_table(ROWS).splitlines() == [
        "benchmark                     measured        goal               detail",
        "idle_frame/1e5                  412 ns  ≤ 1,000 ns  holds        one frame",
        "oneshot_drain/1e4 to asyncio     1.95x     ≥ 2.20x  FALLS SHORT",
        "exact_interval/Kivy             7.67 %",
        "steady_sparse/Panda3D                –              absent       Panda3D is not installed",
    ]


def test_that_the_markdown_table_shows_in_bold_what_falls_short() -> None:
    table = markdown_table(ROWS).splitlines()

    assert table[1] == "| --- | ---: | ---: | --- | --- |"
    assert "| oneshot_drain/1e4 to asyncio | 1.95x | ≥ 2.20x | **falls short** |  |" in table


def test_that_the_summary_names_what_falls_short_and_what_is_absent() -> None:
    assert summary(ROWS).splitlines() == [
        "1 of 2 goals hold.",
        "Falls short: oneshot_drain/1e4 to asyncio is 1.95x, goal ≥ 2.20x.",
        "Not measured: steady_sparse/Panda3D, Panda3D is not installed.",
    ]


def test_that_rows_come_back_from_json() -> None:
    assert rows_from_json(to_json(ROWS, {"Python": "3.11"})) == ROWS


def test_that_the_reports_are_written_in_all_forms(tmp_path: Path) -> None:
    written = write_reports(ROWS, {"Python": "3.11"}, tmp_path / "new folder")

    assert [path.name for path in written] == ["results.txt", "results.md", "results.json"]
    assert all("idle_frame/1e5" in path.read_text(encoding="utf-8") for path in written)
    assert json.loads(written[2].read_text(encoding="utf-8"))["about"] == {"Python": "3.11"}


# ------------------------------------------------------------------- measuring


@pytest.fixture(autouse=True)
def _no_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for no garbage of other tests before each measurement: 60 ms."""
    monkeypatch.setattr(gc, "collect", lambda: 0)


class FakeStopwatch:
    """Shows what the works have added to it."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns

    def case(self, name: str, *took_ns: int, operations: int = 1) -> Case:
        """Make a case that takes these times, one after the other."""
        times = iter(took_ns)

        @contextmanager
        def prepare() -> Iterator[Work]:
            self.now_ns += 1_000_000

            def work() -> None:
                self.now_ns += next(times)

            yield work
            self.now_ns += 1_000_000

        return Case(name, prepare, operations)


def test_that_preparing_and_closing_are_not_timed() -> None:
    stopwatch = FakeStopwatch()

    measured = measure([stopwatch.case("a", 600, operations=3)], 1, stopwatch=stopwatch)

    assert measured.per_operation_ns == {"a": [200.0]}


def test_that_a_ratio_is_the_median_of_the_ratios_of_pairs() -> None:
    stopwatch = FakeStopwatch()
    cases = [stopwatch.case("ours", 10, 100, 10), stopwatch.case("theirs", 30, 200, 50)]

    measured = measure(cases, 3, stopwatch=stopwatch)

    # The ratio of the medians would be 5.
    assert measured.ratio("theirs", "ours") == 3.0
    assert measured.difference_ns("theirs", "ours") == 40.0
    assert measured.median_ns("theirs") == 50.0


def test_that_cases_take_turns_in_changing_order() -> None:
    done: list[str] = []

    def case(name: str) -> Case:
        @contextmanager
        def prepare() -> Iterator[Work]:
            yield lambda: done.append(name)

        return Case(name, prepare)

    measure([case(name) for name in "abc"], 8)

    rounds = [tuple(done[start : start + 3]) for start in range(0, 24, 3)]
    assert all(sorted(names) == ["a", "b", "c"] for names in rounds)
    assert len(set(rounds)) > 1


def test_that_a_quick_run_leaves_out_the_large_sizes() -> None:
    assert Effort(is_quick=True).sizes(100, 10_000, 100_000) == [100, 10_000]
    assert Effort().sizes(100, 10_000, 100_000) == [100, 10_000, 100_000]


@pytest.mark.parametrize(("size", "text"), [(100, "1e2"), (1_000_000, "1e6"), (250, "250")])
def test_that_sizes_are_written_as_powers_of_ten(size: int, text: str) -> None:
    assert powers_of_ten(size) == text


# ------------------------------------------------------------------ schedulers


def _makers() -> Sequence[object]:
    ours = [
        pytest.param(ClockTreeScheduler, id="ours"),
        pytest.param(lambda: ClockTreeScheduler(depth=3), id="ours 3 deep"),
        pytest.param(lambda: ClockTreeScheduler(is_late=True), id="ours woken late"),
    ]
    return ours + [pytest.param(_maker(peer), id=peer.name) for peer in PEERS]


def _maker(peer: Peer) -> Callable[[], Scheduler]:
    def make() -> Scheduler:
        if not peer.is_installed:
            pytest.skip(f"{peer.name} is not installed")
        return peer.make()

    return make


@pytest.fixture(params=_makers())
def scheduler(request: pytest.FixtureRequest) -> Iterator[Scheduler]:
    made: Scheduler = request.param()
    yield made
    made.close()


@pytest.mark.filterwarnings("default")
def test_that_every_one_shot_is_called_once_and_not_before_its_frame(
    scheduler: Scheduler,
) -> None:
    # Middle of frames, where no rounding of seconds and no early Kivy matters.
    scheduler.once([frame * FRAME_NS + FRAME_NS // 2 for frame in range(10)])()

    scheduler.frames([FRAME_NS] * 5)()
    halfway = scheduler.fired()
    scheduler.frames([FRAME_NS] * 9)()

    # Panda3D calls one frame later.
    assert halfway in {4, 5}
    assert scheduler.fired() == 10


@pytest.mark.filterwarnings("default")
def test_that_a_repeating_timer_of_two_frames_is_called_every_second_frame(
    scheduler: Scheduler,
) -> None:
    scheduler.repeat([2 * FRAME_NS - 1_000])()

    scheduler.frames([FRAME_NS] * 40)()

    # Panda3D needs a third frame each time.
    assert scheduler.fired() in {13, 20}


@pytest.mark.filterwarnings("default")
def test_that_what_was_cancelled_is_not_called(scheduler: Scheduler) -> None:
    if not isinstance(scheduler, CancellingScheduler):
        pytest.skip("cannot cancel")
    scheduler.once([FRAME_NS // 2])()
    scheduler.churn([FRAME_NS // 2] * 20)()

    scheduler.frames([FRAME_NS] * 4)()

    assert scheduler.fired() == 1


def test_that_time_goes_on_where_the_last_frames_ended(scheduler: Scheduler) -> None:
    first, second = scheduler.frames([FRAME_NS] * 2), scheduler.frames([FRAME_NS] * 4)
    scheduler.once([3 * FRAME_NS + FRAME_NS // 2])()

    first()
    before = scheduler.fired()
    second()

    assert (before, scheduler.fired()) == (0, 1)


def test_that_a_peer_that_is_not_installed_says_so() -> None:
    assert not Peer("nobody", "a_package_that_nobody_has", ClockTreeScheduler).is_installed


def test_that_pausing_ours_and_the_redistributing_one_delays_both_alike() -> None:
    ours = ClockTreeScheduler()
    theirs = PEERS[-1].make()
    fired = []
    for one in (ours, theirs):
        one.once([3 * FRAME_NS + 1])()
        one.pause_and_resume()()  # type: ignore[attr-defined]
        one.frames([FRAME_NS] * 2)()
        before = one.fired()
        one.frames([FRAME_NS])()
        fired.append((before, one.fired()))

    assert fired == [(0, 1), (0, 1)]


# -------------------------------------------------------------- redistributing


def test_that_the_redistributing_clock_stands_still_while_paused() -> None:
    system = SystemClock()
    clock = ChildClock(system)
    system.advance_ns(10)
    clock.pause()
    system.advance_ns(5)
    paused_ns = clock.time_ns()
    clock.resume()
    system.advance_ns(2)

    assert (paused_ns, clock.time_ns()) == (10, 12)


def test_that_a_resumed_redistributing_clock_registers_its_tasks_again() -> None:
    system = SystemClock()
    inner = ChildClock(ChildClock(system))
    called: list[int] = []
    inner.set_timeout_ns(10, lambda: called.append(system.time_ns()))
    system.advance_ns(4)
    inner.pause()
    system.advance_ns(100)
    inner.resume()
    system.advance_ns(100)

    assert called == [110]
    assert not inner.tasks


def test_that_a_cleared_task_of_a_redistributing_clock_is_not_called() -> None:
    system = SystemClock()
    clock = ChildClock(system)
    called: list[str] = []
    kept = clock.set_timeout_ns(5, lambda: called.append("kept"))
    cleared = clock.set_timeout_ns(5, lambda: called.append("cleared"))
    clock.clear_timeout(cleared)
    clock.clear_timeout(cleared)
    system.advance_ns(5)
    clock.clear_timeout(kept)

    assert called == ["kept"]


# ------------------------------------------------------------------ benchmarks


def test_that_jittered_frames_fill_the_time_exactly() -> None:
    frames = jittered_frames(60 * 10**9)

    assert sum(frames) == 60 * 10**9
    assert max(frames) == 120_000_000
    assert min(frames[:-1]) >= 10_000_000


def test_that_the_tree_without_recording_calls_the_same_and_records_nothing() -> None:
    stripped = without_recording(inspector.clocks.tree)
    log = EventLog()
    scheduler = ClockTreeScheduler(sink=log, make_tree=stripped.ClockTree)
    scheduler.repeat([FRAME_NS])()
    made = log.end

    scheduler.frames([FRAME_NS] * 10)()

    assert scheduler.fired() == 10
    assert log.end == made


def test_that_recording_code_is_found_by_its_test() -> None:
    test = ast.parse("if self.record is not None: pass").body[0]

    assert isinstance(test, ast.If)
    assert bench_frames._asks_for_record(test.test)


@pytest.mark.parametrize(
    "module", [bench_branches, bench_exactness, bench_frames, bench_queue], ids=lambda m: m.__name__
)
def test_that_every_file_of_benchmarks_is_found(module: object) -> None:
    name = module.__name__.rpartition(".")[2]  # type: ignore[attr-defined]

    assert name in module_names()
    assert list(benchmarks_of(name).values()) == list(module.BENCHMARKS)  # type: ignore[attr-defined]


def test_that_a_benchmark_is_given_the_effort_only_if_it_asks() -> None:
    def with_effort(effort: Effort) -> Iterator[Row]:
        yield Row("quick", float(effort.is_quick))

    def without() -> list[Row]:
        return [Row("plain", 1)]

    assert run_benchmark(with_effort, Effort(is_quick=True)) == [Row("quick", 1.0)]
    assert run_benchmark(without, Effort()) == [Row("plain", 1)]


def test_that_an_unknown_benchmark_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no_such_benchmark"]) == 2
    assert "no benchmark is called no_such_benchmark" in capsys.readouterr().err


def test_that_no_widget_gets_another_style_while_a_drag_is_measured(qtbot: QtBot) -> None:
    changes: list[QEvent.Type] = []

    class Watched(QWidget):
        def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
            changes.append(event.type())

    watched = Watched()
    qtbot.addWidget(watched)
    watched.show()

    costs_ms = bench_playhead._costs_ms(lambda _move: None, range(3))

    assert len(costs_ms) == 3
    assert QEvent.Type.StyleChange not in changes
