"""An attached session part by part, with programs and a way in that are played."""

from __future__ import annotations

import threading
from collections import Counter, deque
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.commands.command import Capability
from inspector.commands.transport import Hold, Run
from inspector.errors import AttachError
from inspector.events.conditions.breakpoint import BreakAction
from inspector.probe.wire import WireError
from inspector.sessions.attached.event_sorter import KEYFRAME_BEGUN, KEYFRAME_COMPLETE
from inspector.sessions.attached.link import (
    Answered,
    Batch,
    ClockCompared,
    Ended,
    Notification,
    Unable,
)
from inspector.sessions.attached.program import NEVER_POSSIBLE
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.attached.session_numbers import ABOVE_PROGRAM, ROOT_ID
from inspector.sessions.session import SessionPhase
from inspector.vocabulary import (
    MARK,
    TRANSPORT,
    Mode,
)
from tests.sessions.attached.fake_probe import DryServer, Hand
from tests.sessions.attached.played_session import LINK, do, played_opened, played_program

#: The clock above a program and its children.
FAMILY = ROOT_ID + ABOVE_PROGRAM


class LocatedError(AttachError):
    """An error with a place."""

    detail = "at line 5"


# ------------------------------------------------------------------ what is possible


def test_that_what_is_not_possible_has_the_reason_of_what_it_concerns() -> None:
    own, each = {7: "it is busy"}, {7: "it is busy", 8: ""}
    for capability, clock_id, reasons, told in (
        (Capability.REWIND, 7, own, NEVER_POSSIBLE[Capability.REWIND]),
        (Capability.RECORD, 7, own, ""),
        (Capability.MARK, 7, own, "it is over"),
        (Capability.PROGRAM, 7, own, "it is over"),
        (Capability.STEP, 7, {}, "it is over"),
        (Capability.STEP, 7, own, "it is busy"),
        (Capability.STEP, 8, each, ""),
        (Capability.STEP, 9, each, ""),
        (Capability.STEP, 0, own, "it is busy"),
        (Capability.STEP, 0, {7: "a", 8: "b"}, "a"),
        (Capability.STEP, 0, each, ""),
        (Capability.PAUSE, 0, own, "it is busy"),
        (Capability.PAUSE, FAMILY, own, "it is busy"),
        (Capability.PAUSE, FAMILY, each, ""),
        (Capability.STEP, FAMILY, own, "it is busy"),
        (Capability.PAUSE, 0, each, "the session's own time"),
        (Capability.PAUSE, ROOT_ID, own, "the session's own time"),
        (Capability.RATE, ROOT_ID, own, "the session's own time"),
        (Capability.RATE, FAMILY, each, "the time of “game with children”"),
    ):
        assert _why_not(capability, clock_id, reasons) == told, (capability, clock_id)


def _why_not(capability: Capability, clock_id: int, reasons: dict[int, str]) -> str:
    """Ask a session for programs with these reasons, by clock; it ends the sentence of a clock."""
    programs = {each: played_program(why_not=lambda _, clock: reasons[clock]) for each in reasons}
    clocks = [(program, each) for each, program in programs.items()]
    is_together = clock_id == FAMILY and capability is Capability.PAUSE
    session = SimpleNamespace(
        _end="it is over.",
        own_clocks=lambda: [] if is_together else clocks,
        _joined=SimpleNamespace(family=lambda clock: clocks if clock == FAMILY else []),
        program_of_clock=programs.get,
        timeline=SimpleNamespace(clocks={FAMILY: SimpleNamespace(name="game with children")}),
    )
    told: str = do("why_not", session, capability, clock_id)
    return told.removesuffix(" is real time: select a program or a clock below it")


def test_that_without_programs_it_is_said_whether_there_were_any() -> None:
    session = SimpleNamespace(
        _end="", own_clocks=list, _joined=SimpleNamespace(family=lambda _clock: [])
    )
    told = [do("why_not", session, Capability.PAUSE, *each) for each in ((), (FAMILY,))]
    assert told == ["no program is attached yet", "its programs have ended"]


def test_that_the_state_is_told_from_the_way_in_to_the_end() -> None:
    def told() -> tuple[SessionPhase, str]:
        found = do("status", session)
        return found.phase, found.message

    def do(part: str, session: object) -> Any:  # noqa: ANN401 - any property
        return getattr(AttachedSession, part).fget(session)

    live: list[Any] = []
    clocks: list[object] = []
    session = SimpleNamespace(
        title="server",
        _is_closed=False,
        opening_problem=None,
        programs={},
        _end="",
        about_end="",
        _joined=SimpleNamespace(attached=lambda: live),
        own_clocks=lambda: clocks,
        is_running=True,
        _is_reachable=True,
        _broken_by=SimpleNamespace(text="it is late", number=4),
        _last_end="It has ended.",
    )
    waiting = "Waiting for “server” to connect."
    assert told() == (SessionPhase.WAITING, waiting)
    session.opening_problem = LocatedError("There is none.")
    assert told() == (SessionPhase.FAILED, "There is none.")
    assert do("status", session).detail == "at line 5"
    session.programs = {0: None}
    assert told() == (SessionPhase.WAITING, f"It has ended. {waiting}")
    quiet: dict[str, Any] = {
        "is_silent": False,
        "is_described": True,
        "waits_for": {},
        "limited": [],
    }
    live.append(played_program(**quiet, unheld=[], loss_text=""))
    assert told() == (SessionPhase.WAITING, "Reading the state of “game” …")
    clocks.append(None)
    session._is_reachable = False
    gone = "The socket was removed from outside: no further program can connect."
    assert told() == (SessionPhase.RUNNING, f"“game” is running. {gone}")
    assert do("status", session).breakpoint == 0
    session._is_reachable, session.is_running = True, False
    assert told() == (SessionPhase.HELD, "“game” is held because it is late.")
    assert do("status", session).breakpoint == 4
    session._broken_by, session.about_end = None, "Asked to end."
    assert told() == (SessionPhase.HELD, "“game” is held. Asked to end.")
    live[0].is_stepping = True
    assert told() == (SessionPhase.STEPPING, "“game” is being stepped. Asked to end.")
    session._end = "It is over."
    assert told() == (SessionPhase.ENDED, "It is over. Asked to end.")
    session.about_end = ""
    assert told() == (SessionPhase.ENDED, "It is over.")
    session._is_closed = True
    assert told() == (SessionPhase.EMPTY, "No program is attached.")


# ------------------------------------------------------------------ what programs send


def test_that_more_lost_events_than_there_can_have_been_are_not_believed() -> None:
    def count(counts: dict[str, int]) -> int:
        counted.append(counts)
        return 2

    counted: list[object] = []
    session = SimpleNamespace(_now_ns=lambda: 1_000, _lost_since_mark=4)
    program = played_program(lost=Counter(a=10_000_000 - 3), count_lost=count)
    most = {"7": 6, "8": 3 + 100 // 10 - 6}
    do("_on_lost", session, program, SimpleNamespace(counts=most))
    assert (counted, session._lost_since_mark) == ([most], 6)
    with pytest.raises(WireError, match="more events were lost"):
        do("_on_lost", session, program, SimpleNamespace(counts={**most, "9": 1}))
    assert len(counted) == 1


def test_that_only_a_step_that_has_begun_ends_with_the_next_hold() -> None:
    for held, has_begun, is_over in (
        (True, True, True),
        (True, False, False),
        (False, True, False),
    ):
        told = SimpleNamespace(last_ns=50)
        program = played_program(has_step_begun=has_begun, translation=told)
        do("_on_held", None, program, SimpleNamespace(held=held))
        assert (program.step_ended_ns, program.has_step_begun) == (
            50 if is_over else None,
            has_begun and not is_over,
        )


def test_that_a_described_program_is_held_where_the_others_are() -> None:
    def keyframe(state: str) -> None:
        do("_on_keyframe", session, program, SimpleNamespace(state=state))

    done: list[Any] = []
    session = SimpleNamespace(
        _sorter=SimpleNamespace(add_keyframe=lambda *given: done.append(given)),
        _joined=SimpleNamespace(wants_hold=False),
        _hold_new=done.append,
    )
    program = played_program(
        translation=SimpleNamespace(last_ns=50), note_busy=lambda _: None, is_described=False
    )
    keyframe("partial")
    keyframe("begun")
    assert (done, program.is_described) == ([(3, KEYFRAME_BEGUN, 50)], False)
    keyframe("complete")
    assert (done[1:], program.is_described) == ([(3, KEYFRAME_COMPLETE, 50)], True)
    session._joined.wants_hold = True
    keyframe("begun")
    keyframe("complete")
    assert done[-1] is program
    assert done.count(program) == 1

    asked: list[tuple[Any, ...]] = []
    clocks = [(program, 7), (played_program(), 8), (program, 9)]
    paused = {each: SimpleNamespace(paused=each == 9) for each in (7, 8, 9)}
    program.ask_clock = lambda *given: asked.append(given)
    session = SimpleNamespace(
        now_ns=60,
        _settle=asked.append,
        own_clocks=lambda: clocks,
        timeline=SimpleNamespace(clocks=paused),
        _target=SimpleNamespace(number=11),
    )
    do("_hold_new", session, program)
    assert asked == [60, ("Clock.pause", 7, {"cause": 11})]


def test_that_each_kind_of_news_goes_to_its_part() -> None:
    def handle(news: object) -> None:
        do("_handle", session, program, news)

    done: list[Any] = []

    def rows(*given: object) -> str:
        program.translation.top_clock_id = top
        done.append(given)
        return "rows"

    note = lambda *given: done.append(given)  # noqa: E731
    session = SimpleNamespace(
        _began_ns=100,
        now_ns=60,
        _target=SimpleNamespace(number=11),
        _sorter=SimpleNamespace(add_rows=note),
        _joined=SimpleNamespace(put_children_below=note),
        _end_program=note,
        _handlers={"Program.cost": (dict[str, int], lambda *given: done.append(("cost", *given)))},
    )
    program = played_program(
        translation=SimpleNamespace(top_clock_id=0, rows=rows),
        follow_clock=note,
        link=SimpleNamespace(request=note),
    )
    batch = Batch(LINK, b"12", 150)
    for top, told in ((0, []), (7, [(program, 60)]), (7, [])):  # noqa: B007 - rows() reads it
        done.clear()
        handle(batch)
        assert done == [(b"12", 50, 11), (3, "rows"), *told]
    done.clear()
    handle(ClockCompared(LINK, 130, 4))
    assert done == [(30, 4), ("Events.keyframe", {})]
    done.clear()
    ended = Ended(LINK, "", is_orderly=True, at_ns=1)
    handle(ended)
    handle(Notification(LINK, "Program.dreams", {}))
    handle(Notification(LINK, "Program.cost", {"a": 1}))
    assert done == [(program, ended), ("cost", program, {"a": 1})]


def test_that_news_are_taken_in_portions_that_do_not_block_the_window() -> None:
    done: list[object] = []

    def pop_news(most_bytes: int) -> list[str]:
        done.append(most_bytes)
        return ["first", "second"]

    session = SimpleNamespace(
        acceptor=SimpleNamespace(pop_news=pop_news), _dispatch=done.append, now_ns=60
    )
    do("_handle_news", session)
    assert done == [2 << 20, "first", "second"]
    session._sorter = SimpleNamespace(add=done.append)
    do("note", session, MARK, 7)
    assert done[3:] == [(60, MARK, 7, 0, 0)]


def test_that_an_answer_goes_to_who_asked() -> None:
    told: list[object] = []
    answered = Answered(LINK, lambda *given: told.append(given), {"a": 1}, "No.")
    do("_dispatch", SimpleNamespace(), answered)
    assert told == [({"a": 1}, "No.")]


def test_that_the_session_runs_while_any_program_does() -> None:
    noted: list[object] = []
    paused = {7: SimpleNamespace(paused=True), 8: SimpleNamespace(paused=False)}
    clocks = [(played_program(), 7), (played_program(), 8)]
    session = SimpleNamespace(
        own_clocks=lambda: clocks,
        timeline=SimpleNamespace(clocks=paused),
        is_running=False,
        _joined=SimpleNamespace(is_running=None),
        note=lambda *given: noted.append(given),
    )
    do("_update_transport", session)
    assert (noted.pop(), session._joined.is_running) == ((TRANSPORT, Mode.RUNNING), True)
    paused[8].paused = session.is_running = True
    clocks[0][0].is_stepping = True
    do("_update_transport", session)
    assert noted == []
    clocks[0][0].is_stepping = False
    do("_update_transport", session)
    assert (noted.pop(), session._joined.is_running) == ((TRANSPORT, Mode.HELD), False)
    session.is_running = False
    do("_update_transport", session)
    assert noted == []


@pytest.mark.parametrize("is_enabled", [False, True])
def test_that_programs_know_what_breakpoints_and_tasks_ask_of_them(*, is_enabled: bool) -> None:
    done: list[object] = []
    note = lambda *given: done.append(given)  # noqa: E731
    program = played_program(hold_after_turn=note, watch_tasks=note)
    session = SimpleNamespace(
        breakpoints=SimpleNamespace(
            longest_turn_ns=9, is_any_enabled=is_enabled, check=lambda: ["hit", "other"]
        ),
        _joined=SimpleNamespace(attached=lambda: [program]),
        _target=SimpleNamespace(number=11, watch=lambda: done.append("watch")),
        _tasks_every_ns=5,
        _act_on=done.append,
    )
    do("_act_on_breakpoints", session)
    assert done == [(9, 11), (5,), *(["watch", "hit", "other"] if is_enabled else [])]


def test_that_a_hit_that_came_first_is_what_holds_the_programs() -> None:
    applied: list[object] = []
    session = SimpleNamespace(
        log=SimpleNamespace(intern=len),
        note=lambda *_: None,
        _broken_by="an earlier hit",
        _joined=SimpleNamespace(wants_hold=False),
        _apply=lambda *given: applied.append(given),
    )
    hit = SimpleNamespace(text="", number=2, frame=0, action=BreakAction.HOLD)
    do("_act_on", session, hit)
    assert (session._broken_by, len(applied)) == ("an earlier hit", 1)


# ------------------------------------------------------------------ refreshing


@pytest.mark.parametrize("expects_news", [False, True])
def test_that_a_refresh_folds_nothing_that_a_waiting_batch_precedes(*, expects_news: bool) -> None:
    done: list[object] = []

    def note(what: str, result: Any = None) -> Any:  # noqa: ANN401 - any function
        def did(*given: object) -> Any:  # noqa: ANN401 - any result
            done.append((what, *given))
            return result

        return did

    log, other = (SimpleNamespace(settle=note(name)) for name in ("log", "other"))
    batches: list[int] = []
    session = SimpleNamespace(
        _is_closed=False,
        _settled_until_ns=lambda: 50,
        _handle_news=note("news"),
        acceptor=SimpleNamespace(next_batches=lambda: batches, on_news=note("again")),
        _first_ns=lambda batch: batch,
        _apply_waiting=note("commands"),
        _check_process=note("process"),
        _settle=note("settle", 3),
        expects_news=expects_news,
        now_ns=60,
        is_running=True,
        own_clocks=lambda: [1],
        timeline=SimpleNamespace(set_present=note("present")),
        _sorter=SimpleNamespace(at_ns=55, log=log),
        recorder=SimpleNamespace(pump=lambda *, at_once: done.append(("record", at_once))),
        log=log,
    )
    until_ns = 50 if expects_news else 60
    taken = [("news",), ("commands",), ("process",), ("settle", until_ns)]
    assert do("refresh", session) == 3
    assert done == [*taken, ("present", 55), ("record", False), ("log",)]
    # While programs are held, their time stands.
    session.is_running, session.log = False, other
    done.clear()
    do("refresh", session)
    assert done == [*taken, ("record", True), ("log",), ("other",)]
    session.own_clocks = list
    batches += [45, 40, 70]
    done.clear()
    do("refresh", session)
    assert ("present", 55) in done
    assert done.count(("again",)) == 3
    assert ("settle", 40 if expects_news else 60) in done
    session._is_closed = True
    done.clear()
    assert do("refresh", session) == 0
    assert done == []


def test_that_commands_are_applied_at_once_by_the_thread_that_made_the_session() -> None:
    done: list[object] = []
    session = SimpleNamespace(
        _commands=deque([Hold()]),
        _owner=threading.get_ident(),
        _apply=done.append,
        acceptor=SimpleNamespace(on_news=lambda: done.append("wake")),
    )
    session._apply_waiting = lambda: do("_apply_waiting", session)
    do("submit", session, Run())
    assert (done, list(session._commands)) == ([Hold(), Run()], [])
    session._owner += 1
    do("submit", session, Hold())
    assert (done[2:], list(session._commands)) == (["wake"], [Hold()])


def test_that_frames_of_a_clock_are_those_of_the_first_loop_at_or_below_it() -> None:
    loops = SimpleNamespace(
        shown=7,
        ended=lambda clock: {7: 1_200, 8: 5, 9: 5}.get(clock, 0),
        loop_of=lambda clock: 8 if clock == 9 else clock,
    )
    done: list[object] = []
    timeline = SimpleNamespace(
        clocks={each: SimpleNamespace(name=f"c{each}") for each in (5, 6, 7, 8)},
        branch=lambda clock: {5: [5, 8, 7], 6: [6]}.get(clock, [clock]),
        set_present=done.append,
    )
    other = SimpleNamespace(history="its past")
    sorter = SimpleNamespace(
        loops=loops,
        choose=done.append,
        timeline=timeline,
        shown_log="its log",
        other=other,
        at_ns=5,
    )
    session = SimpleNamespace(
        _sorter=sorter,
        timeline=timeline,
        breakpoints=SimpleNamespace(
            is_watching=False, watch=lambda *given: done.append(("watch", *given))
        ),
        _act_on_breakpoints=lambda: done.append("breakpoints"),
        _whole_history="the whole past",
    )
    told = [do("frames_text", session, each) for each in (7, 8, 6)]
    assert told == ["1,200, shown", "5", ""]
    none = "No frames of “{}” or of a clock below it have been seen."
    refusals = [do("choose_loop", session, each) for each in (6, 99)]
    assert refusals == [none.format("c6"), none.format("this clock")]
    # It is shown, or one below the clock is.
    assert [do("choose_loop", session, each) for each in (7, 5)] == ["", ""]
    assert done == []
    assert do("choose_loop", session, 8) == ""
    assert done == ["breakpoints", 8, 5]
    assert (session.log, session.history) == ("its log", "its past")
    session.breakpoints.is_watching, sorter.other = True, None
    # A clock that is removed may have frames.
    assert do("choose_loop", session, 9) == ""
    assert done[3:] == ["breakpoints", 8, 5, ("watch", "its log", timeline)]
    assert session.history == "the whole past"


def test_that_detaching_leaves_every_program_with_a_word() -> None:
    done: list[object] = []
    live = [played_program("a"), played_program("b")]
    session: Any = SimpleNamespace(
        title="server",
        now_ns=60,
        _end="",
        _joined=SimpleNamespace(attached=lambda: live),
        _detach=lambda program, *given: done.append((program.name, session._end != "", *given)),
        acceptor=SimpleNamespace(close=done.append),
        _finish=lambda *given: done.append(given),
    )
    do("detach", session)
    told = "Detached from “a”, “b”; what was held goes on."
    by = "detached by the inspector"
    assert done == [("a", True, by, 60), ("b", True, by, 60), "detached", (told, 60)]
    done.clear()
    do("detach", session)
    assert done == []
    session._end, live[:] = "", []
    do("detach", session)
    assert session._end == "Detached from “server”; what was held goes on."


def test_that_a_session_is_closed_once_and_its_end_settles_what_came() -> None:
    done: list[object] = []
    session = SimpleNamespace(
        _is_closed=False,
        acceptor=SimpleNamespace(close=lambda: done.append("links")),
        recorder=SimpleNamespace(close=lambda: done.append("recording")),
        _began_ns=100,
        _settle=done.append,
    )
    for _ in range(2):
        do("close", session)
    assert (done, session._is_closed) == (["links", "recording"], True)
    do("_finish", session, "It is over.", 60)
    assert (session._end, session._ended_ns, done[2:]) == ("It is over.", 160, [60])


def test_that_why_a_program_cannot_be_followed_is_told_with_the_way_in() -> None:
    old = [Unable(6, "other.py", "it is a shell"), Unable(5, "old.py", "it is old")]
    session = SimpleNamespace(_unable=old)
    told = "old.py (process 5) cannot be attached: it is old."
    assert do("_why_no_probe", session, played_opened(pid=5)) == told
    assert do("_why_no_probe", session, played_opened(pid=5, note="Ask.")) == f"{told} Ask."
    assert do("_why_no_probe", session, played_opened(pid=7, note="Ask.")) == ""


def test_that_a_session_begins_with_its_own_clock_while_its_door_opens() -> None:
    def open_door(acceptor: object) -> Any:  # noqa: ANN401 - what is behind it
        opening.append((acceptor, threading.current_thread()))
        if is_shut:
            message = "There is none."
            raise AttachError(message)
        return played_opened(pid=7)

    for is_shut in (False, True):
        opening: list[tuple[object, threading.Thread]] = []
        woken: list[object] = []
        hand = Hand()
        server = DryServer(hand)
        server.on_news = partial(woken.append, True)
        door: Any = SimpleNamespace(title="server", open=open_door)
        session = AttachedSession(door, hand, server)
        session._opener.join(10)
        assert [(acceptor, thread.daemon) for acceptor, thread in opening] == [(server, True)]
        assert woken == [True]
        assert (session.pid, str(session.opening_problem)) == (
            (None, "There is none.") if is_shut else (7, "None")
        )
        phase = SessionPhase.FAILED if is_shut else SessionPhase.WAITING
        assert session.status.phase is phase
        assert repr(session) == f"<AttachedSession server {phase.value}>"
        hand.advance(100)
        session.refresh()
        clocks = session.timeline.clocks.values()
        assert [(each.id, each.name) for each in clocks] == [(ROOT_ID, "session")]
        assert session.annotations.keep == session.recorder.record_annotations
        assert session.undoing is session._target.undoing
        about = [session.expects_news, session.is_running, session.waits]
        assert about == [True, False, False]
        assert (session.file_stem, session.source_label) == ("attached", "server")
        assert (session.frames_of, session.frames_run, session.loops) == (0, 0, ())
        session._finish("It is over.", 5)
        assert not session.expects_news
        session.close()
