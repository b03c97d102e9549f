"""What made a call late, from samples of its loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.explain.explain import explain
from inspector.analysis.explain.lateness import kept_reasons
from inspector.analysis.lateness.attribution import Cause, Lateness
from inspector.analysis.lateness.late_calls import LateCall, late_calls
from inspector.analysis.lateness.words import lateness_text
from inspector.analysis.lint.findings import BLOCKED_LOOP, BLOCKING
from inspector.analysis.lint.rules import findings
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.calls.call import CallId
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_REMOVED,
    COLLECTED,
    COLLECTING_LINE_SHIFT,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_FOUND,
    LOOP_FRAME_BEGAN,
    LOOP_FRAME_ENDED,
    NEVER,
    OTHER_THREAD,
    PROCESS_STOPPED,
    RATE_DENOMINATOR,
    RUNNING_CALL,
    SAMPLE_TIMES,
    SAMPLED,
    SAW_AFTER_GAP,
    SAW_AFTERWARDS,
    SAW_BETWEEN_TURNS,
    SAW_EARLIER,
    SAW_END,
    SAW_NO_TIMES,
    SAW_WAIT,
    STACK_FRAME,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    CallKind,
    LoopKind,
    SampleForm,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MS = 1_000_000
ROOT, PROGRAM, LOOP, TIMER, OTHER = 1, 2, 3, 7, 8
DUE_NS = 1_000 * MS
LIBRARY = "/usr/lib/python3.11/asyncio/events.py:80 in Handle._run"
MAIN = "/srv/server.py:40 in main"
REBUILD = "/srv/server.py:10 in rebuild"
CRUNCH = "/srv/server.py:4 in crunch"
LOAD = "/srv/server.py:20 in load"


@dataclass
class Program:
    """The events of an attached program with one timer, and samples of its loop."""

    log: EventLog = field(default_factory=EventLog)
    at_ns: int = 0
    number: int = 0

    def __post_init__(self) -> None:
        text = self.log.intern
        for event in (
            (0, CLOCK_ADDED, ROOT, 0, text("session")),
            (0, CLOCK_ANCHORED, ROOT, 0, RATE_DENOMINATOR),
            (0, CLOCK_ADDED, PROGRAM, ROOT, text("server.py")),
            (0, CLOCK_ANCHORED, PROGRAM, 0, RATE_DENOMINATOR),
            (0, CLOCK_ADDED, LOOP, PROGRAM, text("asyncio loop")),
            (0, CLOCK_ANCHORED, LOOP, 0, RATE_DENOMINATOR),
            (0, TIMER_ADDED, TIMER, LOOP, text("tick")),
            (0, TIMER_ORIGIN, TIMER, text("/srv/server.py:30 in tick"), 0),
            (0, TIMER_ARMED, TIMER, DUE_NS, 0),
        ):
            self.log.append(event)

    def sample(  # noqa: PLR0913 - what a sample tells
        self,
        *stack: str,
        until_ms: int,
        covers_ms: int = 10,
        ran_ms: float | None = None,
        ready_ms: float = 0,
        name: str = "rebuild",
        kind: CallKind = CallKind.TASK,
        other: str = "",
        other_ms: float = 0,
        flags: int = 0,
        part: int = 0,
        begins: bool = False,
    ) -> None:
        """Tell one sample; the whole stack each time, in turns of 32 samples at most."""
        self.at_ns = DUE_NS + until_ms * MS
        number = 0 if begins else self.number
        self.number = number + 1
        text, at_ns = self.log.intern, self.at_ns
        self.log.append((at_ns, RUNNING_CALL, LOOP, text(name), int(kind)))
        for place, site in enumerate(stack):
            self.log.append((at_ns, STACK_FRAME, LOOP, place, text(site)))
        if other:
            self.log.append((at_ns, OTHER_THREAD, LOOP, int(other_ms * MS), text(other)))
        ran_ns = int((covers_ms if ran_ms is None else ran_ms) * MS)
        self.log.append((at_ns, SAMPLE_TIMES, LOOP, ran_ns, int(ready_ms * MS)))
        form = SampleForm(part, number, len(stack), flags).packed
        self.log.append((at_ns, SAMPLED, LOOP, covers_ms * MS, form))

    def stand(self, kind: int, begin_ms: int, end_ms: int, b: int = 0) -> None:
        self.log.append((DUE_NS + end_ms * MS, kind, PROGRAM, (end_ms - begin_ms) * MS, b))

    def fire(self, late_ms: int) -> Lateness:
        """Fire the timer, and return what made it late."""
        at_ns = DUE_NS + late_ms * MS
        self.log.append((max(at_ns, self.at_ns), TIMER_FIRED, TIMER, late_ms * MS, NEVER))
        (call,) = late_calls(LogHistory(self.log), 20 * MS)
        return call.lateness


def test_that_the_function_that_had_the_whole_time_is_named_with_its_task() -> None:
    program = Program()
    for until_ms in range(10, 261, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms)
    lateness = program.fire(258)
    assert lateness.cause is Cause.TASK_STEP
    assert lateness_text(lateness) == (
        "258 ms late: task “rebuild” was in crunch() (server.py:4) the whole time, 26 of 26 "
        "samples."
    )


def test_that_an_explanation_says_the_same_with_the_stack() -> None:
    program = Program()
    for until_ms in range(10, 261, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms)
    program.fire(258)
    history = LogHistory(program.log)
    explanation = explain(history, CallId(TIMER), history.last_ns)
    texts = [reason.text for reason in explanation.reasons]
    assert (
        "It was 258 ms late: task “rebuild” was in crunch() (server.py:4) the whole time, 26 of "
        "26 samples."
    ) in texts
    assert (
        "Most often seen: main() (server.py:40) → Handle._run() (events.py:80) → rebuild() "
        "(server.py:10) → crunch() (server.py:4)."
    ) in texts


ASYNCIO = "/usr/lib/python3.11/asyncio/events.py:80 in Handle._run"
TRIO = "/srv/lib/trio/_core/_run.py:2621 in unrolled_run"
TWISTED = "/srv/lib/twisted/internet/base.py:1101 in ReactorBase.runUntilCurrent"
HANDLE = "/srv/server.py:40 in async Server.handle"


@pytest.mark.parametrize(
    ("stack", "advice"),
    [
        ((ASYNCIO, HANDLE, CRUNCH), "Call it in a thread: await asyncio.to_thread(crunch)."),
        (
            (ASYNCIO, HANDLE, REBUILD, CRUNCH),
            "Call rebuild() in a thread: await asyncio.to_thread(rebuild).",
        ),
        ((ASYNCIO, CRUNCH), "Call it in a thread: loop.run_in_executor(None, crunch)."),
        ((TRIO, HANDLE, CRUNCH), "Call it in a thread: await trio.to_thread.run_sync(crunch)."),
        ((TWISTED, CRUNCH), "Call it in a thread: deferToThread(crunch)."),
        ((ASYNCIO, HANDLE), ""),
        ((ASYNCIO, "/srv/server.py:4 in generator lines"), ""),
        (("/srv/server.py:90 in main", CRUNCH), ""),
    ],
)
def test_that_what_helps_depends_on_the_loop_and_on_who_calls(
    stack: tuple[str, ...], advice: str
) -> None:
    program = Program()
    for until_ms in range(10, 261, 10):
        program.sample(*stack, until_ms=until_ms)
    history = LogHistory(program.log)

    explanation = explain(history, CallId(TIMER), history.last_ns)

    assert [each.text for each in explanation.reasons if each.helps_against] == [advice] * bool(
        advice
    )
    assert any(line.endswith(f"What helps: {advice}") for line in explanation.lines()) == bool(
        advice
    )


def test_that_a_coroutine_that_sleeps_is_to_await_its_sleep() -> None:
    program = Program()
    for until_ms in range(10, 261, 10):
        program.sample(
            ASYNCIO,
            HANDLE,
            "<built-in>:0 in time.sleep",
            until_ms=until_ms,
            ran_ms=0,
            flags=SAW_WAIT,
        )
    history = LogHistory(program.log)

    explanation = explain(history, CallId(TIMER), history.last_ns)

    helps = [each.text for each in explanation.reasons if each.helps_against]
    assert helps == ["Sleep without keeping the loop: await asyncio.sleep()."]


def test_that_nothing_is_said_to_help_against_what_c_keeps_the_interpreter_for() -> None:
    program = Program()
    program.sample(ASYNCIO, HANDLE, CRUNCH, until_ms=260, covers_ms=260, flags=SAW_AFTERWARDS)
    history = LogHistory(program.log)

    explanation = explain(history, CallId(TIMER), history.last_ns)

    assert "taken right afterwards" in explanation.headline
    assert not any(each.helps_against for each in explanation.reasons)


def test_that_a_call_that_is_still_kept_waiting_has_a_culprit_so_far() -> None:
    program = Program()
    for until_ms in range(10, 261, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms)
    history = LogHistory(program.log)
    explanation = explain(history, CallId(TIMER), history.last_ns)
    assert explanation.headline == (
        "It is due, and 260 ms late so far: task “rebuild” was in crunch() (server.py:4) the whole "
        "time, 26 of 26 samples."
    )
    assert any(each.text.startswith("Most often seen: main()") for each in explanation.reasons)
    assert not [reason for reason in explanation.reasons if "held" in reason.text]


@pytest.mark.parametrize(("late_ms", "is_explained"), [(8, False), (10, True)])
def test_that_what_keeps_a_call_waiting_is_said_once_it_may_have_been_seen(
    late_ms: int, *, is_explained: bool
) -> None:
    program = Program()
    for until_ms in range(2, 13, 2):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms, covers_ms=2)

    headline = explain(LogHistory(program.log), CallId(TIMER), DUE_NS + late_ms * MS).headline

    assert headline.startswith("It is due, and") == is_explained
    assert headline.startswith("It is due and fires") != is_explained


def test_that_of_many_calls_that_are_kept_waiting_the_first_has_a_culprit() -> None:
    program = Program()
    program.log.append((0, TIMER_ADDED, OTHER, LOOP, program.log.intern("later")))
    program.log.append((0, TIMER_ARMED, OTHER, DUE_NS + 100 * MS, 0))
    history = LogHistory(program.log)
    kept = []
    for until_ms in range(10, 121, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms)
        kept.append(kept_reasons(history, history.state_before(history.end)))

    # Shorter turns are not sampled.
    assert [late for late, _ in kept] == [1] * 10 + [2] * 2
    _, (reason,) = kept[-1]
    assert reason.text == (
        "“tick”: it is due, and 120 ms late so far: task “rebuild” was in crunch() (server.py:4)"
        " the whole time, 12 of 12 samples."
    )
    program.log.append((DUE_NS + 121 * MS, TIMER_CLEARED, TIMER, 0, 0))
    program.log.append((DUE_NS + 121 * MS, TIMER_CLEARED, OTHER, 0, 0))
    assert kept_reasons(history, history.state_before(history.end)) == (0, [])


def test_that_no_more_than_three_stacks_are_listed_the_most_frequent_first() -> None:
    program = Program()
    until_ms = 0
    for count, site in ((1, LOAD), (4, CRUNCH), (2, REBUILD), (3, MAIN), (1, "/srv/a.py:1 in a")):
        for _ in range(count):
            until_ms += 20
            program.sample(MAIN, site, until_ms=until_ms, covers_ms=20, name=site)
    history = LogHistory(program.log)

    explanation = explain(history, CallId(TIMER), history.last_ns)

    stacks = [each.text for each in explanation.reasons if each.text.startswith("Most often seen")]
    assert len(stacks) == 3
    assert ["crunch" in each for each in stacks] == [True, False, False]


def test_that_a_stack_that_was_seen_after_code_in_c_is_said_to_be_that() -> None:
    program = Program()
    program.sample(MAIN, LIBRARY, CRUNCH, until_ms=100, covers_ms=100, flags=SAW_AFTERWARDS)
    assert lateness_text(program.fire(100)) == (
        "100 ms late: task “rebuild” was in crunch() (server.py:4) the whole time, 1 of 1 samples, "
        "taken right afterwards."
    )


def test_that_garbage_that_v8_collects_is_known_from_its_frames() -> None:
    program = Program()
    stack = (MAIN, CRUNCH, "<built-in>:0 in (garbage collector)")
    for until_ms in range(10, 101, 10):
        program.sample(*stack, until_ms=until_ms, ran_ms=2, flags=SAW_WAIT)
    assert [(share.cause, share.ns // MS) for share in program.fire(100).shares] == [
        (Cause.GARBAGE_COLLECTION, 100)
    ]


@pytest.mark.parametrize(
    ("line", "stack", "by"),
    [
        (4, (MAIN, CRUNCH), " by crunch() (server.py:4)"),
        (5, (MAIN, CRUNCH), ""),
        (0, (MAIN, CRUNCH), ""),
        (4, (), ""),
    ],
)
def test_that_who_asks_for_a_collection_is_named_if_it_was_seen_at_that_line(
    line: int, stack: tuple[str, ...], by: str
) -> None:
    program = Program()
    program.sample(*stack, until_ms=98, covers_ms=60, ran_ms=60, flags=SAW_AFTERWARDS)
    program.stand(COLLECTED, 0, 100, line << COLLECTING_LINE_SHIFT | 2)

    told = lateness_text(program.fire(100))

    assert told == f"100 ms late: garbage was collected{by} the whole time."


@pytest.mark.parametrize(
    ("until_ms", "said"),
    [
        (100, "garbage was collected, mostly in Handle.__del__() (server.py:70), the whole time."),
        # It had less than half of the collection.
        (40, "garbage was collected the whole time."),
    ],
)
def test_that_a_finalizer_that_had_most_of_a_collection_is_named(until_ms: int, said: str) -> None:
    program = Program()
    for at_ms in range(10, 101, 10):
        inner = ("/srv/server.py:70 in Handle.__del__", LOAD) if at_ms <= until_ms else ()
        program.sample(MAIN, CRUNCH, *inner, until_ms=at_ms)
    program.stand(COLLECTED, 0, 100, 2)
    assert lateness_text(program.fire(100)) == f"100 ms late: {said}"


def test_that_samples_that_are_told_once_a_turn_is_over_stand_for_when_it_was() -> None:
    program = Program()
    text, at_ns = program.log.intern, DUE_NS + 100 * MS
    program.log.append((at_ns, RUNNING_CALL, LOOP, text("rebuild"), int(CallKind.CALLBACK)))
    for number, earlier_ms in enumerate((60, 20)):
        waits = SAW_WAIT if number else 0
        program.log.append((at_ns, STACK_FRAME, LOOP, 0, text(LOAD if number else CRUNCH)))
        program.log.append((at_ns, SAMPLE_TIMES, LOOP, 10 * MS, earlier_ms * MS))
        form = SampleForm(0, number, 1, SAW_EARLIER | waits).packed
        program.log.append((at_ns, SAMPLED, LOOP, 40 * MS, form))
    program.at_ns = at_ns
    lateness = program.fire(100)
    assert [(share.cause, share.ns // MS) for share in lateness.shares] == [
        (Cause.CALLBACK, 30),
        (Cause.BLOCKING_CALL, 30),
        (Cause.PROCESSOR, 20),
    ]
    assert lateness.unknown_ns == 20 * MS


def test_that_what_keeps_a_call_waiting_is_not_guessed_without_samples() -> None:
    program = Program()
    program.stand(COLLECTED, 90, 100)
    history = LogHistory(program.log)
    explanation = explain(history, CallId(TIMER), history.last_ns)
    assert explanation.headline == "It is due and fires with the next wake-up."


def test_that_a_call_that_is_never_made_is_listed_as_late_as_it_was_when_last_looked_at() -> None:
    program = Program()
    for until_ms in range(10, 261, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms)
    program.log.append((DUE_NS + 270 * MS, TIMER_CLEARED, 99, 0, 0))
    (call,) = late_calls(LogHistory(program.log), 20 * MS)
    assert not call.is_made
    assert call.lateness.late_ns == 260 * MS
    assert call.lateness.cause is Cause.TASK_STEP


def test_that_several_causes_have_their_shares_and_the_rest_is_not_known() -> None:
    program = Program()
    for until_ms in range(30, 131, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms)
    for until_ms in range(140, 201, 10):
        program.sample(
            MAIN, LIBRARY, LOAD, until_ms=until_ms, name="load", kind=CallKind.CALLBACK, part=1
        )
    program.stand(COLLECTED, 150, 170)
    lateness = program.fire(200)
    assert [(share.cause, share.ns // MS) for share in lateness.shares] == [
        (Cause.TASK_STEP, 110),
        (Cause.CALLBACK, 50),
        (Cause.GARBAGE_COLLECTION, 20),
    ]
    assert lateness.unknown_ns == 20 * MS


def test_that_a_wait_is_named_with_what_waits_and_who_called_it() -> None:
    program = Program()
    stack = (MAIN, LIBRARY, REBUILD, LOAD, "<built-in>:0 in time.sleep")
    for until_ms in range(10, 101, 10):
        program.sample(*stack, until_ms=until_ms, ran_ms=0.01, flags=SAW_WAIT)
    lateness = program.fire(100)
    assert lateness.cause is Cause.BLOCKING_CALL
    assert lateness_text(lateness).startswith(
        "100 ms late: task “rebuild” waited for time.sleep in load() (server.py:20) the whole time"
    )


def test_that_another_thread_that_had_the_interpreter_is_named() -> None:
    program = Program()
    for until_ms in range(10, 101, 10):
        program.sample(
            until_ms=until_ms,
            ran_ms=0,
            other="worker: /srv/server.py:50 in hog",
            other_ms=9.5,
            flags=SAW_BETWEEN_TURNS,
        )
    lateness = program.fire(100)
    assert lateness.cause is Cause.GIL
    assert lateness.main is not None
    assert lateness.main.culprit is not None
    assert (lateness.main.culprit.thread, lateness.main.culprit.place.function) == ("worker", "hog")


def test_that_a_thread_is_named_even_if_it_is_not_known_what_it_was_at() -> None:
    program = Program()
    program.sample(
        until_ms=100,
        covers_ms=100,
        ran_ms=0,
        other="worker: ",
        other_ms=95,
        flags=SAW_BETWEEN_TURNS,
    )
    assert lateness_text(program.fire(100)) == (
        "100 ms late: the thread “worker” had the interpreter, at what is not known, the whole "
        "time."
    )


def test_that_the_lack_of_a_processor_is_told_from_work() -> None:
    program = Program()
    for until_ms in range(10, 101, 10):
        program.sample(MAIN, LIBRARY, CRUNCH, until_ms=until_ms, ran_ms=2, ready_ms=8)
    assert program.fire(100).cause is Cause.PROCESSOR


def test_that_time_without_a_processor_belongs_to_when_it_was_not_when_it_was_counted() -> None:
    program = Program()
    for until_ms in range(10, 51, 10):
        program.sample(MAIN, LIBRARY, CRUNCH, until_ms=until_ms, ran_ms=0)
    program.sample(MAIN, LIBRARY, CRUNCH, until_ms=60, ran_ms=5, ready_ms=55)
    program.sample(MAIN, LIBRARY, CRUNCH, until_ms=70, ran_ms=10)
    lateness = program.fire(70)
    assert [(share.cause, share.ns // MS) for share in lateness.shares] == [
        (Cause.PROCESSOR, 55),
        (Cause.TASK_STEP, 15),
    ]


def test_that_many_short_calls_have_no_culprit_but_families() -> None:
    program = Program()
    for part, until_ms in enumerate(range(10, 201, 10)):
        program.sample(
            MAIN,
            LIBRARY,
            LOAD if part % 4 else CRUNCH,
            until_ms=until_ms,
            name="load" if part % 4 else "crunch",
            kind=CallKind.CALLBACK,
            part=part,
        )
    lateness = program.fire(200)
    assert lateness.cause is Cause.MANY_SHORT
    assert lateness.main is not None
    assert lateness.main.culprit is None
    assert [(each.name, each.ns // MS) for each in lateness.families] == [
        ("load", 150),
        ("crunch", 50),
    ]


@pytest.mark.parametrize(
    # Who has the interpreter but no processor keeps others from looking, too.
    ("ran_ms", "flags"),
    [(100, SAW_AFTER_GAP), (30, SAW_AFTER_GAP | SAW_AFTERWARDS)],
)
def test_that_a_gap_between_many_short_calls_is_not_one_of_them(ran_ms: int, flags: int) -> None:
    program = Program()
    for part, until_ms in enumerate((10, 20, 30, 40, 140, 150)):
        program.sample(
            *(MAIN, LIBRARY, CRUNCH),
            until_ms=until_ms,
            covers_ms=100 if until_ms == 140 else 10,
            ran_ms=ran_ms if until_ms == 140 else 10,
            ready_ms=100 - ran_ms if until_ms == 140 else 0,
            kind=CallKind.CALLBACK,
            flags=flags if until_ms == 140 else 0,
            part=part,
        )
    shares = program.fire(150).shares
    assert {share.cause for share in shares} <= {Cause.MANY_SHORT, Cause.PROCESSOR}


def test_that_a_stop_of_the_process_is_not_blamed_on_who_was_running() -> None:
    program = Program()
    program.sample(MAIN, LIBRARY, CRUNCH, until_ms=10)
    program.stand(PROCESS_STOPPED, 10, 390)
    program.sample(MAIN, LIBRARY, CRUNCH, until_ms=400, covers_ms=390, ran_ms=10)
    lateness = program.fire(400)
    assert [(share.cause, share.ns // MS) for share in lateness.shares] == [
        (Cause.STOPPED, 380),
        (Cause.TASK_STEP, 20),
    ]


def test_that_parts_of_a_frame_are_told_apart() -> None:
    program = Program()
    for until_ms in range(10, 201, 10):
        part = "/srv/game.py:5 in update" if until_ms <= 120 else "/srv/game.py:9 in draw"
        program.sample(
            "/srv/game.py:30 in main", part, until_ms=until_ms, name="", kind=CallKind.FRAME
        )
    lateness = program.fire(200)
    named = [
        (share.cause, share.culprit.place.function, share.ns // MS)
        for share in lateness.shares
        if share.culprit is not None
    ]
    assert named == [
        (Cause.FRAME_FUNCTION, "update", 120),
        (Cause.FRAME_FUNCTION, "draw", 80),
    ]


@pytest.mark.parametrize(
    ("ran_ms", "ready_ms", "late_ms", "collected_ms", "starved_ms"),
    [(20, 80, 100, 20, 80), (20, 80, 55, 12, 42), (90, 10, 100, 90, 10), (40, 8, 100, 90, 8)],
)
def test_that_a_collection_that_lacked_a_processor_is_no_longer_for_that(
    ran_ms: int, ready_ms: int, late_ms: int, collected_ms: int, starved_ms: int
) -> None:
    program = Program()
    program.sample(MAIN, until_ms=100, covers_ms=100, ran_ms=ran_ms, ready_ms=ready_ms)
    program.stand(COLLECTED, 10, 100)
    shares = {share.cause: share.ns // MS for share in program.fire(late_ms).shares}
    assert shares.get(Cause.GARBAGE_COLLECTION) == collected_ms
    assert shares.get(Cause.PROCESSOR, 0) == starved_ms


def test_that_what_a_callback_waited_for_is_a_public_function() -> None:
    program, library = Program(), "/usr/lib/python3.11/subprocess.py"
    inner = [f"{library}:{line} in {name}" for line, name in ((548, "run"), (9, "Popen._wait"))]
    for until_ms in range(10, 101, 10):
        kind, waits = CallKind.CALLBACK, SAW_WAIT
        program.sample(LOAD, *inner, until_ms=until_ms, ran_ms=0, name="", kind=kind, flags=waits)
    assert lateness_text(program.fire(100)) == (
        "100 ms late: a callback waited for run in load() (server.py:20) the whole time, 10 of 10 "
        "samples."
    )


def test_that_nobody_is_named_without_samples() -> None:
    lateness = Program().fire(100)
    assert lateness.cause is Cause.UNKNOWN
    assert lateness.unknown_ns == 100 * MS
    assert lateness_text(lateness) == "100 ms late: what kept it was not measured."


def test_that_a_finding_counts_how_often_a_function_blocked_the_loop() -> None:
    program = Program()
    for until_ms in range(10, 261, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms)
    program.fire(258)
    (found,) = [each for each in findings(LogHistory(program.log)) if each.kind is BLOCKED_LOOP]
    assert found.text == (
        "crunch() (server.py:4) blocked the loop “asyncio loop” once, 258 ms altogether; 1 call "
        "was late mainly because of it."
    )
    assert (found.clock_id, found.site, found.frame) == (LOOP, "/srv/server.py:4", None)


def test_that_waiting_threads_are_blocked_by_the_one_that_had_the_interpreter() -> None:
    program = Program()
    program.sample(
        until_ms=100,
        covers_ms=100,
        ran_ms=0,
        other="hog: /srv/server.py:4 in crunch",
        other_ms=90,
        flags=SAW_BETWEEN_TURNS,
    )
    lateness = program.fire(110)
    assert lateness_text(lateness) == (
        "110 ms late: the thread “hog” had the interpreter, in crunch() (server.py:4), for 100 ms; "
        "10.0 ms are not known."
    )
    (found,) = [each for each in findings(LogHistory(program.log)) if each.kind is BLOCKED_LOOP]
    assert found.text.startswith("crunch() (server.py:4) blocked waiting threads once, 100 ms")


def test_that_the_loops_of_two_workers_are_told_apart() -> None:
    program = Program()
    other, text = LOOP + 1, program.log.intern
    program.log.append((0, CLOCK_ADDED, other, ROOT, text("server.py, child 1")))
    program.log.append((0, CLOCK_ADDED, other + 1, other, text("asyncio loop")))
    for until_ms in range(10, 261, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms)
    program.fire(258)

    history = LogHistory(program.log)
    (call,) = late_calls(history, 20 * MS)
    (found,) = [each for each in findings(history) if each.kind is BLOCKED_LOOP]
    assert call.clock == "server.py › asyncio loop"
    assert "blocked the loop “server.py › asyncio loop” once" in found.text

    for gone in other + 1, LOOP:
        program.log.append((DUE_NS + 300 * MS, CLOCK_REMOVED, gone, 0, 0))
    history = LogHistory(program.log)
    (call,) = late_calls(history, 20 * MS)
    (found,) = [each for each in findings(history) if each.kind is BLOCKED_LOOP]
    assert call.clock == "server.py › asyncio loop"
    assert "blocked the loop “server.py › asyncio loop” once" in found.text


def test_that_a_finding_leads_to_the_turn_in_which_a_function_blocked_most() -> None:
    program = Program()
    program.log.append((0, LOOP_FOUND, LOOP, program.log.intern("asyncio loop"), 0))
    program.log.append((DUE_NS - 40 * MS, FRAME_BEGAN, LOOP, 0, 0))
    program.log.append((DUE_NS - 40 * MS, FRAME_ENDED, LOOP, 0, 0))
    program.log.append((DUE_NS, FRAME_BEGAN, LOOP, 1, 0))
    for until_ms in range(10, 261, 10):
        program.sample(MAIN, LIBRARY, REBUILD, CRUNCH, until_ms=until_ms)
    program.log.append((DUE_NS + 260 * MS, FRAME_ENDED, LOOP, 40 * MS, 260 * MS))
    program.fire(261)
    (found,) = [each for each in findings(LogHistory(program.log)) if each.kind is BLOCKED_LOOP]
    assert found.frame == 1


def test_that_a_finding_about_a_long_turn_says_what_its_samples_say() -> None:
    program = Program()
    log = program.log
    log.append((0, LOOP_FOUND, LOOP, log.intern("asyncio"), LoopKind.WAITS_FOR_EVENTS))
    for index in range(2):
        log.append((index * 100 * MS, FRAME_BEGAN, LOOP, index, 0))
        log.append((index * 100 * MS + MS, FRAME_ENDED, LOOP, MS, MS))
    log.append((DUE_NS, FRAME_BEGAN, LOOP, 2, 0))
    for until_ms in range(10, 251, 10):
        program.sample(MAIN, LIBRARY, CRUNCH, until_ms=until_ms)
    log.append((DUE_NS + 250 * MS, FRAME_ENDED, LOOP, 250 * MS, 250 * MS))
    log.append((DUE_NS + 300 * MS, FRAME_BEGAN, LOOP, 3, 0))
    log.append((DUE_NS + 300 * MS, TIMER_FIRED, TIMER, 300 * MS, NEVER))
    log.append((DUE_NS + 301 * MS, FRAME_ENDED, LOOP, 300 * MS, MS))
    budget = FrameBudget(16_666_667, by_busy=True)
    found = findings(LogHistory(log), budget=budget)
    (text,) = [each.text for each in found if each.kind is BLOCKING]
    assert "Task “rebuild” was in crunch() (server.py:4) the whole time, 25 of 25 samples." in text


def test_that_a_call_is_late_because_of_the_function_that_had_most_of_the_time() -> None:
    program = Program()
    for until_ms in range(10, 101, 10):
        inner = CRUNCH if until_ms <= 70 else LOAD
        program.sample(MAIN, LIBRARY, inner, until_ms=until_ms, name=inner, part=until_ms > 70)
    program.fire(100)
    found = [each for each in findings(LogHistory(program.log)) if each.kind is BLOCKED_LOOP]
    assert [each.text.partition("; ")[2] for each in found] == [
        "1 call was late mainly because of it.",
        "no call was late mainly because of it.",
    ]


@pytest.mark.parametrize(
    ("turns", "idle_ms", "cause"),
    [
        # A task goes on in the turn after that in which its timer fires.
        (1, 0, Cause.DRIFT),
        (2, 0, Cause.AWAITING),
        # What it waited for came first.
        (1, 30, Cause.AWAITING),
    ],
)
def test_that_a_job_that_sets_its_calls_late_has_that_as_the_cause(
    turns: int, idle_ms: int, cause: Cause
) -> None:
    log = Program().log
    name, site, at_ns = log.intern("job"), log.intern("/srv/server.py:60 in poll"), 0
    for timer in range(100, 108):
        log.append((at_ns, TIMER_ADDED, timer, LOOP, name))
        log.append((at_ns, TIMER_ORIGIN, timer, site, 0))
        log.append((at_ns, TIMER_ARMED, timer, at_ns + 100 * MS, 0))
        at_ns += 100 * MS
        log.append((at_ns, TIMER_FIRED, timer, 0, NEVER))
        for turn in range(turns):
            log.append((at_ns, LOOP_FRAME_ENDED, LOOP, 0, 0))
            log.append((at_ns + idle_ms * MS, LOOP_FRAME_BEGAN, LOOP, turn, 0))
        at_ns += 40 * MS
    causes = [call.lateness.cause for call in late_calls(LogHistory(log), 20 * MS)]
    assert causes[1:] == [cause] * 6
    assert not list(late_calls(LogHistory(log), 50 * MS))


def test_that_a_job_has_not_worked_while_garbage_was_collected() -> None:
    program = Program()
    log, at_ns = program.log, DUE_NS
    name, site = log.intern("job"), log.intern("/srv/server.py:60 in poll")
    for timer in range(100, 108):
        log.append((at_ns, TIMER_ADDED, timer, LOOP, name))
        log.append((at_ns, TIMER_ORIGIN, timer, site, 0))
        log.append((at_ns, TIMER_ARMED, timer, at_ns + 100 * MS, 0))
        at_ns += 100 * MS
        log.append((at_ns, TIMER_FIRED, timer, 0, NEVER))
        log.append((at_ns, LOOP_FRAME_ENDED, LOOP, 0, 0))
        log.append((at_ns, LOOP_FRAME_BEGAN, LOOP, timer, 0))
        at_ns += 40 * MS
        log.append((at_ns, COLLECTED, PROGRAM, 40 * MS, 2))
    assert not list(late_calls(LogHistory(log), 20 * MS))


def _two_jobs_in_a_turn(worker: str, label: str = "sleep in rebuild") -> list[LateCall]:
    """Return the late calls of two tasks that wake in the same turn, one of which works."""
    program = Program()
    log, at_ns = program.log, DUE_NS
    text = log.intern
    for number in range(1, 8):
        names = [(100 + number, label, 10), (200 + number, "sleep in beat", 60)]
        for timer, name, line in names:
            log.append((at_ns, TIMER_ADDED, timer, LOOP, text(name)))
            log.append((at_ns, TIMER_ORIGIN, timer, text(f"/srv/server.py:{line} in job"), 0))
            log.append((at_ns, TIMER_ARMED, timer, at_ns + 100 * MS, 0))
            at_ns += MS // 100
        at_ns += 100 * MS
        for timer, _, _ in names:
            log.append((at_ns, TIMER_FIRED, timer, 0, NEVER))
        log.append((at_ns, LOOP_FRAME_ENDED, LOOP, 0, 0))
        log.append((at_ns, LOOP_FRAME_BEGAN, LOOP, number, 0))
        began_ms = (at_ns - DUE_NS) // MS
        for until_ms in range(began_ms + 10, began_ms + 41, 10):
            program.sample(MAIN, LIBRARY, CRUNCH, until_ms=until_ms, name=worker)
        at_ns += 40 * MS
    log.append((at_ns, CLOCK_REMOVED, LOOP, 0, 0))
    return list(late_calls(LogHistory(log), 20 * MS))


@pytest.mark.parametrize("label", ["sleep in rebuild", "server.rebuild", "rebuild"])
def test_that_a_task_is_not_blamed_for_the_work_of_another_that_woke_with_it(label: str) -> None:
    found = _two_jobs_in_a_turn("rebuild", label)
    drifts = [call for call in found if call.lateness.cause is Cause.DRIFT]
    kept = [call for call in found if call not in drifts]
    assert {(call.name, call.clock) for call in drifts} == {(label, "asyncio loop")}
    assert {call.name for call in kept} == {"sleep in beat"}
    for call in kept:
        assert call.lateness.main is not None
        assert call.lateness.main.culprit is not None
        assert call.lateness.main.culprit.task == "rebuild"


def test_that_nothing_is_said_of_a_late_setting_that_is_not_known_to_be_of_the_job() -> None:
    assert not _two_jobs_in_a_turn("")


_SAMPLES = st.lists(
    st.tuples(
        st.integers(1, 60),
        st.integers(1, 80),
        st.floats(0, 1.3),
        st.floats(0, 1.3),
        st.sampled_from([(MAIN, LIBRARY, CRUNCH), (MAIN, LIBRARY, REBUILD, LOAD), (CRUNCH,), ()]),
        st.sampled_from(
            [0, SAW_WAIT, SAW_BETWEEN_TURNS, SAW_END, SAW_NO_TIMES, SAW_AFTER_GAP | SAW_WAIT]
        ),
        st.sampled_from(["", "worker: /srv/server.py:50 in hog", "spinner: "]),
        st.sampled_from(list(CallKind)),
        st.integers(0, 3),
    ),
    max_size=20,
)


#: A collection or a stop, which may overlap: whether it is a stop, from when on, how long it took.
_STANDS = st.lists(st.tuples(st.booleans(), st.integers(0, 500), st.integers(1, 150)), max_size=8)


@given(samples=_SAMPLES, late_ms=st.integers(21, 600), stands=_STANDS)
def test_that_shares_and_what_is_not_known_add_up_to_the_lateness(
    samples: Sequence[tuple[int, int, float, float, tuple[str, ...], int, str, CallKind, int]],
    late_ms: int,
    stands: list[tuple[bool, int, int]],
) -> None:
    program = Program()
    until_ms = 0
    for step, covers, ran, ready, stack, flags, other, kind, part in samples:
        until_ms += step
        program.sample(
            *stack,
            until_ms=until_ms,
            covers_ms=covers,
            ran_ms=ran * covers,
            ready_ms=ready * covers,
            flags=flags,
            other=other,
            other_ms=covers,
            kind=kind,
            part=part,
            begins=part == 3,
        )
    for is_stop, begin_ms, took_ms in stands:
        program.stand(PROCESS_STOPPED if is_stop else COLLECTED, begin_ms, begin_ms + took_ms)
    lateness = program.fire(late_ms)
    assert all(share.ns > 0 for share in lateness.shares)
    assert lateness.unknown_ns >= 0
    whole_ns = sum(share.ns for share in lateness.shares) + lateness.unknown_ns
    assert abs(whole_ns - lateness.late_ns) < 2 * MS


ENGINE = "/opt/inspector/clocks/tree.py:80 in ClockNode._advance"
INNER = "/opt/inspector/clocks/tree.py:120 in ClockNode._resolve"


def test_that_what_calls_the_callbacks_of_a_scene_is_not_blamed() -> None:
    program = Program()
    for until_ms in range(10, 261, 10):
        program.sample(MAIN, ENGINE, INNER, until_ms=until_ms, kind=CallKind.CALLBACK)
    lateness = program.fire(258)
    assert lateness.shares == ()
    assert lateness.cause is Cause.UNKNOWN


def test_that_a_callback_of_a_scene_is_blamed_for_what_it_calls_of_its_clocks() -> None:
    program = Program()
    for until_ms in range(10, 261, 10):
        program.sample(MAIN, ENGINE, CRUNCH, INNER, until_ms=until_ms, kind=CallKind.CALLBACK)
    share = program.fire(258).main
    assert share is not None
    assert share.culprit is not None
    assert share.culprit.place.function == "crunch"
