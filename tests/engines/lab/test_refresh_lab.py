"""What a display's rate does to timers, to the nanosecond."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.engines.lab.display import (
    DISPLAY_RATES,
    Display,
    display_named,
    recorded_display,
    steady_display,
    variable_display,
)
from inspector.engines.lab.refresh_lab import (
    Divergence,
    LabResult,
    LabVerdict,
    run_cell,
    run_lab,
    summary_text,
)
from inspector.engines.lab.subjects import (
    SUBJECTS,
    BeginRun,
    Steps,
    Subject,
    subjects_named,
)
from inspector.engines.lab.timer import LabTimer

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
    assert result.verdict is LabVerdict.EARLY


@pytest.mark.parametrize(
    ("rate", "count"),
    [(30, 10), (48, 10), (60, 10), (72, 12), (90, 15), (120, 20), (144, 24), (165, 27), (240, 40)],
)
def test_that_egret_by_calls_is_right_up_to_60_hertz_only(rate: int, count: int) -> None:
    result = run("egret", rate)

    assert result.count == count
    assert (result.verdict is LabVerdict.EXACT) == (rate <= 60)


@pytest.mark.parametrize("rate", DISPLAY_RATES)
@pytest.mark.parametrize("name", ["clock", "scheduler", "scheduler-drop", "egret-elapsed"])
def test_that_ours_are_exact_where_the_display_meets_the_second(name: str, rate: int) -> None:
    result = run(name, rate)

    assert result.fired_ns == tuple(range(SECOND, 10 * SECOND + 1, SECOND))
    assert result.verdict is LabVerdict.EXACT
    assert result.drift_ns == 0


def test_that_repair_1_is_too_fast_below_60_hertz() -> None:
    result = run("egret-repair-1", 30)

    assert result.mean_period_ns == 500_000_000


@pytest.mark.parametrize("rate", [72, 75, 90, 100, 144])
def test_that_repair_2_as_published_stops_for_good(rate: int) -> None:
    result = run("egret-repair-2", rate)

    assert result.fired_ns == ()
    assert result.verdict is LabVerdict.LATE


def test_that_repair_2_as_described_leaves_out_what_the_display_does_not_meet() -> None:
    result = run("egret-repair-2-described", 144)

    assert result.mean_period_ns == 1_250_000_000
    assert result.verdict is LabVerdict.LATE


@pytest.mark.parametrize("name", ["egret-repair-2", "egret-repair-2-described"])
def test_that_firings_refused_by_repair_2_use_up_the_count_of_the_timer(name: str) -> None:
    four_times = LabTimer(SECOND, 4)

    assert run(name, 240, four_times).fired_ns == (SECOND,)
    assert run(name, 120, four_times).fired_ns == (SECOND, 2 * SECOND)


def test_that_a_measured_factor_costs_repair_1_a_frame_at_60_hertz() -> None:
    display = steady_display(60, 10 * SECOND)

    result = run("egret-repair-1-measured", display)

    assert [display.frame_of(at_ns) + 1 for at_ns in result.fired_ns[:3]] == [61, 122, 183]


def test_that_a_factor_measured_at_30_frames_a_second_is_that_of_the_program() -> None:
    assert run("egret-repair-1-measured-30", 240).speed == pytest.approx(2, abs=0.02)


def test_that_repair_3_is_held_to_four_milliseconds_and_whole_ones() -> None:
    result = run("egret-repair-3", 60, LabTimer(1_500_000), seconds=1)

    assert result.fired_ns[4:8] == (5_000_000, 6_000_000, 10_000_000, 14_000_000)


def test_that_everything_that_is_wrong_under_a_display_says_what_its_fault_is() -> None:
    displays = [steady_display(rate, 10 * SECOND) for rate in (30, 72, 144, 240)]
    displays += [variable_display(10 * SECOND)]

    wrong = {
        result.subject
        for result in run_lab([EACH_SECOND], SUBJECTS, displays)
        if not result.verdict.is_right
    }

    assert len(wrong) > 10
    assert [each.name for each in wrong if not each.fault] == []


@pytest.mark.parametrize("rate", DISPLAY_RATES)
def test_that_repairs_3_and_4_hold_at_every_steady_rate(rate: int) -> None:
    assert run("egret-repair-3", rate).verdict is LabVerdict.EXACT
    assert run("egret-repair-4", rate).verdict is LabVerdict.EXACT


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
    assert carried.verdict is LabVerdict.ON_TIME
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
    result = run_cell(LabTimer(SECOND, count), each, steady_display(240, 5 * SECOND))

    assert result.expected_count == count
    # Firings that the second repair refuses count as well.
    assert result.count == (0 if each.name.startswith("egret-repair-2") else count)


def test_that_a_clock_is_exact_whatever_the_display_does() -> None:
    display = recorded_display("a stall", [16_000_000, 900_000_000, 16_000_000, 500_000_000])

    result = run("clock", display, LabTimer(100_000_000))

    assert result.verdict is LabVerdict.EXACT
    assert result.count == 14


def test_that_a_timer_that_never_comes_is_late_from_its_first_firing_on() -> None:
    silent = Subject("silent", "Silent", "Never fires.", fires_at())

    result = run_cell(EACH_SECOND, silent, steady_display(60, 3 * SECOND))

    assert result.divergence == Divergence(0, SECOND, None)
    assert result.verdict is LabVerdict.LATE
    assert (result.drift_ns, result.mean_period_ns, result.speed) == (None, None, None)


def test_that_a_firing_too_many_is_named() -> None:
    twice = Subject("twice", "Twice", "Fires twice.", fires_at(SECOND, SECOND))

    result = run_cell(LabTimer(SECOND, 1), twice, steady_display(60, 3 * SECOND))

    assert result.divergence == Divergence(1, None, SECOND)
    assert result.divergence.at_ns == SECOND
    assert result.verdict is LabVerdict.EARLY


def test_that_nothing_is_blamed_where_nothing_is_expected() -> None:
    result = run("scheduler", 60, LabTimer(5 * SECOND), seconds=1)

    assert result.verdict is LabVerdict.UNEXPECTED


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
        (lambda: steady_display(0, SECOND), "between 1 and 1000"),
        (lambda: steady_display(240, 7_200 * SECOND), "too many"),
        (lambda: variable_display(9_000 * SECOND), "too many"),
        (lambda: LabTimer(0), "at least a nanosecond"),
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


def test_that_results_are_summed_up_in_a_sentence() -> None:
    right, wrong = run("clock", 240), run("egret", 240)

    assert summary_text([right]) == (
        "Right in 1 run: every firing is within a frame of its expected instant."
    )
    assert summary_text([right, wrong]) == "Wrong in 1 of 2 runs: 1 too early."
    assert "longer duration" in summary_text([run("clock", 60, LabTimer(90 * SECOND))])


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("60", "60 Hz", 600),
        (" 144 Hz ", "144 Hz", 1_440),
        ("59.94", "59.94 Hz", 599),
        ("60000/1001", "59.9401 Hz", 599),
        ("Variable", "variable", len(variable_display(10 * SECOND).frames_ns)),
        ("variable:7", "variable:7", len(variable_display(10 * SECOND, 7).frames_ns)),
    ],
)
def test_that_a_display_is_read_as_people_write_it(text: str, name: str, count: int) -> None:
    display = display_named(text, 10 * SECOND)

    assert (display.name, len(display.frames_ns)) == (name, count)


@pytest.mark.parametrize("text", ["", "fast", "0", "-60", "1e400", "1/0", "nan", "variable:x"])
def test_that_what_is_no_display_is_refused_briefly(text: str) -> None:
    with pytest.raises(ValueError, match=r"display|Hz|seed") as caught:
        display_named(text, SECOND)

    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("each", SUBJECTS, ids=lambda each: each.name)
def test_that_a_delay_comes_before_the_first_firing(each: Subject) -> None:
    timer = LabTimer(SECOND, 3, delay_ns=SECOND // 2)

    result = run_cell(timer, each, steady_display(60, 10 * SECOND))

    assert result.expected_ns == (SECOND // 2, 3 * SECOND // 2, 5 * SECOND // 2)
    assert result.count == 3
    assert abs(result.fired_ns[0] - SECOND // 2) <= SECOND // 60 + 1


def test_that_loops_burst_shift_or_skip_after_a_stall() -> None:
    # Frames of 10 ms but for a stall from 100 to 350 ms; ticks every 100 ms.
    display = recorded_display("a stall", [10_000_000] * 10 + [250_000_000] + [10_000_000] * 25)
    timer = LabTimer(100_000_000)

    fired_ms = {
        name: [at_ns // 1_000_000 for at_ns in run(name, display, timer).fired_ns]
        for name in ("loop-burst", "loop-shift", "loop-skip", "clock-frames")
    }

    assert fired_ms == {
        "loop-burst": [100, 350, 350, 400, 500, 600],
        "loop-shift": [100, 350, 350, 450, 550],
        "loop-skip": [100, 350, 400, 500, 600],
        "clock-frames": [100, 350, 350, 400, 500, 600],
    }


def test_that_a_pacer_in_front_leaves_refreshes_out() -> None:
    plain = run("creator-3.8", 240, LabTimer(100_000_000))
    paced = run("creator-3.8-paced", 240, LabTimer(100_000_000))

    assert paced.fired_ns != plain.fired_ns
    assert paced.verdict is LabVerdict.LATE


def test_that_a_run_goes_on_in_small_steps() -> None:
    for each in SUBJECTS:
        steps = list(each.begin(EACH_SECOND, steady_display(240, 2 * SECOND)))
        assert len(steps) >= 1
    assert len(list(subject("egret").begin(EACH_SECOND, steady_display(240, 8 * SECOND)))) == 60


def test_that_subjects_are_found_by_name_family_or_all() -> None:
    assert [each.name for each in subjects_named(["egret-repair-2", "clock"])] == [
        "clock",
        "egret-repair-2",
    ]
    assert len(subjects_named(["egret*"])) == 11
    assert subjects_named(["all"]) == tuple(SUBJECTS)
    with pytest.raises(ValueError, match="no subject “unity”"):
        subjects_named(["unity"])


def test_that_a_timer_that_would_fire_too_often_is_refused_before_it_runs() -> None:
    with pytest.raises(ValueError, match="10,000,000 times"):
        run_cell(LabTimer(1_000), subject("clock"), steady_display(60, 10 * SECOND))
