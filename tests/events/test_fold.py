"""Folding the log gives exactly the state the engine has."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from inspector.clocks import Clock
from inspector.clocks.rate import D
from inspector.clocks.tree import ClockTree
from inspector.events import EventLog, Timeline
from inspector.events.frame_history import NO_PHASES, Frame
from inspector.events.log import BYTES_PER_EVENT
from inspector.events.members import MemberState, MemberTable
from inspector.events.states import ClockState, CommandRecord, Failure, Held
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_MOVED,
    CLOCK_PAUSED,
    CLOCK_RESUMED,
    COMMAND,
    COMMAND_CONTEXT,
    COMMAND_FORM,
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    FRAME_SHARES,
    MARK,
    NEVER,
    PHASE_ENDED,
    SCENE,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    TRANSPORT,
    Mode,
    Phase,
)
from tests.clocks.operations import operation_lists
from tests.clocks.pair import Operation, Pair


def _assert_same_state(timeline: Timeline, pair: Pair) -> None:
    timeline.set_present(pair.tree.now_ns)
    assert timeline.at_ns == pair.tree.now_ns
    clocks: dict[int, Clock] = {clock.id: clock for clock in pair.tree.root.walk()}
    assert set(timeline.clocks) == set(clocks)
    assert timeline.branch(1) == list(clocks)
    timeline.resolve_dues()
    for number, clock in clocks.items():
        state = timeline.clocks[number]
        assert timeline.local_ns(number) == clock.time_ns
        assert state.rate == clock.rate
        assert state.paused == clock.is_paused
        assert timeline.effective_rate(number) == clock.effective_rate
        assert [reason.clock_id for reason in timeline.pause_reasons(number)] == [
            reason.clock.id for reason in clock.pause_reasons()
        ]
        assert [reason.since_ns for reason in timeline.pause_reasons(number)] == [
            reason.since_ns for reason in clock.pause_reasons()
        ]
        assert [reason.is_own for reason in timeline.pause_reasons(number)] == [
            reason.clock is clock for reason in clock.pause_reasons()
        ]
        assert [reason.is_rate_zero for reason in timeline.pause_reasons(number)] == [
            not reason.clock.is_paused for reason in clock.pause_reasons()
        ]
        pending = clock.pending()
        assert state.pending == len(pending)
        for timer in pending:
            row = timeline.timers.row(timer.id)
            assert (row.clock_id, row.due_ns) == (number, timer.due_ns)
            assert (row.interval_ns, row.fired) == (timer.interval_ns, timer.fired)
            assert row.label == timer.label
            expected = None if clock.is_effectively_paused else clock.session_ns(timer.due_ns)
            assert timeline.session_due_ns(timer.id) == expected
            in_table = timeline.timers.session_due[timeline.timers.index(timer.id)]
            assert in_table == (NEVER if expected is None else expected)
    assert len(timeline.timers) == sum(clock.pending_count for clock in clocks.values())


@settings(max_examples=max(25, settings().max_examples))
@given(operation_lists)
def test_that_folding_the_log_gives_the_state_of_the_engine(operations: list[Operation]) -> None:
    log = EventLog()
    pair = Pair(log)
    timeline = Timeline(log.strings)
    cursor = 0

    for operation in operations:
        pair.perform(operation)
        batch = log.read(cursor)
        cursor = batch.cursor
        timeline.apply_all(batch.events)
        _assert_same_state(timeline, pair)


@given(operation_lists, st.integers(1, 40))
def test_that_what_falls_off_the_log_is_kept_in_its_base(
    operations: list[Operation], kept: int
) -> None:
    log = EventLog(budget_bytes=kept * BYTES_PER_EVENT)
    pair = Pair(log)

    for operation in operations:
        pair.perform(operation)
        log.settle()

    timeline = log.base.copy()
    timeline.apply_all(log.read(log.first).events)
    _assert_same_state(timeline, pair)


def test_that_moving_a_clock_where_none_is_changes_nothing() -> None:
    timeline = Timeline(["", "root", "game"])
    timeline.apply_all([(0, CLOCK_ADDED, 1, 0, 1), (0, CLOCK_ADDED, 2, 1, 2)])
    before = timeline.copy()
    for nowhere in (0, 77):
        with pytest.raises((KeyError, ValueError)):
            timeline.apply_all([(5, CLOCK_MOVED, 2, nowhere, 0)])
    assert timeline.clocks == before.clocks


def test_that_nothing_is_known_before_the_first_event() -> None:
    timeline = Timeline([""])

    for what in (timeline, timeline.copy(), timeline.only_clocks()):
        assert (what.at_ns, what.newest_ns, what.events_folded, what.misfits) == (0, 0, 0, 0)
        assert (what.structure_version, what.mapping_version, what.timers_version) == (0, 0, 0)
        assert (what.scene_path, what.scene_generation, what.root_id) == ("", 0, None)
        assert (what.frames_of, what.lasts_since_ns, what.is_running) == (0, None, False)
        assert not any(what.open_frame)
        assert not what.skips_misfits


def test_that_time_passes_without_events_but_never_goes_back() -> None:
    timeline = Timeline([""])
    assert timeline.apply_all([(5, MARK, 0, 0, 0), (7, MARK, 0, 0, 0)]) == 2

    for present_ns, at_ns in ((9, 9), (8, 9), (10, 10)):
        timeline.set_present(present_ns)
        assert timeline.apply_all([]) == 0
        assert (timeline.at_ns, timeline.newest_ns) == (at_ns, 7)
    timeline.apply_all([(11, MARK, 0, 0, 0)])
    assert (timeline.newest_ns, timeline.events_folded) == (11, 3)


@pytest.mark.parametrize("number", [0, -1, 1])
def test_that_a_clock_that_exists_or_has_no_number_cannot_be_added(number: int) -> None:
    timeline = Timeline(["", "root"])
    timeline.apply_all([(0, CLOCK_ADDED, 1, 0, 1)])

    with pytest.raises(ValueError, match=f"clock {number} cannot be added"):
        timeline.apply_all([(0, CLOCK_ADDED, number, 1, 1)])


def test_that_a_frame_has_what_was_told_of_it_alone() -> None:
    timeline = Timeline([""])
    lasts_since_ns = [timeline.lasts_since_ns]
    timeline.apply_all(
        [
            (5, FRAME_BEGAN, 1, 0, 16),
            (5, DELTA_CUT, 1, 3, 0),
            (6, PHASE_ENDED, Phase.UPDATE, 0, 4),
            (7, PHASE_ENDED, Phase.UPDATE, 0, 5),
            (8, FRAME_SHARES, 1 << 32 | 2, 3 << 32 | 4, 5_000),
        ]
    )
    for event in (
        (9, FRAME_ENDED, 1, 20, 4),
        (30, FRAME_BEGAN, 1, 1, 17),
        (31, FRAME_ENDED, 1, 25, 1),
    ):
        lasts_since_ns.append(timeline.lasts_since_ns)
        timeline.apply_all([event])

    assert [*lasts_since_ns, timeline.lasts_since_ns] == [None, 5, None, 30, None]
    phases = [0] * len(Phase)
    phases[Phase.UPDATE] = 9
    shares = (1_000, 2_000, 3_000, 4_000, 5_000)
    assert timeline.frames.frame(0) == Frame(0, 5, 20, 16, 4, 3, tuple(phases), shares)
    assert timeline.frames.frame(1) == Frame(1, 30, 25, 17, 1, 0, NO_PHASES)


def test_that_what_happens_within_a_frame_is_of_that_frame() -> None:
    timeline = Timeline([""])
    for at_ns in (10, 20):
        timeline.frames.append(at_ns, 10, 10, 3, 0, NO_PHASES)
    instants = (9, 10, 12, 13, 19, 20, 22, 23)
    timeline.commands = [CommandRecord(at_ns, 1, "", "", frame=7) for at_ns in instants]
    for at_ns in instants:
        timeline.failures.append(Failure(at_ns, 7, "", "", 0))

    timeline.number_frames()

    frames = [0, 0, 0, 1, 1, 1, 1, 2]
    assert [command.frame for command in timeline.commands] == frames
    assert [failure.frame for failure in timeline.failures] == frames


def test_that_a_command_has_its_details_and_no_other_has() -> None:
    timeline = Timeline(["", "root", "pause", "no", "script", "{}"])
    alone = [(0, COMMAND_CONTEXT, 0, 5, 4), (0, COMMAND_FORM, 1, 5, 0)]
    timeline.apply_all([*alone, (1, CLOCK_ADDED, 1, 0, 1), (1, CLOCK_ANCHORED, 1, 0, D // 2)])
    assert timeline.commands == []

    for number, about in ((1, 1), (2, 0), (3, 99)):
        timeline.apply_all(
            [
                (8, COMMAND, number, 2, 3),
                (8, COMMAND_CONTEXT, about, 5, 4),
                (8, COMMAND_FORM, number, 5, 0),
                (8, COMMAND_FORM, number + 1, 2, 0),
                (8, COMMAND_FORM, 0, 2, 0),
            ]
        )

    assert [structs.astuple(command) for command in timeline.commands] == [
        (8, 1, "pause", "no", 1, 4, 5, "script", 0, "{}"),
        (8, 2, "pause", "no", 0, 4, 5, "script", 0, "{}"),
        (8, 3, "pause", "no", 99, 8, 5, "script", 0, "{}"),
    ]


def test_that_it_is_noted_when_running_time_was_held() -> None:
    timeline = Timeline(["", "scene.py"])
    kinds = [timeline.is_of_programs]
    modes = (Mode.HELD, Mode.RUNNING, Mode.RUNNING, Mode.HELD, Mode.HELD, Mode.RUNNING)

    running = []
    for at_ns, mode in enumerate(modes):
        timeline.apply_all([(at_ns, TRANSPORT, mode, 0, 0)])
        running.append(timeline.is_running)

    assert running == [False, True, True, False, False, True]
    assert timeline.holds == [Held(3)]
    timeline.apply_all([(9, SCENE, 2, 1, 0)])
    assert (timeline.scene_path, timeline.scene_generation) == ("scene.py", 2)
    kinds.append(timeline.is_of_programs)
    assert kinds == [True, False]


def test_that_events_that_do_not_fit_are_counted_or_refused() -> None:
    timeline = Timeline(["", "root"])
    events = [(0, CLOCK_ADDED, 1, 0, 1), (1, CLOCK_ADDED, 1, 0, 1), (2, CLOCK_MOVED, 9, 1, 0)]
    with pytest.raises(ValueError, match="clock 1 cannot be added"):
        timeline.copy().apply_all(events)

    timeline.skips_misfits = True
    timeline.apply_all(events)

    assert (timeline.misfits, timeline.events_folded, timeline.at_ns) == (2, 3, 2)
    assert timeline.only_clocks().skips_misfits
    assert timeline.only_clocks().root_id == 1


def test_that_kinds_that_are_left_out_are_passed_over_also_where_there_are_many() -> None:
    log = EventLog()
    tree = ClockTree(log)
    for _ in range(50):
        tree.root.set_timeout(1, lambda: None)
    log.append((3, MARK, 0, 0, 0))
    timeline = Timeline(log.strings)

    timeline.leave_out(frozenset({TIMER_ADDED, TIMER_ARMED, TIMER_ORIGIN}))
    timeline.apply_blocks(log.blocks(0, log.end))

    assert (len(timeline.timers), len(timeline.marks)) == (0, 1)
    assert timeline.events_folded == log.end


class CountedClocks(dict[int, ClockState]):
    looked_up = 0

    def __getitem__(self, number: int) -> ClockState:
        self.looked_up += 1
        return super().__getitem__(number)


def test_that_a_pause_below_paused_clocks_looks_at_none_above_the_nearest() -> None:
    log = EventLog()
    deepest = (tree := ClockTree(log)).root
    for _ in range(300):
        deepest = deepest.child("below")
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read().events)
    read = log.end
    tree.run_to(1_000)
    for clock in tree.root.walk():
        clock.pause()
    clocks = timeline.clocks = CountedClocks(timeline.clocks)

    timeline.apply_all(log.read(read).events)

    assert clocks.looked_up < 3 * len(clocks)
    assert timeline.local_ns(deepest.id) == deepest.time_ns == 1_000


def test_that_a_clock_that_is_not_anchored_has_the_time_of_the_clock_above() -> None:
    timeline = Timeline(["", "root", "game"])
    timeline.apply_all([(3, CLOCK_ADDED, 1, 0, 1), (5, CLOCK_ADDED, 2, 1, 2)])

    assert [timeline.local_ns(number, 7) for number in (1, 2)] == [7, 7]


def test_that_whatever_happens_to_a_timer_changes_the_version_of_the_timers() -> None:
    log = EventLog()
    timeline = Timeline(log.strings)
    timeline.apply_all([(0, CLOCK_ADDED, 1, 0, 0)])
    versions = [timeline.timers_version]

    for events in (
        [(0, TIMER_ADDED, 7, 1, 0), (0, TIMER_ARMED, 7, 5, 5)],
        [(5, TIMER_FIRED, 7, 0, 10)],
        # It fires at another instant.
        [(6, CLOCK_PAUSED, 1, 0, 0)],
        [(7, CLOCK_RESUMED, 1, 0, 0)],
        [(10, TIMER_FIRED, 7, 0, NEVER)],
        [(10, TIMER_ADDED, 8, 1, 0), (10, TIMER_CLEARED, 8, 0, 0)],
    ):
        timeline.apply_all(events)
        versions.append(timeline.timers_version)

    assert sorted(set(versions)) == versions


@pytest.mark.parametrize("number", [0, -1, 3])
def test_that_a_member_that_exists_or_has_no_number_cannot_be_added(number: int) -> None:
    members = MemberTable([""])
    members.by_id[3] = MemberState(3, "", 0, 0)

    with pytest.raises(ValueError, match=f"member {number} cannot be added"):
        members._on_member_added(0, number, 0, 0)
