"""Breakpoints: what is a hit, what it belongs to, and what a file may say."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.clocks.tree import ClockTree
from inspector.events.conditions.breakpoint import (
    DEFAULT_SAVED_NS,
    MAX_SAVED_NS,
    BreakAction,
    BreakKind,
    Breakpoint,
    BreakpointError,
)
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.frames.director import Director
from inspector.sessions.breakpoints import breakpoints as breakpoints_module
from inspector.sessions.breakpoints.breakpoints import MAX_BREAKPOINTS, Breakpoints, _Stacks
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_PAUSED,
    FRAME_ENDED,
    LOOP_FOUND,
    LOOP_FRAME_ENDED,
    SAW_END,
)
from tests.analysis.test_lateness import CRUNCH, DUE_NS, LIBRARY, LOOP, MAIN, REBUILD, Program

MS = 1_000_000
STACK = (MAIN, LIBRARY, REBUILD, CRUNCH)


def _nothing() -> None:
    """Be called."""


class Watched:
    """A small scene with breakpoints."""

    def __init__(self) -> None:
        self.log = EventLog()
        self.tree = ClockTree(self.log)
        self.director = Director(self.tree.root)
        self.breakpoints = Breakpoints()

    def add(self, breakpoint_: Breakpoint) -> int:
        number = self.breakpoints.add(breakpoint_)
        if not self.breakpoints.is_watching:
            timeline = Timeline(self.log.strings)
            timeline.apply_all(self.log.read().events)
            self.breakpoints.watch(self.log, timeline)
        return number

    def frame(self, interval_ms: int = 16) -> list[str]:
        self.tree.run_to(self.tree.now_ns + interval_ms * MS)
        self.director.run_frame(interval_ms * MS)
        return [f"{hit.frame}: {hit.text}" for hit in self.breakpoints.check()]


def test_that_a_timer_that_fires_belongs_to_the_frame_it_fires_before() -> None:
    scene = Watched()
    scene.tree.root.set_timeout(0.04, _nothing, name="boss")
    scene.add(Breakpoint(BreakKind.TIMER_FIRES, "boss"))

    assert scene.frame() == []
    assert scene.frame() == []
    assert scene.frame() == ["2: timer “boss” fired"]
    assert scene.frame() == []


def test_that_everything_a_hit_is_about_is_named_once() -> None:
    scene = Watched()
    game = scene.tree.root.child("game")
    scene.add(Breakpoint(BreakKind.CONDITION, condition='kind == "timer_added"'))

    game.set_timeout(0.04, _nothing, name="boss")

    assert [text.rpartition(": ")[2] for text in scene.frame()] == [
        "timer “boss” scheduled on clock “game”"
    ]


def test_that_the_kth_time_is_the_first_that_counts() -> None:
    scene = Watched()
    scene.tree.root.set_interval(0.016, _nothing, name="tick")
    number = scene.add(Breakpoint(BreakKind.TIMER_FIRES, "tick", from_hit=3))

    frames = [bool(scene.frame()) for _ in range(5)]

    assert frames == [False, False, True, True, True]
    assert scene.breakpoints.hits(number) == 5


def test_that_one_that_is_for_once_is_off_afterwards() -> None:
    scene = Watched()
    scene.tree.root.set_interval(0.016, _nothing, name="tick")
    number = scene.add(Breakpoint(BreakKind.TIMER_FIRES, "tick", is_once=True))

    assert [len(scene.frame()) for _ in range(3)] == [1, 0, 0]
    found = scene.breakpoints.get(number)
    assert found is not None
    assert not found.is_enabled
    assert not scene.breakpoints.is_any_enabled


def test_that_a_frame_time_above_the_limit_is_a_hit_in_that_frame() -> None:
    scene = Watched()
    scene.add(Breakpoint(BreakKind.FRAME_ABOVE, limit_ns=20 * MS))

    assert scene.frame(20) == []
    (hit,) = scene.frame(21)
    assert hit.startswith(
        "1: a frame time exceeds 20.0 ms: frame ended: 21.0 ms since the previous"
    )


def test_that_delta_pause_rate_and_failure_are_hits() -> None:
    scene = Watched()
    game = scene.tree.root.child("game")

    def fail() -> None:
        raise ValueError("no")

    scene.tree.on_failure = lambda _: None
    game.set_timeout(0.01, fail, name="bad")
    scene.add(Breakpoint(BreakKind.DELTA_ABOVE, limit_ns=15 * MS))
    scene.add(Breakpoint(BreakKind.CALLBACK_RAISED))
    scene.add(Breakpoint(BreakKind.CLOCK_PAUSED, "game"))
    scene.add(Breakpoint(BreakKind.RATE_CHANGED))

    first = scene.frame()
    game.pause()
    scene.tree.root.set_rate(0.5)
    second = scene.frame(5)

    assert [text.split(": ")[1] for text in first] == ["“bad” failed", "a delta exceeds 15.0 ms"]
    assert second == [
        "1: clock “game” paused",
        "1: clock “root” now runs at rate 0.5",
    ]


def test_that_what_happened_before_is_no_hit() -> None:
    scene = Watched()
    scene.tree.root.set_timeout(0.01, _nothing, name="boss")
    scene.frame()
    scene.add(Breakpoint(BreakKind.TIMER_FIRES))

    assert scene.frame() == []


def test_that_names_from_before_are_known() -> None:
    scene = Watched()
    scene.tree.root.set_timeout(0.04, _nothing, name="boss")
    scene.frame()
    scene.add(Breakpoint(BreakKind.CONDITION, condition='timer contains "BO" and frame == 2'))

    assert scene.frame() == []
    assert len(scene.frame()) == 1


def test_that_turning_off_and_removing_ends_it() -> None:
    scene = Watched()
    scene.tree.root.set_interval(0.016, _nothing, name="tick")
    number = scene.add(Breakpoint(BreakKind.TIMER_FIRES, "tick"))
    assert scene.frame()
    off = Breakpoint(BreakKind.TIMER_FIRES, "tick", is_enabled=False)

    assert scene.breakpoints.replace(number, off)
    assert scene.frame() == []
    assert scene.breakpoints.remove(number)
    assert not scene.breakpoints.remove(number)
    assert not scene.breakpoints.replace(number, off)
    assert scene.frame() == []
    assert len(scene.breakpoints) == 0


def test_that_there_is_a_limit_to_how_many() -> None:
    breakpoints = Breakpoints()
    for _ in range(MAX_BREAKPOINTS):
        breakpoints.add(Breakpoint(BreakKind.CALLBACK_RAISED))
    with pytest.raises(BreakpointError, match="remove some"):
        breakpoints.add(Breakpoint(BreakKind.CALLBACK_RAISED))


breakpoints_st = st.builds(
    Breakpoint,
    kind=st.sampled_from(BreakKind),
    subject=st.text(max_size=8),
    limit_ns=st.just(0),
    condition=st.sampled_from(["lateness > 5ms", 'timer == "a"']),
    action=st.sampled_from(BreakAction),
    from_hit=st.integers(1, 1000),
    is_once=st.booleans(),
    is_enabled=st.booleans(),
    saved_ns=st.integers(1, 10**12),
)


@given(breakpoints_st)
def test_that_a_file_gives_back_what_was_written(breakpoint_: Breakpoint) -> None:
    values = json.loads(json.dumps(breakpoint_.as_values()))
    back = Breakpoint.from_values(values)

    assert back.as_values() == breakpoint_.as_values()
    assert back.condition_text == breakpoint_.condition_text
    is_saved = breakpoint_.action is BreakAction.SAVE
    assert back.saved_ns == (breakpoint_.saved_ns if is_saved else DEFAULT_SAVED_NS)


@pytest.mark.parametrize(
    ("breakpoint_", "text", "values"),
    [
        (Breakpoint(BreakKind.TIMER_FIRES), "a timer fires", {}),
        (Breakpoint(BreakKind.TIMER_FIRES, "boss"), "timer “boss” fires", {"subject": "boss"}),
        (
            Breakpoint(BreakKind.LATENESS_ABOVE, "boss", 5 * MS),
            "timer “boss” fires more than 5.00 ms late",
            {"subject": "boss", "limit": "5000000 ns"},
        ),
        (Breakpoint(BreakKind.RATE_CHANGED), "the rate of a clock changes", {}),
        (
            Breakpoint(BreakKind.RATE_CHANGED, "game", from_hit=2),
            "the rate of “game” changes",
            {"subject": "game", "from_hit": 2},
        ),
        (
            Breakpoint(BreakKind.STATE_ENTERED, "open", is_once=True, is_enabled=False),
            "state “open” is entered",
            {"subject": "open", "once": True, "enabled": False},
        ),
        (
            Breakpoint(BreakKind.CONDITION, condition="at > 1s"),
            "at > 1s",
            {"condition": "at > 1s"},
        ),
        (
            Breakpoint(BreakKind.CALLBACK_RAISED, action=BreakAction.SAVE, saved_ns=MAX_SAVED_NS),
            "a callback raises",
            {"action": "save the last seconds", "save": "86400000000000 ns"},
        ),
    ],
)
def test_that_a_breakpoint_is_said_and_kept_with_what_it_has(
    breakpoint_: Breakpoint, text: str, values: dict[str, Any]
) -> None:
    always = {"action": "hold the scene", "from_hit": 1, "once": False, "enabled": True}

    assert breakpoint_.text == text
    assert breakpoint_.as_values() == {"kind": breakpoint_.kind.value} | always | values
    assert Breakpoint.from_values({"kind": breakpoint_.kind.value} | values) == breakpoint_


@pytest.mark.parametrize("count", [1.5, True, "1", None])
def test_that_hits_are_counted_in_whole_numbers(count: int) -> None:
    with pytest.raises(BreakpointError, match="whole numbers, not"):
        Breakpoint(BreakKind.TIMER_FIRES, from_hit=count)


@pytest.mark.parametrize("saved_ns", [0, MAX_SAVED_NS + 1])
def test_that_ten_seconds_are_saved_and_no_more_than_a_day(saved_ns: int) -> None:
    assert Breakpoint(BreakKind.TIMER_FIRES).saved_ns == DEFAULT_SAVED_NS == 10 * 10**9
    with pytest.raises(BreakpointError, match="above 0 and at most a day"):
        Breakpoint(BreakKind.TIMER_FIRES, saved_ns=saved_ns)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], "named values"),
        ({}, "Not one of timer fires"),
        ({"kind": "never"}, "Not one of timer fires"),
        ({"kind": "condition", "condition": "lateness > 5"}, "needs a unit"),
        ({"kind": "condition"}, "missing"),
        ({"kind": "timer fires", "subject": 3}, "“subject” of a breakpoint is a text, not 3"),
        ({"kind": "timer fires", "from_hit": True}, "whole number"),
        ({"kind": "timer fires", "from_hit": 0}, "first hit is number 1"),
        ({"kind": "timer fires", "enabled": "yes"}, "true or false"),
        ({"kind": "lateness above", "limit": "soon"}, "Not a duration"),
        ({"kind": "lateness above", "limit": "-5ms"}, "0 or more"),
        ({"kind": "timer fires", "save": "0 s"}, "above 0 and at most a day"),
        ({"kind": "timer fires", "colour": "red"}, "no “colour”"),
        ({"kind": "timer fires", "action": "explode"}, "Not one of hold"),
    ],
)
def test_that_nonsense_in_a_file_is_refused_in_words(values: object, words: str) -> None:
    with pytest.raises(BreakpointError, match=words):
        Breakpoint.from_values(values)


SEEN = "a turn or frame takes longer than 100 ms: it took {}: task “rebuild” was in crunch() "
STACK_SEEN = (
    "(server.py:4) the whole time, {0} of {0} samples; stack: rebuild() (server.py:10) → "
    "crunch() (server.py:4)"
)


def _turns_over(program: Program) -> Breakpoints:
    breakpoints = Breakpoints()
    breakpoints.add(Breakpoint(BreakKind.TURN_ABOVE, limit_ns=100 * MS))
    timeline = Timeline(program.log.strings)
    timeline.apply_all(program.log.read().events)
    breakpoints.watch(program.log, timeline)
    return breakpoints


def test_that_a_long_turn_is_hit_at_its_end_and_tells_what_was_seen_during_it() -> None:
    program = Program()
    program.log.append((0, LOOP_FOUND, LOOP, program.log.intern("asyncio loop"), 0))
    breakpoints = _turns_over(program)

    for until_ms in range(10, 251, 10):
        program.sample(*STACK, until_ms=until_ms, begins=until_ms == 10)
        assert breakpoints.check() == []
    ended_ns = DUE_NS + 250 * MS
    program.log.append((ended_ns, FRAME_ENDED, LOOP, 300 * MS, 250 * MS))
    (hit,) = breakpoints.check()

    assert hit.at_ns == ended_ns
    assert hit.text == SEEN.format("250 ms") + STACK_SEEN.format(25)


def test_that_the_shortest_limit_of_turns_that_hold_is_the_limit() -> None:
    breakpoints = Breakpoints()
    limits = []
    for breakpoint_ in (
        Breakpoint(BreakKind.TURN_ABOVE, limit_ns=1, is_enabled=False),
        Breakpoint(BreakKind.FRAME_ABOVE, limit_ns=2),
        Breakpoint(BreakKind.TURN_ABOVE, limit_ns=3, action=BreakAction.MARK),
        Breakpoint(BreakKind.TURN_ABOVE, limit_ns=4, from_hit=2),
        Breakpoint(BreakKind.TURN_ABOVE, limit_ns=9),
        Breakpoint(BreakKind.TURN_ABOVE, limit_ns=7),
        Breakpoint(BreakKind.TURN_ABOVE, limit_ns=8),
        Breakpoint(BreakKind.TURN_ABOVE, limit_ns=0),
    ):
        breakpoints.add(breakpoint_)
        limits.append(breakpoints.longest_turn_ns)
    assert limits == [0, 0, 0, 0, 9, 7, 7, 1]


def test_that_a_turn_within_the_limit_is_no_hit() -> None:
    program = Program()
    breakpoints = _turns_over(program)
    program.log.append((DUE_NS, FRAME_ENDED, LOOP, 300 * MS, 100 * MS))
    program.log.append((DUE_NS, LOOP_FRAME_ENDED, LOOP, 300 * MS, 99 * MS))
    assert breakpoints.check() == []


def test_that_a_turn_of_a_loop_that_reports_none_is_as_long_as_it_was_sampled() -> None:
    program = Program()
    breakpoints = _turns_over(program)

    for until_ms in range(10, 141, 10):
        program.sample(*STACK, until_ms=until_ms, begins=until_ms == 10)
    assert breakpoints.check() == []
    program.sample(until_ms=144, covers_ms=4, flags=SAW_END)
    (hit,) = breakpoints.check()

    assert hit.text == SEEN.format("144 ms") + STACK_SEEN.format(14)


def test_that_a_long_turn_without_samples_claims_nothing_of_it() -> None:
    program = Program()
    breakpoints = _turns_over(program)
    program.log.append((DUE_NS, LOOP_FRAME_ENDED, LOOP, 300 * MS, 120 * MS))
    (hit,) = breakpoints.check()
    assert hit.text == "a turn or frame takes longer than 100 ms: it took 120 ms"


def test_that_the_stacks_of_a_turn_are_those_of_clocks_that_came_later_too() -> None:
    timeline: Any = SimpleNamespace(clocks={1: SimpleNamespace(id=1, parent_id=0)})
    stacks = _Stacks([""], timeline)
    stacks.fold([(0, CLOCK_ADDED, 2, 1, 0), (0, CLOCK_ADDED, 3, 2, 0), (0, CLOCK_PAUSED, 4, 3, 0)])
    assert stacks._path([3]) == [3, 2, 1]
    assert stacks._path([2, 3]) == [2, 3, 1]
    assert stacks._path([4]) == [4]


def test_that_only_the_latest_samples_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakpoints_module, "_MOST_KEPT", 5)
    timeline: Any = SimpleNamespace(clocks={})
    stacks = _Stacks([""], timeline)
    samples: Any = SimpleNamespace(
        fold=lambda _events: None,
        by_clock={1: list(range(5)), 2: list(range(6))},
        collections={1: list(range(5)), 2: list(range(7))},
    )
    stacks._samples = samples
    stacks.fold([])
    assert samples.by_clock == {1: [0, 1, 2, 3, 4], 2: [2, 3, 4, 5]}
    assert samples.collections == {1: [0, 1, 2, 3, 4], 2: [2, 3, 4, 5, 6]}
