"""Commands to attached programs: holding, rates, steps, pauses, undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks.rate import D
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Capability
from inspector.commands.scene import AddMark, StepBack, Undo
from inspector.commands.timers import ClearTimer
from inspector.commands.transport import Hold, Run, StepFrames, StepToNextTimer
from inspector.errors import CommandError
from inspector.events import EventLog
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.probe.adapters import KEEPS_TIME
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.attached.session_numbers import ABOVE_PROGRAM, ROOT_ID
from inspector.sessions.attached.target import (
    AttachedTarget,
    RemoteClock,
    RemoteFamily,
    RemoteSteps,
    RemoteTransport,
)
from inspector.sessions.breakpoints.breakpoints import BreakpointHit, Breakpoints
from inspector.sessions.session import SessionPhase
from inspector.vocabulary import (
    BREAKPOINT_HIT,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_RESUMED,
    COMMAND,
    FRAME_BEGAN,
    FRAME_ENDED,
    MARK,
    NEVER,
    RATE_DENOMINATOR,
    TIMER_FIRED,
)
from tests.sessions.attached.fake_probe import (
    MS,
    SECOND,
    SERVER,
    Attachment,
    FakeProbe,
    running,
)


def test_that_holding_pauses_the_program_and_is_shown_when_it_is_paused(
    attachment: Attachment,
) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(Hold())
    assert session.is_running

    attachment.settle(lambda: not session.is_running and session.timeline.commands)

    assert probe.asked == [("Clock.pause", {"clock": 1, "cause": 1})]
    record = session.timeline.commands[0]
    assert (record.number, record.text, record.refusal) == (1, "hold", "")
    clock = session.timeline.clocks[SERVER]
    assert clock.paused
    assert clock.pause_cause == 1
    assert session.status.phase is SessionPhase.HELD
    attachment.settle(lambda: session.timeline.holds)
    local_ns, held_ns = session.timeline.local_ns(SERVER), session.timeline.at_ns
    attachment.hand.advance(1_000)
    session.refresh()
    # As that of a scene that is held; what is recorded lasts as long as it takes.
    assert session.timeline.at_ns == held_ns
    assert session.present_ns > held_ns + 900 * MS
    assert session.timeline.local_ns(SERVER) == local_ns

    session.submit(Run())
    attachment.settle(lambda: session.is_running)
    assert probe.asked[-1] == ("Clock.resume", {"clock": 1, "cause": 2})
    assert session.timeline.at_ns > held_ns + 900 * MS


def test_that_a_program_holds_itself_at_the_end_of_a_turn_that_a_breakpoint_waits_for(
    attachment: Attachment,
) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TURN_ABOVE, limit_ns=100 * MS)))
    attachment.settle(lambda: bool(probe.asked))
    assert probe.asked == [("Program.hold_after", {"turn_ns": 100 * MS, "cause": 1})]

    now_ns = attachment.hand()
    probe.events(
        (now_ns - 200 * MS, FRAME_BEGAN, 1, 0, 0),
        (now_ns, FRAME_ENDED, 1, 0, 200 * MS),
        (now_ns, CLOCK_PAUSED, 1, 1, now_ns),
    )
    attachment.settle(lambda: session.status.breakpoint == 1)

    assert not session.is_running
    assert session._joined.wants_hold
    assert "it took 200 ms" in session.status.message
    session.submit(Run())
    attachment.settle(lambda: bool(session.timeline.commands[2:]))
    assert probe.asked[1:] == [("Clock.resume", {"clock": 1, "cause": 3})]


def test_that_a_rate_is_exact_and_can_be_undone(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(SetRate(SERVER, Fraction(1, 4)))
    attachment.settle(lambda: session.timeline.clocks[SERVER].rate_n != RATE_DENOMINATOR)
    cause = {"clock": 1, "rate_n": RATE_DENOMINATOR // 4, "cause": 1}
    assert probe.asked == [("Clock.rate", cause)]
    (changed_ns,) = (each[0] for each in session.log.read().events if each[1] == CLOCK_RATE)
    at_ns = changed_ns + 4_000
    assert session.timeline.local_ns(SERVER, at_ns) == changed_ns + 1_000
    assert session.undoing.newest == 1


def test_that_what_a_program_refuses_is_a_refused_command(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    probe.refusals["Timer.clear"] = "uvloop cannot clear timers that were set before."
    session.submit(ClearTimer(1))
    attachment.settle(lambda: session.timeline.commands)
    assert session.timeline.commands[0].text == "clear “beat”"
    assert session.timeline.commands[0].refusal == probe.refusals["Timer.clear"]
    assert session.undoing.newest == 0


def test_that_capabilities_have_a_reason_for_each_clock(attachment: Attachment) -> None:
    session = attachment.session
    assert session.why_not(Capability.PAUSE, SERVER) == "no program is attached yet"
    probe = running(attachment)
    probe.clock(2, "loop", parent=1)
    why = "The loop has no clock that could be replaced."
    probe.tell(
        "Program.changed",
        clocks=[
            {"clock": 1, "title": "server", "capabilities": {"pause": True, "rate": True}},
            {"clock": 2, "title": "loop", "capabilities": {"pause": True, "rate": why}},
        ],
    )
    attachment.settle(lambda: SERVER + 1 in session.timeline.clocks)
    attachment.settle(lambda: session.why_not(Capability.RATE, SERVER + 1))
    assert session.why_not(Capability.RATE, SERVER + 1) == why.removesuffix(".")
    assert not session.why_not(Capability.PAUSE, SERVER + 1)
    assert not session.why_not(Capability.RATE, SERVER)
    assert session.why_not(Capability.RATE, 1).startswith("the session's own time is real time")
    assert session.why_not(Capability.REWIND) == "an attached program cannot be rewound"
    assert not session.why_not(Capability.RECORD)
    session.submit(SetRate(SERVER + 1, Fraction(2)))
    attachment.settle(lambda: session.timeline.commands)
    assert session.timeline.commands[0].refusal == why
    assert session.driven_clock(0) == SERVER
    assert session.driven_clock(SERVER + 1) == SERVER + 1

    probe.tell("Program.changed", grant="read-only")
    attachment.settle(lambda: session.why_not(Capability.PAUSE, SERVER))
    # Of all programs together, too.
    for clock_id in (SERVER, 0):
        assert session.why_not(Capability.PAUSE, clock_id) == "“server” allows reading only"


def test_that_rewinding_is_refused_with_a_sentence(attachment: Attachment) -> None:
    session = attachment.session
    running(attachment)
    session.submit(StepBack())
    attachment.settle(lambda: session.timeline.commands)
    assert session.timeline.commands[0].refusal == "An attached program cannot be rewound."


def test_that_a_step_is_over_when_the_program_is_held_again(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(StepFrames(2))
    attachment.settle(lambda: session.timeline.commands)
    assert session.timeline.commands[0].refusal == "The scene is running. Hold it first."
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)
    session.submit(StepFrames(2))
    attachment.settle(lambda: len(session.timeline.commands) == 3)
    assert probe.asked[-1] == ("Program.step", {"clock": 1, "frames": 2, "cause": 3})
    assert session.status.phase is SessionPhase.STEPPING
    for step in (StepFrames(1), StepToNextTimer()):
        session.submit(step)
    attachment.settle(lambda: len(session.timeline.commands) == 5)
    assert [each.refusal for each in session.timeline.commands[3:]] == [
        "“server” is still taking the step before, which passes in real time."
    ] * 2
    assert session.status.phase is SessionPhase.STEPPING
    probe.tell("Program.held", held=True, frame=2)
    attachment.settle(lambda: session.status.phase is SessionPhase.HELD)


def test_that_a_program_that_runs_is_held_and_stepped_at_once(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    for command in (Hold(), StepFrames(2)):
        session.submit(command)
    attachment.settle(lambda: len(session.timeline.commands) == 2)
    assert [method for method, _ in probe.asked] == ["Clock.pause", "Program.step"]
    now_ns = attachment.hand()
    probe.events((now_ns, CLOCK_RESUMED, 1, 2, 0), (now_ns + 1, CLOCK_PAUSED, 1, 0, 0))
    probe.tell("Program.held", held=True, frame=2)
    (program,) = session.programs.values()
    attachment.until(lambda: program.step_ended_ns is not None)
    # Its pause is not in the timeline yet.
    assert session.status.phase is SessionPhase.STEPPING
    session.submit(StepFrames(1))
    attachment.until(lambda: len(probe.asked) == 3)
    assert program.is_stepping
    assert not any(each.refusal for each in session.timeline.commands)


def join_second(attachment: Attachment, *timers: tuple[int, str, int]) -> FakeProbe:
    second = attachment.join(pid=5, name="worker")
    second.keyframe(*timers)
    attachment.settle(lambda: len(attachment.session.own_clocks()) == 2)
    return second


def test_that_all_programs_step_to_the_next_timer_of_any(attachment: Attachment) -> None:
    session = attachment.session
    first = running(attachment)
    second = join_second(attachment, (1, "soon", 300 * MS))
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)
    waits = [
        due - session.timeline.local_ns(c) for c, due in ((SERVER, 500 * MS), (SECOND, 300 * MS))
    ]
    assert waits[1] < waits[0]
    session.submit(StepToNextTimer())
    attachment.settle(lambda: len(session.timeline.commands) == 2)
    assert second.asked[-1][1] == {"clock": 1, "to": "next_timer", "cause": 2}
    assert first.asked[-1][1] == {"clock": 1, "local_ns": waits[1], "cause": 2}


def test_that_a_timer_that_is_overdue_does_not_keep_other_programs_from_a_step(
    attachment: Attachment,
) -> None:
    session = attachment.session
    first = running(attachment)
    second = join_second(attachment, (1, "soon", 300 * MS), (2, "late", 1))
    attachment.hand.advance(20)
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)
    wait_ns = 300 * MS - session.timeline.local_ns(SECOND)
    session.submit(StepToNextTimer())
    attachment.settle(lambda: len(session.timeline.commands) == 2)
    assert second.asked[-1][1] == {"clock": 1, "to": "next_timer", "cause": 2}
    assert first.asked[-1][1] == {"clock": 1, "local_ns": wait_ns, "cause": 2}


def test_that_a_timer_that_is_due_now_does_not_keep_other_programs_from_a_step(
    attachment: Attachment,
) -> None:
    session = attachment.session
    first = running(attachment)
    second = join_second(attachment, (1, "soon", 300 * MS))
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)
    now_ns = session.timeline.local_ns(SECOND)
    second.timer(2, "now", now_ns)
    attachment.settle(lambda: now_ns in session.timeline.timers.due)
    assert session.timeline.local_ns(SECOND) == now_ns
    session.submit(StepToNextTimer())
    attachment.settle(lambda: len(session.timeline.commands) == 2)
    assert first.asked[-1][1] == {"clock": 1, "local_ns": 300 * MS - now_ns, "cause": 2}


def test_that_a_program_joins_held_programs_held(attachment: Attachment) -> None:
    session = attachment.session
    running(attachment)
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)
    child = attachment.join(pid=5, parent_pid=4_711, name="child")
    child.keyframe()
    attachment.settle(lambda: child.asked)
    assert child.asked == [("Clock.pause", {"clock": 1, "cause": 1})]
    attachment.settle(lambda: session.timeline.clocks[SECOND].paused)

    child.close()
    attachment.settle(lambda: SECOND not in session.timeline.clocks)
    assert "“child” is no longer attached" in session.timeline.marks[-1].text
    assert session.status.phase is SessionPhase.HELD


def test_that_a_program_and_its_children_are_paused_together_and_undone_alone(
    attachment: Attachment,
) -> None:
    session, clocks = attachment.session, attachment.session.timeline.clocks
    running(attachment)
    attachment.settle(session.own_clocks)
    for pid, parent_pid in ((5, 4_711), (6, 4_711), (9, 1)):
        attachment.join(pid=pid, parent_pid=parent_pid, name=f"process {pid}").keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 4)
    family = clocks[SERVER].parent_id
    children = clocks[family].children

    def become(*paused: int) -> None:
        attachment.settle(
            lambda: tuple(each for _, each in session.own_clocks() if clocks[each].paused) == paused
        )

    session.submit(PauseClock(children[1]))
    become(children[1])

    session.submit(PauseClock(family))
    become(*children)
    assert [clocks[each].pause_cause for each in children] == [2, 1, 2]
    # What was paused on its own before stays so.
    session.submit(Undo(2))
    become(children[1])

    session.submit(PauseClock(family))
    become(*children)
    session.submit(ResumeClock(family))
    become(children[1])
    session.submit(Undo(5))
    become(*children)
    for each in children:
        session.submit(ResumeClock(each))
    become()
    # Paused one by one, they are resumed together.
    for each in children:
        session.submit(PauseClock(each))
    become(*children)
    session.submit(ResumeClock(family))
    become()


def test_that_what_is_not_held_of_a_held_program_is_named(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    gevent = {"name": "gevent", "library": "gevent", "state": "failed", "message": KEEPS_TIME}
    probe.tell("Program.changed", adapters=[gevent])
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)

    assert session.status.message.startswith("“server” is held, but what gevent calls runs on.")


def test_that_a_breakpoint_holds_the_program(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "beat")))
    attachment.hand.advance(500)
    probe.events((attachment.hand.now_ns, TIMER_FIRED, 1, 0, NEVER))
    attachment.settle(lambda: not session.is_running)
    assert probe.asked[-1][0] == "Clock.pause"
    assert "because" in session.status.message
    assert [each.number for each in session.timeline.hits] == [1]


def test_that_a_breakpoint_is_not_hit_by_the_mark_that_it_leaves(attachment: Attachment) -> None:
    session = attachment.session
    running(attachment)
    on_marks = Breakpoint(BreakKind.CONDITION, condition='kind == "mark"', action=BreakAction.MARK)
    session.submit(AddBreakpoint(on_marks))
    session.refresh()
    session.submit(AddMark("here"))
    attachment.settle(lambda: len(session.timeline.marks) == 2)

    for _ in range(10):
        attachment.hand.advance(500)
        session.refresh()

    assert session.breakpoints.hits(1) == 1
    assert len(session.timeline.marks) == 2


def _bare(kind: Any) -> Any:  # noqa: ANN401 - a class
    return kind.__new__(kind)


def test_that_what_is_never_possible_with_other_processes_is_refused() -> None:
    family, target = _bare(RemoteFamily), _bare(AttachedTarget)
    target.programs = SimpleNamespace(own_clocks=list)
    asks: list[Callable[[], object]] = [
        lambda: _bare(RemoteClock).fire_now(None),
        lambda: family.fire_now(None),
        lambda: family.clear(None, cause=1),
        lambda: family.set_rate(1, cause=1),
        lambda: _bare(RemoteSteps).to(5),
        lambda: target.tree,
        lambda: target.scene,
        target.check_journal,
    ]
    for ask in asks:
        with pytest.raises(CommandError):
            ask()


def test_that_a_command_is_refused_if_every_program_it_asks_refuses_it() -> None:
    told: list[tuple[int, ...]] = []
    log = EventLog()
    names = {1: "server", 2: "game"}
    timeline = SimpleNamespace(
        clocks={each: SimpleNamespace(paused=False) for each in names},
        frames=SimpleNamespace(end=0),
    )
    recorder: Any = None
    sorter: Any = SimpleNamespace(
        log=log, add=lambda *events: told.extend(events), timeline=timeline
    )
    answers: list[Callable[..., object]] = []
    asked = [
        SimpleNamespace(is_stepping=False, ask_clock=lambda *more: answers.append(more[-1]))
        for _ in names
    ]
    programs: Any = SimpleNamespace(own_clocks=lambda: list(zip(asked, names, strict=True)))
    target: Any = AttachedTarget(programs, sorter, Breakpoints(), recorder, lambda: 5)
    undone: list[int] = []
    target.undoing.done = undone.append

    def refusal(*refusals: str) -> str:
        """Hold both programs, which answer, and return why that was refused."""
        answers.clear()
        told.clear()
        assert target.apply(Hold(), "", "")
        assert (programs.wants_hold, target._asked) == (True, None)
        for answer, each in zip(answers, refusals, strict=True):
            assert not told
            answer({}, each)
        assert {each[0] for each in told} == {5}
        (text,) = (each[-1] for each in told if each[1] == COMMAND)
        return log.strings[text]

    assert refusal("", "") == ""
    assert refusal("no", "") == ""
    assert undone == []
    assert refusal("no", "never") == "no never"
    assert undone == [3]
    assert refusal("no", "no") == "no"
    told.clear()
    assert not target.apply(Hold(), "", "nothing is attached")
    (text,) = (each[-1] for each in told if each[1] == COMMAND)
    assert log.strings[text] == "Nothing is attached."
    target.apply(Run(), "", "")
    assert not programs.wants_hold
    told.clear()
    target.mark("here")
    assert told == [(5, MARK, 0, log.intern("here"), 0)]


@pytest.mark.parametrize(
    ("timers", "wait_ns"),
    [
        ([], None),
        # A timer of another program, and one on a clock that stands still.
        ([(9, 500), (3, 500)], None),
        ([(1, 103)], 3),
        ([(1, 100)], 1),
        ([(1, 90), (1, 107), (1, 105)], 5),
        ([(1, 101), (1, 105)], 1),
        # Such a clock reads 2t + 1: it is at 208 in the middle between 103 and 104.
        ([(2, 208)], 4),
        ([(2, 213), (4, 212)], 3),
    ],
)
def test_that_the_next_timer_of_a_held_program_is_found_on_its_clocks(
    timers: list[tuple[int, int]], wait_ns: int | None
) -> None:
    rates = {1: (D, 0), 2: (2 * D, D), 3: (0, 7 * D), 4: (D, 5 * D)}
    clocks = {each: SimpleNamespace(id=each, n=n, off=off) for each, (n, off) in rates.items()}
    paths = {1: [1, 9], 2: [2, 1, 9], 3: [3, 1, 9], 4: [4, 2, 1, 9]}
    steps = _bare(RemoteSteps)
    clock_ids, dues = [each[0] for each in timers], [each[1] for each in timers]
    steps._target = SimpleNamespace(
        timeline=SimpleNamespace(
            timers=SimpleNamespace(clock=clock_ids, due=dues),
            branch=lambda _clock_id: [1, 2, 3, 4],
            local_ns=lambda _clock_id: 100,
            path=lambda below: [clocks.get(each) for each in paths[below]],
        )
    )
    assert steps._until_next_ns(1) == wait_ns


@dataclass(eq=False)
class Held:
    """A held program that can step, and hears what it is asked."""

    name: str
    ask_clock: Callable[[str, int, dict[str, object], Callable[..., object]], None]
    is_stepping: bool = False
    has_step_begun: bool = False
    step_ended_ns: int | None = None

    def why_not(self, *_: object) -> str:
        return ""


def test_that_a_step_waits_for_the_answer_and_for_steps_before() -> None:
    asked: list[tuple[str, dict[str, object], Callable[..., object]]] = []

    def ask_clock(method: str, _clock_id: int, more: Any, done: Any) -> None:  # noqa: ANN401
        asked.append((method, more, done))

    first, other = Held("server", ask_clock), Held("game", ask_clock)
    steps = _bare(RemoteSteps)
    steps._target = SimpleNamespace(
        programs=SimpleNamespace(own_clocks=lambda: [(first, 1), (other, 2)]),
        expect_answer=lambda: len,
        number=3,
    )
    steps._until_next_ns = lambda _clock_id: None
    with pytest.raises(CommandError, match="No timer is pending"):
        steps.to_next_timer()
    steps._target.expect_answer = lambda: lambda _result, _refusal: None
    steps.frames(2)()
    assert [each[:2] for each in asked] == [("Program.step", {"frames": 2, "cause": 3})] * 2
    assert (first.is_stepping, other.is_stepping) == (True, True)
    asked[0][2]({}, "")
    asked[1][2]({}, "it is busy")
    assert (first.is_stepping, first.has_step_begun) == (True, True)
    assert (other.is_stepping, other.has_step_begun) == (False, False)
    with pytest.raises(CommandError, match="“server” is still taking the step before"):
        steps.to_next_timer()


@pytest.mark.parametrize(
    ("action", "clock_id", "done"),
    [
        (BreakAction.HOLD, 7, [Hold()]),
        (BreakAction.PAUSE_BRANCH, 7, [PauseClock(7)]),
        (BreakAction.PAUSE_BRANCH, ROOT_ID, [PauseClock(3), PauseClock(4)]),
        (BreakAction.PAUSE_BRANCH, 0, [PauseClock(3), PauseClock(4)]),
        (BreakAction.PAUSE_ROOT, 7, [PauseClock(3), PauseClock(4)]),
        (BreakAction.MARK, 7, [(MARK, 0, 70)]),
        (BreakAction.SAVE, 7, ["recorded breakpoint 2"]),
    ],
)
def test_that_a_breakpoint_does_what_it_says(
    action: BreakAction, clock_id: int, done: list[object]
) -> None:
    def apply(command: object, by: str) -> None:
        assert by == "breakpoint 2"
        did.append(command)

    did: list[object] = []
    hit = BreakpointHit(2, action, 5, 6, 9, clock_id, "it is late")
    session: Any = SimpleNamespace(
        log=SimpleNamespace(intern=lambda text: 70 if text == "it is late" else 0),
        note=lambda *given: did.append(given),
        _broken_by=None,
        _joined=SimpleNamespace(wants_hold=False),
        _apply=apply,
        own_clocks=lambda: [("a", 3), ("b", 4)],
        recorder=SimpleNamespace(record_hit=lambda _hit, point: did.append(f"recorded {point}")),
        breakpoints=SimpleNamespace(get=lambda number: f"breakpoint {number}"),
    )
    AttachedSession._act_on(session, hit)
    assert did == [(BREAKPOINT_HIT, 2, 70, 9), *done]
    assert (session._broken_by is hit) is (action is BreakAction.HOLD)
    session._joined.wants_hold = True
    did.clear()
    AttachedSession._act_on(session, hit)
    assert did[1:] == ([] if action is BreakAction.HOLD else done)


@pytest.mark.parametrize("wants_hold", [True, False])
def test_that_a_held_program_goes_on_so_that_it_can_end(*, wants_hold: bool) -> None:
    done: list[object] = []
    session: Any = SimpleNamespace(_opened=None, _is_ending=False)
    AttachedSession.end_program(session)
    session._opened = SimpleNamespace(end=lambda: done.append("end"))
    session._joined = SimpleNamespace(wants_hold=wants_hold)
    session.submit = done.append
    AttachedSession.end_program(session)
    assert done == [*([Run()] if wants_hold else []), "end"]
    assert session._is_ending


def test_that_a_clock_of_a_program_asks_it_for_what_is_its_own() -> None:
    asked: list[tuple[object, ...]] = []
    note = lambda *given: asked.append(given)  # noqa: E731
    program: Any = SimpleNamespace(ask_clock=note, link=SimpleNamespace(request=note))
    clocks = {SECOND: SimpleNamespace(rate=Fraction(1, 4))}
    target: Any = SimpleNamespace(
        expect_answer=lambda: "done", timeline=SimpleNamespace(clocks=clocks)
    )
    clock = RemoteClock(target, program, SECOND)
    assert clock.rate == Fraction(1, 4)
    clock.pause(cause=3)
    clock.resume(cause=4)
    clock.set_rate(Fraction(1, 2), cause=5)
    timer: Any = SimpleNamespace(id=(1 << 40) + 9)
    clock.clear(timer, cause=6)
    assert asked == [
        ("Clock.pause", SECOND, {"cause": 3}, "done"),
        ("Clock.resume", SECOND, {"cause": 4}, "done"),
        ("Clock.rate", SECOND, {"rate_n": RATE_DENOMINATOR // 2, "cause": 5}, "done"),
        ("Timer.clear", {"timer": 9, "cause": 6}, "done"),
    ]
    asked.clear()
    pauses: set[int] = set()
    family: Any = RemoteFamily(target, 4, pauses)
    family.concerned = lambda *, pauses: [(program, 7 if pauses else 8)]
    family.pause(cause=7)
    family.resume(cause=9)
    assert asked == [
        ("Clock.pause", 7, {"cause": 7}, "done"),
        ("Clock.resume", 8, {"cause": 9}, "done"),
    ]
    assert (pauses, family.rate) == ({7}, 1)


def test_that_a_family_asks_whom_it_can_pause_and_resumes_what_it_paused() -> None:
    def concerned(*, pauses: bool) -> list[int]:
        return [clock_id for _, clock_id in family.concerned(pauses=pauses)]

    able, unable = (SimpleNamespace(why_not=lambda *_, why=why: why) for why in ("", "no"))
    clocks = {
        5: SimpleNamespace(paused=False, pause_cause=0),
        6: SimpleNamespace(paused=True, pause_cause=1),
        7: SimpleNamespace(paused=True, pause_cause=3),
        8: SimpleNamespace(paused=False, pause_cause=0),
        9: SimpleNamespace(paused=True, pause_cause=3),
    }
    members = [(unable if clock_id in {8, 9} else able, clock_id) for clock_id in clocks]
    target: Any = SimpleNamespace(
        timeline=SimpleNamespace(clocks=clocks),
        programs=SimpleNamespace(family=lambda clock_id: members if clock_id == 4 else []),
    )
    pauses = {3}
    family = RemoteFamily(target, 4, pauses)
    assert (concerned(pauses=True), concerned(pauses=False)) == ([5], [7])
    pauses.clear()
    assert concerned(pauses=False) == [6, 7]


def test_that_a_clock_or_timer_is_reached_while_it_is_there() -> None:
    family = ROOT_ID + ABOVE_PROGRAM
    timers = {11}
    target: Any = _bare(AttachedTarget)
    target._sorter = SimpleNamespace(
        timeline=SimpleNamespace(clocks={SERVER: 0, family: 0, SECOND: 0}, timers=timers)
    )
    target._family_pauses = set()
    target.programs = SimpleNamespace(
        of_clock=lambda clock_id: "game" if clock_id in {SERVER, SERVER + 1} else None,
        own_clocks=lambda: [1],
    )
    reached = [
        type(target.clock(each)) for each in (SERVER, SERVER + 1, SECOND, family, family + 1)
    ]
    none = type(None)
    assert reached == [RemoteClock, none, none, RemoteFamily, none]
    timer = target.timer(SERVER, 11, 0)
    assert (timer.id, type(timer.clock)) == (11, RemoteClock)
    assert [target.timer(*each, 0) for each in ((SERVER, 12), (SECOND, 11))] == [None, None]
    assert target.scene is target


def test_that_the_next_timer_is_stepped_to_by_its_program_and_for_its_time_by_others() -> None:
    asked: list[tuple[object, ...]] = []
    programs = [Held(name, lambda *given: asked.append(given[:3])) for name in "abc"]
    clocks = list(zip(programs, (7, 8, 9), strict=True))
    programs[2].why_not = lambda *_: "it cannot"  # type: ignore[method-assign]
    steps = _bare(RemoteSteps)
    steps._target = SimpleNamespace(
        programs=SimpleNamespace(own_clocks=lambda: clocks), expect_answer=lambda: len, number=3
    )
    steps._until_next_ns = {7: 50, 8: 40}.get
    steps.to_next_timer()()
    assert asked == [
        ("Program.step", 7, {"local_ns": 40, "cause": 3}),
        ("Program.step", 8, {"to": "next_timer", "cause": 3}),
    ]
    asked.clear()
    for each in programs:
        each.is_stepping = False
    steps.by(30)()
    assert [each[2] for each in asked] == [{"local_ns": 30, "cause": 3}] * 2
    for refusing in clocks[2:], []:
        steps._target.programs.own_clocks = lambda refusing=refusing: refusing
        with pytest.raises(CommandError, match=r"^(It cannot|No program is attached)\.$"):
            steps.frames(1)


def test_that_only_what_does_not_do_so_already_is_held_or_runs_on() -> None:
    asked: list[tuple[object, ...]] = []
    programs = [Held(name, lambda *given: asked.append(given[:3])) for name in "abc"]
    programs[2].is_stepping = True
    paused = {7: True, 8: False, 9: True}
    target: Any = SimpleNamespace(
        programs=SimpleNamespace(
            own_clocks=lambda: list(zip(programs, paused, strict=True)), wants_hold=None
        ),
        timeline=SimpleNamespace(
            clocks={each: SimpleNamespace(paused=is_paused) for each, is_paused in paused.items()}
        ),
        expect_answer=lambda: None,
        number=3,
    )
    transport = RemoteTransport(target)
    transport.hold()
    assert asked == [("Clock.pause", each, {"cause": 3}) for each in (8, 9)]
    assert target.programs.wants_hold
    asked.clear()
    transport.run()
    assert asked == [("Clock.resume", each, {"cause": 3}) for each in (7, 9)]
    assert not target.programs.wants_hold
