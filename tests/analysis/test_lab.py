"""What a display's rate does to timers, to the nanosecond."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.lab_display import (
    DISPLAY_RATES,
    Display,
    recorded_display,
    steady_display,
    variable_display,
)
from inspector.analysis.lab_subjects import SUBJECTS, BeginRun, Steps, Subject
from inspector.analysis.lab_timer import LabTimer
from inspector.analysis.refresh_lab import (
    Divergence,
    LabResult,
    Verdict,
    run_cell,
    run_lab,
)

SECOND = 1_000_000_000
EACH_SECOND = LabTimer(SECOND)


def subject(name: str) -> Subject:
    return next(each for each in SUBJECTS if each.name == name)


def run(
    name: str, display: Display | int, timer: LabTimer = EACH_SECOND, seconds: int = 10
) -> LabResult:
    shown = steady_display(display, seconds * SECOND) if isinstance(display, int) else display
    return run_cell(timer, subject(name), shown)


def fires_at(*instants: int) -> BeginRun:
    def begin(_timer: LabTimer, _display: Display) -> Steps:
        yield
        return list(instants)

    return begin


def test_that_egret_fires_every_quarter_of_a_second_at_240_hertz() -> None:
    result = run("egret", 240)

    assert result.fired_ns == tuple(range(SECOND // 4, 10 * SECOND + 1, SECOND // 4))
    assert (result.count, result.expected_count) == (40, 10)
    assert result.mean_period_ns == 250_000_000
    assert result.speed == 4
    assert result.drift_ns == -30 * SECOND
    assert result.divergence == Divergence(0, SECOND, SECOND // 4)
    assert result.verdict is Verdict.EARLY


@pytest.mark.parametrize(
    ("rate", "count"),
    [(30, 10), (48, 10), (60, 10), (72, 12), (90, 15), (120, 20), (144, 24), (165, 27), (240, 40)],
)
def test_that_egret_by_calls_is_right_up_to_60_hertz_only(rate: int, count: int) -> None:
    result = run("egret", rate)

    assert result.count == count
    assert (result.verdict is Verdict.EXACT) == (rate <= 60)


@pytest.mark.parametrize("rate", DISPLAY_RATES)
@pytest.mark.parametrize("name", ["clock", "scheduler", "scheduler-drop", "egret-elapsed"])
def test_that_ours_are_exact_where_the_display_meets_the_second(name: str, rate: int) -> None:
    result = run(name, rate)

    assert result.fired_ns == tuple(range(SECOND, 10 * SECOND + 1, SECOND))
    assert result.verdict is Verdict.EXACT
    assert result.drift_ns == 0


def test_that_repair_1_is_too_fast_below_60_hertz() -> None:
    result = run("egret-repair-1", 30)

    assert result.mean_period_ns == 500_000_000


def test_that_repair_2_leaves_out_what_the_display_does_not_meet() -> None:
    result = run("egret-repair-2", 144)

    assert result.mean_period_ns == 1_250_000_000
    assert result.verdict is Verdict.LATE


@pytest.mark.parametrize("rate", DISPLAY_RATES)
def test_that_repairs_3_and_4_hold_at_every_steady_rate(rate: int) -> None:
    assert run("egret-repair-3", rate).verdict is Verdict.EXACT
    assert run("egret-repair-4", rate).verdict is Verdict.EXACT


def test_that_dropping_drifts_where_carrying_does_not() -> None:
    # 100 ms are six and a quarter frames of 16 ms: seven, seven, seven …
    display = recorded_display("16 ms", [16_000_000] * 625)
    timer = LabTimer(100_000_000)

    dropped = run("scheduler-drop", display, timer)
    carried = run("scheduler", display, timer)

    assert dropped.fired_ns[:3] == (112_000_000, 224_000_000, 336_000_000)
    assert dropped.drifts_ns[:3] == (12_000_000, 24_000_000, 36_000_000)
    assert dropped.divergence == Divergence(2, 300_000_000, 336_000_000)
    assert carried.fired_ns[:4] == (112_000_000, 208_000_000, 304_000_000, 400_000_000)
    assert carried.verdict is Verdict.ON_TIME
    assert carried.drift_ns == 0


@pytest.mark.parametrize(
    ("name", "mean_period_ns"),
    [
        ("creator-2.4", 112_000_000),
        ("creator-3.8", 112_000_000),
        ("cocos2d-x-3.4", 112_000_000),
        ("cocos2d-x-3.15", 100_000_000),
    ],
)
def test_that_dialects_drop_or_carry_as_the_originals_do(name: str, mean_period_ns: int) -> None:
    display = recorded_display("16 ms", [16_000_000] * 700)

    result = run(name, display, LabTimer(100_000_000))

    assert result.mean_period_ns == pytest.approx(mean_period_ns, rel=0.002)


@pytest.mark.parametrize("each", SUBJECTS, ids=lambda each: each.name)
@pytest.mark.parametrize("count", [1, 3])
def test_that_a_timer_fires_no_more_often_than_asked(each: Subject, count: int) -> None:
    result = run_cell(LabTimer(SECOND, count), each, steady_display(240, 20 * SECOND))

    assert result.count == result.expected_count == count


def test_that_a_clock_is_exact_whatever_the_display_does() -> None:
    display = recorded_display("a stall", [16_000_000, 900_000_000, 16_000_000, 500_000_000])

    result = run("clock", display, LabTimer(100_000_000))

    assert result.verdict is Verdict.EXACT
    assert result.count == 14


def test_that_a_timer_that_never_comes_is_late_from_its_first_firing_on() -> None:
    silent = Subject("silent", "Silent", "Never fires.", fires_at())

    result = run_cell(EACH_SECOND, silent, steady_display(60, 3 * SECOND))

    assert result.divergence == Divergence(0, SECOND, None)
    assert result.verdict is Verdict.LATE
    assert (result.drift_ns, result.mean_period_ns, result.speed) == (None, None, None)


def test_that_a_firing_too_many_is_named() -> None:
    twice = Subject("twice", "Twice", "Fires twice.", fires_at(SECOND, SECOND))

    result = run_cell(LabTimer(SECOND, 1), twice, steady_display(60, 3 * SECOND))

    assert result.divergence == Divergence(1, None, SECOND)
    assert result.divergence.at_ns == SECOND
    assert result.verdict is Verdict.EARLY


def test_that_nothing_is_blamed_where_nothing_is_expected() -> None:
    result = run("scheduler", 60, LabTimer(5 * SECOND), seconds=1)

    assert result.verdict is Verdict.UNEXPECTED


def test_that_steady_displays_meet_the_second_at_any_length() -> None:
    display = steady_display(144, 3_600 * SECOND)

    assert len(display.frames_ns) == 144 * 3_600
    assert display.frames_ns[-1] == 3_600 * SECOND
    assert display.mean_rate == 144


def test_that_rates_may_be_fractions() -> None:
    display = steady_display(Fraction(60_000, 1_001), 1_001 * SECOND)

    assert len(display.frames_ns) == 60_000
    assert display.name == "59.9401 Hz"


def test_that_variable_displays_are_the_same_for_the_same_seed() -> None:
    display = variable_display(10 * SECOND, seed=3)

    assert display == variable_display(10 * SECOND, seed=3)
    assert display != variable_display(10 * SECOND, seed=4)
    frame_times = [b - a for a, b in zip(display.frames_ns, display.frames_ns[1:], strict=False)]
    assert min(frame_times) >= SECOND // 144
    assert max(frame_times) <= SECOND // 48


def test_that_recordings_end_where_they_end_or_earlier() -> None:
    times_ns = [10, 0, 20, 30]

    assert recorded_display("run", times_ns) == Display("run", (10, 30, 60), 60)
    assert recorded_display("run", times_ns, 40) == Display("run", (10, 30), 40)
    assert recorded_display("run", times_ns, 90).end_ns == 60
    assert recorded_display("run", []).mean_rate == 60


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: steady_display(0, SECOND), "within 1 and 1000"),
        (lambda: steady_display(240, 7_200 * SECOND), "too many"),
        (lambda: variable_display(9_000 * SECOND), "too many"),
        (lambda: LabTimer(0), "above 0"),
        (lambda: LabTimer(1, 0), "at least once"),
    ],
)
def test_that_what_makes_no_sense_is_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=message):
        make()


def test_that_results_come_by_timer_display_and_subject() -> None:
    timers = [EACH_SECOND, LabTimer(SECOND // 2)]
    displays = [steady_display(60, SECOND), steady_display(120, SECOND)]

    results = list(run_lab(iter(timers), iter(SUBJECTS[:2]), iter(displays)))

    assert [(each.timer, each.display, each.subject) for each in results] == [
        (timer, display, each) for timer in timers for display in displays for each in SUBJECTS[:2]
    ]


@given(
    frame_times=st.lists(st.integers(1, 50_000_000), max_size=60),
    interval=st.integers(1_000_000, 200_000_000),
)
def test_that_ours_fires_in_the_first_frame_at_or_after_each_due_instant(
    frame_times: list[int], interval: int
) -> None:
    display = recorded_display("any", frame_times)
    timer = LabTimer(interval)

    result = run("scheduler", display, timer)

    due_ns = timer.expected_ns(display.end_ns)
    assert result.fired_ns == tuple(display.frames_ns[display.frame_of(at)] for at in due_ns)
    assert result.divergence is None
