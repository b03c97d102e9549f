"""What a hosted session does in which order, with stand-ins for its run and what it draws."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.command import BadCommand, Command
from inspector.commands.scene import AddMark, GoBack, Reload, StepBack
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.errors import CommandError
from inspector.events.conditions.breakpoint import BreakAction
from inspector.events.log import DEFAULT_BUDGET_BYTES
from inspector.sessions import hosted
from inspector.sessions.breakpoints.breakpoints import BreakpointHit
from inspector.sessions.hosted import HostedSession
from inspector.sessions.interval_meter import KnownShares
from inspector.sessions.replay.journal import CommandPlace
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.vocabulary import Reading

AT_ONCE, BEFORE, END = CommandPlace.AT_ONCE, CommandPlace.BEFORE_FRAME, CommandPlace.WAKE_END


class Stand:
    """A session of which only the session itself is real; what it asks for is noted."""

    def __init__(self, **run: object) -> None:
        self.done: list[Any] = []
        note = self.done.append
        state: dict[str, Any] = {
            "loaded": "scene",
            "is_running": False,
            "is_in_callback": False,
            "is_in_step": False,
            "frames_run": 5,
            "command_number": 3,
            "unreported": 4,
            "stopped_by": None,
            "broken_by": None,
            "problem": None,
        }
        self.run = SimpleNamespace(
            **(state | run),
            log="the log",
            stage=SimpleNamespace(drawing="a drawing"),
            breakpoints=SimpleNamespace(is_any_enabled=True),
            fold=lambda: note("fold"),
            step_on=lambda slice_ns: note(("step on", slice_ns)),
            begin_step=lambda *given: note(("step", *given)),
            end_step=lambda: note("end step"),
            leave_if_forked=lambda: note("leave if forked"),
            close=lambda: note("close run"),
            apply=lambda command, number, place: note((command, number, place)),
        )
        self.pictures = SimpleNamespace(
            is_wanted=False, newest_frame=4, draw=lambda *each: note(("draw", *each))
        )
        session: Any = HostedSession.__new__(HostedSession)
        session._run = self.run
        session._commands = deque()
        session._owner = 0
        session.rewinding = session._meter = session._sampler = None
        session._is_applying = session._wants_step_to_end = False
        session._is_closed = session._has_frame_run = False
        session.slice_ns = 9
        session.pictures = self.pictures
        session.recorder = SimpleNamespace(
            pump=lambda at_once=False: note(("pump", at_once)), close=lambda: note("close recorder")
        )
        session.source = SimpleNamespace(close=lambda: note("close source"))
        self.session = session

    def wait(self, *commands: Command) -> None:
        self.session._commands.extend(commands)


@pytest.mark.parametrize("is_running", [False, True])
def test_that_a_refresh_goes_on_with_a_step_then_applies_records_and_folds(
    *, is_running: bool
) -> None:
    stand = Stand(is_running=is_running)
    stand.wait(Run())

    assert stand.session.refresh() == 4

    applied = [] if is_running else [(Run(), 4, AT_ONCE)]
    assert stand.done == [("step on", 9), *applied, ("pump", not is_running), "fold"]
    assert stand.run.unreported == 0
    assert stand.session.refresh() == 0


def test_that_a_step_that_is_to_end_ends_with_the_next_refresh() -> None:
    stand = Stand()
    stand.session._wants_step_to_end = True

    stand.session.refresh()
    stand.session.refresh()

    assert stand.done == [
        "end step",
        ("pump", True),
        "fold",
        ("step on", 9),
        ("pump", True),
        "fold",
    ]


@pytest.mark.parametrize(
    ("state", "unreported", "newest_frame", "is_drawn"),
    [
        ({}, 4, 4, True),
        ({}, 0, 3, True),
        ({}, 0, 4, False),
        ({"is_running": True}, 4, 3, False),
        ({"is_in_callback": True}, 4, 3, False),
        ({"is_in_step": True}, 4, 3, False),
    ],
)
def test_that_a_held_scene_that_is_watched_is_drawn_when_there_is_something_new(
    state: dict[str, object], unreported: int, newest_frame: int, *, is_drawn: bool
) -> None:
    stand = Stand(**state, unreported=unreported)
    stand.session.refresh()
    assert all(each[0] != "draw" for each in stand.done)
    stand.run.unreported = unreported
    stand.pictures.is_wanted, stand.pictures.newest_frame = True, newest_frame
    stand.done.clear()

    stand.session.refresh()

    drawn = [("draw", "a drawing", 4, "the log"), "leave if forked"]
    assert stand.done[3:] == (drawn if is_drawn else [])


def test_that_a_frame_is_drawn_and_checked_after_it_but_a_command_only_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand = Stand()
    monkeypatch.setattr(
        hosted, "act_on_hits", lambda _run, *, after_frame: stand.done.append(after_frame)
    )

    for stand.pictures.is_wanted in (False, True):
        for after_frame in (False, True):
            stand.session.check_breakpoints(after_frame=after_frame)
    stand.run.breakpoints.is_any_enabled = False
    stand.session.check_breakpoints(after_frame=False)

    drawn = [("draw", "a drawing", 4, "the log"), "leave if forked"]
    assert stand.done == [False, True, False, *drawn, True]


def test_that_commands_wait_for_a_frame_or_for_the_end_of_a_wake_up_with_one() -> None:
    stand, mark = Stand(is_running=True), AddMark("here")
    session, done = stand.session, stand.done
    stand.wait(mark)
    session.end_wake()
    assert done == [("pump", False)]

    session._is_applying = True
    session.before_frame()
    assert done[1:] == []
    session._is_applying = False
    session.before_frame()
    assert done[1:] == [(mark, 4, BEFORE)]
    stand.wait(mark, Hold(), mark)
    session.before_frame()
    assert done[2:] == [(mark, 5, BEFORE)]
    session.end_wake()
    assert done[3:] == [("pump", False), (Hold(), 6, END), (mark, 7, END)]
    stand.wait(mark)
    session.end_wake()
    # Of a wake-up without a frame only that of a scene that has been held.
    assert done[6:] == [("pump", False)]
    stand.run.is_running = False
    session.end_wake()
    assert done[7:] == [("pump", False), (mark, 8, END)]


@pytest.mark.parametrize("busy", ["rewinding", "step", "applying", "callback", "running"])
def test_that_commands_wait_while_something_else_goes_on(busy: str) -> None:
    stand = Stand(
        is_in_step=busy == "step", is_in_callback=busy == "callback", is_running=busy == "running"
    )
    stand.session.rewinding = "a run" if busy == "rewinding" else None
    stand.session._is_applying = busy == "applying"
    stand.wait(Run())

    stand.session._apply_if_idle()

    assert (stand.done, len(stand.session._commands)) == ([], 1)


def test_that_a_step_is_made_in_slices_only_while_nothing_runs() -> None:
    stand = Stand()
    stand.session._wants_step_to_end = True

    for place in AT_ONCE, END:
        stand.session._apply(StepFrames(3), place)
    stand.run.is_running = True
    stand.session._apply(StepFrames(3), END)

    assert stand.done == [
        ("step", StepFrames(3), 4, AT_ONCE),
        ("step on", 9),
        ("step", StepFrames(3), 5, END),
        ("step on", 9),
        (StepFrames(3), 6, END),
    ]
    assert not stand.session._wants_step_to_end


def test_that_what_replaces_the_run_is_not_applied_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stand, other = Stand(), Stand(command_number=30)
    monkeypatch.setattr(HostedSession, "_reload", lambda _self, number: reload(number))
    monkeypatch.setattr(
        HostedSession, "_goes_back", lambda _self, command, *_: command == StepBack(1)
    )

    def reload(number: int) -> None:
        stand.done.append(("reload", number))
        stand.session._run = other.run

    stand.wait(StepBack(1), Hold(), StepBack(2), Reload(), Run())
    stand.session._apply_waiting(END)

    # Reloading has left the wake-up.
    back: GoBack = StepBack(2)
    assert stand.done == [(Hold(), 5, END), (back, 6, END), ("reload", 7)]
    assert other.done == [(Run(), 31, AT_ONCE)]


def test_that_where_a_scene_stands_is_told_by_what_holds_it() -> None:
    stand = Stand()
    told = stand.session._stopped_status
    assert told("5 s") == SessionStatus(SessionPhase.HELD, "Held at 5 s.")
    assert (told("5 s").breakpoint, told("5 s").detail) == (0, "")

    stand.run.broken_by = BreakpointHit(6, BreakAction.HOLD, 5, 0, 1_234, 0, "boss fired")
    hit = told("5 s")
    assert (hit.phase, hit.breakpoint) == (SessionPhase.HELD, 6)
    assert hit.message == "Held at 5 s in frame 1,234 because boss fired."
    stand.run.stopped_by = SimpleNamespace(
        error=ValueError("no"), label="boss", traceback_text="Traceback"
    )
    failed = told("5 s")
    assert (failed.phase, failed.detail) == (SessionPhase.HELD, "Traceback")
    assert failed.message == "Stopped at 5 s because “boss” failed: ValueError: no"
    stand.run.is_in_step, stand.run.step_began_at = True, 4
    assert told("5 s").phase is SessionPhase.STEPPING
    stand.session.rewinding = SimpleNamespace(frame=1_234, percent=12)
    assert told("5 s").phase is SessionPhase.REWINDING
    assert told("5 s").message == "Going back to frame 1,234: 12 % replayed."


def test_that_intervals_are_measured_once_and_only_where_waits_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand = Stand()
    session, run = stand.session, stand.run
    session.source = VirtualTimeSource()
    session.measure_intervals()
    assert session._meter is None

    reported: list[Any] = []
    session.source = SimpleNamespace(
        now_ns=lambda: 5,
        report_waits=lambda *each: reported.append(each),
        close=lambda: stand.done.append("close source"),
    )
    run.source = SimpleNamespace()
    run.is_calling = lambda: False
    run.tree = SimpleNamespace(root=SimpleNamespace(id=7))
    made: list[Any] = []

    def sampler(clock_id: int, until_wake_ns: object) -> object:
        made.append((clock_id, until_wake_ns))
        return SimpleNamespace(close=lambda: stand.done.append("close sampler"))

    monkeypatch.setattr(hosted, "SceneSampler", sampler)
    session.measure_intervals()
    session.measure_intervals()
    meter: Any = vars(session)["_meter"]
    session._meter_run(run)

    assert reported == [(meter.wait, meter.poll)]
    assert made == [(7, meter.until_wake_ns)]
    assert (run.shares, run.source.meter, run.is_calling) == (meter, meter, meter.is_calling)
    assert run.sampler is session._sampler
    meter.close()
    session._meter = SimpleNamespace(close=lambda: stand.done.append("close meter"))
    session.close()
    assert session.status.phase is SessionPhase.EMPTY
    session.close()
    assert stand.done == [
        *("end step", "close recorder", "close run", "close meter", "close sampler"),
        "close source",
    ]


class NotedSource(VirtualTimeSource):
    """Virtual time that brings a run to an instant, at once."""

    def __init__(self, stand: Stand, reached_ns: int) -> None:
        super().__init__()
        self._stand, self._reached_ns = stand, reached_ns

    @override
    def pass_ns(self, duration_ns: int) -> None:
        self._stand.done.append(("pass", duration_ns))
        self._stand.run.session_ns, self._stand.run.ahead_ns = self._reached_ns - 2, 2

    @override
    def jump_ns(self, duration_ns: int) -> None:
        self._stand.done.append(("jump", duration_ns))

    @override
    def wake_if_due(self) -> None:
        self._stand.done.append("wake")


def virtual(reached_ns: int = 0, *, ahead_ns: int = 3) -> Stand:
    """Return a session whose run has reached 100 ns, and its source a little more."""
    stand = Stand(session_ns=100, ahead_ns=ahead_ns)
    stand.run.set_period = lambda period_ns: stand.done.append(("period", period_ns))
    stand.run.sync = lambda: stand.done.append("sync")
    stand.session.source = NotedSource(stand, reached_ns)
    return stand


@pytest.mark.parametrize(
    ("at_ns", "period_ns", "passes_ns"),
    [(120, 20, 17), (102, 2, 0), (100, 1, 0), (90, 1, 0), (104, 4, 1)],
)
def test_that_a_frame_is_due_at_the_instant_to_which_time_passes(
    at_ns: int, period_ns: int, passes_ns: int
) -> None:
    stand = virtual(at_ns)
    stand.session.pass_to(at_ns)
    assert stand.done == [("period", period_ns), ("pass", passes_ns)]


@pytest.mark.parametrize(("reached_ns", "is_synced"), [(110, True), (120, True), (121, False)])
def test_that_without_a_frame_clocks_are_brought_up_to_an_instant_with_nothing_due(
    reached_ns: int, *, is_synced: bool
) -> None:
    stand = virtual(reached_ns)
    stand.session.pass_to(120, with_frame=False)
    assert stand.done[:2] == [("period", 1_000_000_020), ("pass", 17)]
    assert stand.done[2:] == ["sync"] * is_synced


@pytest.mark.parametrize(
    ("duration_ns", "ahead_ns", "jumps_ns"),
    [(20, 3, 17), (3, 3, 1), (4, 3, 1), (5, 3, 2), (2, 9, 1)],
)
def test_that_a_blocked_host_reads_its_clocks_once_a_frame(
    duration_ns: int, ahead_ns: int, jumps_ns: int
) -> None:
    stand = virtual(ahead_ns=ahead_ns)
    stand.session.block_ns(duration_ns)
    assert stand.done == [
        *(("period", 1), ("jump", jumps_ns), "wake"),
        *(("period", duration_ns + 1_000_000_000), ("pass", 0)),
    ]


def test_that_no_virtual_time_passes_for_real_sources_or_without_a_scene() -> None:
    stand = virtual()
    stand.run.loaded = None
    stand.session.pass_to(120)
    stand.session.block_ns(20)
    assert stand.done == []
    stand.session.source = SystemTimeSource()
    with pytest.raises(TypeError, match="only virtual time can be advanced, not "):
        stand.session.pass_to(120)
    with pytest.raises(TypeError, match="only a virtual time source can be blocked, not "):
        stand.session.block_ns(20)


@pytest.mark.parametrize("is_manual", [False, True])
def test_that_the_second_run_takes_over_when_all_is_replayed(*, is_manual: bool) -> None:
    former, second = Stand(), Stand(loaded="scene" if is_manual else None)
    session, done = former.session, former.done
    former.run.source = SimpleNamespace(on_reading="note", meter="meter")
    second.run.source = SimpleNamespace(
        is_manual=is_manual, relative_ns=70, go_live=lambda: done.append("go live")
    )
    second.run.note_rewind = lambda *each: done.append(("rewind", *each))
    second.run.note = lambda *each: done.append(("note", *each))
    second.run.watch_from_here = lambda: done.append("watch")
    session.pictures.forget_from = lambda frame: done.append(("forget", frame))
    session.rewinding = rewinding = SimpleNamespace(
        former=former.run, second=second.run, applied="back", number=8
    )

    session._hand_over(rewinding)

    assert (session._run, session.rewinding) == (second.run, None)
    assert (second.run.driver, second.run.recorder) == (session, session.recorder)
    assert (former.run.source.on_reading, former.run.source.meter) == (None, None)
    advanced = [("note", Reading.ADVANCED, 70), "watch"] if is_manual else []
    assert done == [
        *("close run", "go live", ("rewind", 8, "back"), ("forget", 5)),
        *(*advanced, ("pump", False)),
    ]


@pytest.mark.parametrize(
    ("is_running", "applied", "is_held"),
    [(True, None, True), (True, "at once", False), (False, None, False)],
)
def test_that_a_running_scene_is_held_while_it_goes_back(
    monkeypatch: pytest.MonkeyPatch, *, is_running: bool, applied: object, is_held: bool
) -> None:
    stand = Stand(is_running=is_running)
    run, session, done = stand.run, stand.session, stand.done
    run.journal = SimpleNamespace(is_given_up=False, beginning="the beginning")
    run.timeline = SimpleNamespace(frames=SimpleNamespace(first=0, end=5))
    run.source = SimpleNamespace(beside=lambda: "a second source")
    second = SimpleNamespace()

    def made(what: object) -> Callable[..., object]:
        def make(*given: object) -> object:
            done.append(given)
            return what

        return make

    monkeypatch.setattr(session, "_next_run", made(second))
    monkeypatch.setattr(session, "_go_on_rewinding", lambda: done.append("go on"))
    rewinding = SimpleNamespace(applied=applied, number=8)
    monkeypatch.setattr(hosted, "Rewinding", made(rewinding))
    back: Any = SimpleNamespace(frame_to_go_back_to=lambda _timeline, frames: frames - 3)

    assert session._goes_back(back, 8, END)

    held = [(Hold(), 8, END)] if is_held else []
    assert done == [
        *("fold", ("a second source", "the beginning"), (back, 8, 2, run, second), "go on"),
        *held,
    ]
    assert isinstance(second.shares, KnownShares)
    assert (rewinding.number, run.command_number) == ((9, 9) if is_held else (8, 3))


def test_that_breaking_off_cancels_going_back_and_ends_the_step() -> None:
    stand = Stand()
    session, done = stand.session, stand.done
    stand.run.timeline = "timeline"
    session.rewinding = SimpleNamespace(
        number=8,
        give_up=lambda: done.append(("give up", session.rewinding)),
        command=SimpleNamespace(sentence=lambda timeline: f"go back in {timeline}"),
    )
    session._wants_step_to_end = True

    session.break_off()
    session.break_off()

    cancelled = BadCommand("go back in timeline", "It was cancelled before it finished.")
    assert done == [("give up", None), (cancelled, 8, AT_ONCE), "end step", "end step"]
    assert not session._wants_step_to_end
    assert not session._is_applying


@pytest.mark.parametrize("is_done", [False, True])
def test_that_going_back_goes_on_until_it_is_done_or_interrupted(*, is_done: bool) -> None:
    stand = Stand()
    session, done = stand.session, stand.done

    def go_on(slice_ns: int) -> bool:
        done.append((slice_ns, session._is_applying))
        return is_done

    session._hand_over = done.append
    session._go_on_rewinding()
    session.rewinding = rewinding = SimpleNamespace(go_on=go_on)
    session._go_on_rewinding()
    assert done == [(9, True), *([rewinding] if is_done else [])]

    def interrupted(_slice_ns: int) -> bool:
        raise KeyboardInterrupt

    session.rewinding = SimpleNamespace(go_on=interrupted, give_up=lambda: done.append("give up"))
    with pytest.raises(KeyboardInterrupt):
        session._go_on_rewinding()
    assert (done[-1], session.rewinding, session._is_applying) == ("give up", None, False)


@pytest.mark.parametrize(
    ("generation", "keeps_all", "budget_bytes", "forgets"),
    [(2, False, DEFAULT_BUDGET_BYTES, []), (3, True, sys.maxsize, ["forget", "restart"])],
)
def test_that_a_journal_of_another_generation_begins_new_time(
    monkeypatch: pytest.MonkeyPatch,
    generation: int,
    budget_bytes: int,
    forgets: list[str],
    *,
    keeps_all: bool,
) -> None:
    former, second = Stand(generation=2), Stand(generation=generation)
    session, done = former.session, former.done
    former.run.source = "a source"
    second.run.source = SimpleNamespace(go_live=lambda: done.append("go live"))
    session.annotations = SimpleNamespace(clear=lambda: done.append("forget"))
    session.source = SimpleNamespace(
        wake_errors=None, restart_measurement=lambda: done.append("restart")
    )

    def next_run(*given: object, budget_bytes: int) -> object:
        done.append((*given, budget_bytes))
        return second.run

    def steps() -> Iterator[None]:
        done.append(("follows", session._is_applying))
        yield

    session._next_run = next_run
    monkeypatch.setattr(hosted, "ScriptFollower", lambda *_: SimpleNamespace(steps=steps))
    # By default, the oldest events may be dropped.
    kept = {"keeps_all": True} if keeps_all else {}
    session.run_again(SimpleNamespace(beginning="the beginning"), **kept)

    assert done == [
        *("close run", ("a source", "the beginning", budget_bytes)),
        *(("follows", True), "go live", *forgets),
    ]
    assert (session._run, session._is_applying) == (second.run, False)
    assert (second.run.driver, second.run.recorder) == (session, session.recorder)
    assert second.run.breakpoints is former.run.breakpoints


@pytest.mark.parametrize("why", ["no scene", "given up", "refused"])
def test_that_what_cannot_be_gone_back_to_is_left_to_the_run(why: str) -> None:
    stand = Stand(loaded=None if why == "no scene" else "scene")
    stand.run.journal = SimpleNamespace(is_given_up=why == "given up")
    stand.run.timeline = "timeline"

    def refuse(_timeline: object, _frames: int) -> int:
        assert why == "refused"
        raise CommandError("no")

    back: Any = SimpleNamespace(frame_to_go_back_to=refuse)
    assert not stand.session._goes_back(back, 8, END)
    assert (stand.done, stand.session.rewinding) == (["fold"], None)
