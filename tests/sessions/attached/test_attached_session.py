"""Attached programs in a session: clocks, timers, tasks, texts and recordings."""

from __future__ import annotations

import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.analysis.lint.rules import findings
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.cli.main import main
from inspector.commands.recording import StartRecording, StopRecording
from inspector.commands.scene import AddMark
from inspector.commands.transport import Hold
from inspector.probe.wire import WireError
from inspector.sessions.attached import session as session_module
from inspector.sessions.attached.link import Batch, Unable
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.session import SessionPhase
from inspector.timebase import format_instant
from inspector.vocabulary import (
    CALLBACK_FAILED,
    FRAME_BEGAN,
    FRAME_ENDED,
    MARK,
    TASK_ADDED,
    TASK_WAITS,
    TASKS_TOLD,
    LoopKind,
    TaskWait,
)
from tests.sessions.attached.fake_probe import (
    MS,
    SERVER,
    Attachment,
    labels,
    running,
)


def test_that_a_program_is_a_branch_under_the_root_with_its_timers(attachment: Attachment) -> None:
    session = attachment.session
    assert session.status.phase is SessionPhase.WAITING

    running(attachment)

    clocks = session.timeline.clocks
    assert [(each.name, each.parent_id) for each in clocks.values()] == [
        ("session", 0),
        ("server", 1),
    ]
    assert labels(session) == {1: "beat", 2: "end"}
    assert session.timeline.timers.row(1).call_site == "server.py:7"
    assert session.timeline.session_due_ns(1) == 500 * MS
    assert session.status.message == "“server” is running."


def test_that_programs_are_asked_for_their_tasks_and_those_of_one_that_ended_are_not_known(
    attachment: Attachment,
) -> None:
    session = attachment.session
    session.watch_tasks(500 * MS)
    probe = running(attachment)
    attachment.settle(lambda: bool(probe.asked))
    assert probe.asked == [("Program.tasks", {"every_ns": 500 * MS})]
    now_ns = attachment.hand()
    probe.events(
        (now_ns, TASK_ADDED, 1, 1, probe.text("main")),
        (now_ns, TASK_WAITS, 1, int(TaskWait.TIMER), 0),
        (now_ns, TASKS_TOLD, 1, 1, 2),
    )
    attachment.settle(lambda: bool(session.timeline.tasks.told_ns))
    (task,) = session.timeline.tasks.by_id.values()
    assert (session.timeline.strings[task.name], task.clock_id) == ("main", SERVER)

    probe.socket.close()
    attachment.settle(lambda: not session.timeline.tasks.by_id)

    assert session.timeline.tasks.told_ns == {}


def test_that_a_busy_thread_that_cannot_tell_its_timers_is_named(attachment: Attachment) -> None:
    session, began_ns = attachment.session, attachment.hand.now_ns
    probe = attachment.join()
    probe.tell("Events.keyframe", state="begun")
    probe.clock(1, "server")
    probe.tell("Program.changed", clocks=[{"clock": 1, "title": "loop", "capabilities": {}}])
    probe.tell("Events.keyframe", state="partial", waits_for=[1])
    attachment.settle(lambda: "busy" in session.status.message)
    assert (
        "Timers of “loop” in “server” are not known yet: its thread is busy."
        in session.status.message
    )
    assert session.own_clocks()

    attachment.hand.advance(1_234)
    since_ns = attachment.hand.now_ns
    waiting = {"clock": 1, "thread": "MainThread", "since_ns": since_ns}
    probe.tell("Events.keyframe", state="partial", waits_for=[1], threads=[waiting])
    since = format_instant(since_ns - began_ns)
    told = (
        "Timers of “loop” in “server” are not known yet: "
        f"its thread “MainThread” has been busy since {since}."
    )
    attachment.settle(lambda: told in session.status.message)
    assert told in session.notes

    probe.tell("Events.keyframe", state="complete")
    attachment.settle(lambda: "busy" not in session.status.message)
    assert session.notes == ()


def test_that_a_recording_opens_with_the_same_state_and_commands(
    attachment: Attachment, tmp_path: Path
) -> None:
    session = attachment.session
    path = tmp_path / "server.tlrec"
    running(attachment)
    session.submit(StartRecording(str(path)))
    session.submit(AddMark("here"))
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running and session.timeline.marks)
    session.refresh()
    session.submit(StopRecording())
    assert session.recorder.problem == ""
    recorded = RecordedSession(path)
    timeline = recorded.timeline
    assert [each.name for each in timeline.clocks.values()] == ["session", "server"]
    assert timeline.clocks[SERVER].paused
    assert {timeline.timers.row(each).label for each in timeline.timers.ids()} == {"beat", "end"}
    assert [each.text for each in timeline.marks] == ["here"]
    assert timeline.local_ns(SERVER) == session.timeline.local_ns(SERVER)
    assert recorded.title == "server"
    recorded.close()


@pytest.mark.parametrize(("adapter", "waits"), [("asyncio", True), ("pygame", False)])
def test_that_turns_of_a_loop_that_waits_are_held_against_the_budget_by_their_work(
    attachment: Attachment,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    adapter: str,
    *,
    waits: bool,
) -> None:
    session = attachment.session
    probe = running(attachment)
    probe.tell("Program.changed", clocks=[{"clock": 1, "adapter": adapter}])
    now_ns = attachment.hand.now_ns
    for place in range(30):
        at_ns = now_ns + place
        probe.events((at_ns, FRAME_BEGAN, 1, place, 0), (at_ns, FRAME_ENDED, 1, 100 * MS, 2 * MS))
    attachment.settle(lambda: session.frames_run == 30)
    assert session.waits is waits
    budget = FrameBudget.of_rate(session.frame_rate, by_busy=session.waits)
    kinds = {each.kind.name for each in findings(session.history, budget=budget)}
    assert ("over budget" in kinds) is not waits
    session.submit(StartRecording(str(tmp_path / "loop.tlrec")))
    session.submit(StopRecording())
    recorded = RecordedSession(tmp_path / "loop.tlrec")
    assert recorded.waits is waits
    recorded.close()
    main(["lint", str(tmp_path / "loop.tlrec")])
    assert ("over budget" in capsys.readouterr().out) is not waits


def test_that_what_a_program_calls_things_can_be_printed_and_tracebacks_keep_their_lines(
    attachment: Attachment,
) -> None:
    session = attachment.session
    evil = "\x1b[2J\u202egame\n"
    probe = attachment.join(name=evil, adapters=[{"name": "x" * 60_000, "message": evil}])
    probe.keyframe((5, "tick" + "!" * 60_000, 10**12))
    attachment.settle(lambda: 5 in session.timeline.timers)
    now_ns = attachment.hand.now_ns
    text, traceback = probe.text(evil), probe.text("Traceback\nError: \x07")
    probe.events((now_ns, CALLBACK_FAILED, 5, text, traceback), (now_ns, MARK, 0, text, 0))
    attachment.settle(lambda: session.timeline.marks)

    program = session.programs[0]
    assert program.name == session.timeline.marks[-1].text == "\ufffd[2J\ufffdgame⏎"
    assert len(program.adapters[0].name) < 1_000
    assert len(session.timeline.timers.row(5).label) < 1_000
    assert session.timeline.failures[0].label == program.name
    assert session.timeline.failures[0].traceback == "Traceback\nError: \ufffd"


def test_that_a_thread_that_was_busy_before_it_was_attached_is_said_to_have_been(
    attachment: Attachment,
) -> None:
    probe = attachment.join()
    probe.keyframe()
    thread = {"clock": 1, "since_ns": attachment.hand.now_ns - 5 * MS, "thread": "worker"}
    probe.tell("Program.changed", clocks=[{"clock": 1, "adapter": "qt", "title": "loop"}])
    probe.tell("Events.keyframe", state="partial", waits_for=[1], threads=[thread])
    attachment.until(lambda: attachment.session.programs[0].waits_for)
    assert "busy since before it was attached" in " ".join(attachment.session.notes)


# ------------------------------------------------------------------ questions, in parts


def _of(part: str, **has: object) -> Any:  # noqa: ANN401 - any property
    """Return a property of a session that has only these attributes."""
    found: Any = getattr(AttachedSession, part)
    return found.fget(SimpleNamespace(**has))


def _program(**has: object) -> SimpleNamespace:
    return SimpleNamespace(**{"name": "game", "waits": lambda _clock: False, **has})


def test_that_the_source_names_all_programs_or_what_is_waited_for() -> None:
    link = SimpleNamespace(text="Unix socket")
    programs = [_program(name=name, process_text="process 5", link=link) for name in "ab"]
    for found, told in (
        (programs, "a (process 5, Unix socket), b (process 5, Unix socket)"),
        ([], "game.py"),
    ):
        joined = SimpleNamespace(attached=lambda found=found: found)
        assert _of("source_label", _joined=joined, title="game.py") == told


@pytest.mark.parametrize(
    ("program", "is_kept", "waits"),
    [
        (None, False, False),
        (None, True, True),
        (_program(), False, False),
        (_program(waits=lambda clock: clock == 7), False, True),
        (_program(waits=lambda clock: clock == 8), False, False),
    ],
)
def test_that_a_loop_waits_as_its_program_says_or_as_the_timeline_still_knows(
    monkeypatch: pytest.MonkeyPatch, program: object, *, is_kept: bool, waits: bool
) -> None:
    monkeypatch.setattr(session_module, "frames_wait", lambda _timeline, _meta: is_kept)
    has = {"frames_of": 7, "program_of_clock": lambda _clock: program, "timeline": None}
    assert _of("waits", **has) is waits
    path = [SimpleNamespace(id=clock, name=f"c{clock}") for clock in (7, 6, 1)]
    played: Any = SimpleNamespace(
        timeline=SimpleNamespace(clocks={7: None}, path=lambda _clock: path),
        program_of_clock=lambda _clock: program,
        log=SimpleNamespace(intern=lambda text: text),
    )
    is_waiting = waits and not is_kept
    kind = LoopKind.WAITS_FOR_EVENTS if is_waiting else LoopKind.DRAWS_FRAMES
    told: list[Any] = [AttachedSession._describe_loop(played, clock) for clock in (7, 8)]
    assert (told[0], told[1][0]) == (("c6 › c7", kind), "")


def test_that_the_way_in_says_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "what_is_missing", lambda *_: ["It is late."])
    opened = SimpleNamespace(pid=5, note="It is old.")
    unable = [Unable(6, "old.py", "its Python is too old")]
    has: dict[str, Any] = {"programs": {}, "_sorter": None, "_unable": []}
    assert _of("notes", _opened=None, **has) == ("It is late.",)
    assert _of("notes", _opened=opened, **has)[0] == "It is old."
    has["_unable"] = unable
    opened.note = ""
    first, last = _of("notes", _opened=opened, **has)
    assert (first, last) == (
        "old.py (process 6) cannot be attached: its Python is too old.",
        "It is late.",
    )
    assert [_of("pid", _opened=each) for each in (None, opened)] == [None, 5]
    opened.note = "It takes 3 s."
    assert [
        _of("about_end", _opened=each, _is_ending=is_ending)
        for each, is_ending in ((None, True), (opened, False), (opened, True))
    ] == ["", "", "It takes 3 s."]
    assert [
        _of("can_end_program", _opened=each, _end=end)
        for each, end in ((None, ""), (opened, "It has ended."), (opened, ""))
    ] == [False, False, True]
    opened.pid = None
    assert not _of("can_end_program", _opened=opened, _end="")


@pytest.mark.parametrize(
    ("selected", "clocks", "driven"),
    [(7, [7, 8], 7), (1, [7], 7), (1, [7, 8], 0), (1, [], 0)],
)
def test_that_the_only_program_is_driven_where_none_is_selected(
    selected: int, clocks: list[int], driven: int
) -> None:
    session: Any = SimpleNamespace(
        program_of_clock=lambda clock: clock if clock in clocks else None,
        own_clocks=lambda: [(None, clock) for clock in clocks],
    )
    assert AttachedSession.driven_clock(session, selected) == driven


def test_that_time_stands_where_the_session_has_ended() -> None:
    has: dict[str, Any] = {"_now_ns": lambda: 50, "_began_ns": 20}
    assert [_of("now_ns", _ended_ns=each, **has) for each in (None, 45)] == [30, 25]


def test_that_no_event_is_folded_before_one_that_may_still_come() -> None:
    link, stranger = object(), object()
    translation = SimpleNamespace(shift_ns=-100)
    session: Any = SimpleNamespace(
        _began_ns=1_000, _by_link={link: SimpleNamespace(translation=translation)}
    )
    latest, settled = 500 * MS, 50 * MS
    came_ns = 10 * latest
    for raw_ns, first_ns in (
        (came_ns + 99, came_ns - 2),
        (came_ns + 200, came_ns - 1),
        (0, came_ns - latest - 1),
    ):
        batch = Batch(link, struct.pack("<q", raw_ns) + bytes(9), came_ns + 1_000)  # type: ignore[arg-type]
        assert AttachedSession._first_ns(session, batch) == first_ns
    batch = Batch(stranger, b"", came_ns + 1_000)  # type: ignore[arg-type]
    assert AttachedSession._first_ns(session, batch) == came_ns - settled
    session.now_ns = 10 * latest
    for since_ns, late_ns, until_ns in (
        (None, 0, 10 * latest - settled),
        (1_000 + latest, 0, latest - settled),
        (1_000 + 20 * latest, 0, 10 * latest - settled),
        (None, settled, 10 * latest - 3 * settled // 2),
        (None, latest, 9 * latest),
    ):
        session.acceptor = SimpleNamespace(connecting_since_ns=since_ns)
        session._sorter = SimpleNamespace(late_ns=late_ns)
        assert AttachedSession._settled_until_ns(session) == until_ns


@pytest.mark.parametrize(("capability", "reason"), [("own", "why"), ("none", "why"), ("can", "")])
def test_that_a_command_that_is_not_possible_is_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capability: str, reason: str
) -> None:
    monkeypatch.setattr(session_module, "_OWN", {"can"})
    applied: list[tuple[object, ...]] = []

    def apply(*given: object) -> bool:
        applied.append(given)
        return given[1] == "somebody"

    command: Any = SimpleNamespace(
        capability=capability, clock_about=lambda _: 7, asker="", lets_time_pass=True
    )
    session: Any = SimpleNamespace(
        _is_closed=False,
        capabilities={"own", "can"},
        why_not=lambda _capability, clock: "why" if clock == 7 else "",
        timeline=None,
        _target=SimpleNamespace(apply=apply),
        _broken_by="a hit",
    )
    AttachedSession._apply(session, command, "breakpoint 2")
    assert session._broken_by == "a hit"
    command.asker, command.lets_time_pass = "somebody", False
    AttachedSession._apply(session, command, "breakpoint 2")
    assert session._broken_by == "a hit"
    command.lets_time_pass = True
    AttachedSession._apply(session, command)
    assert session._broken_by is None
    session._is_closed = True
    AttachedSession._apply(session, command)
    assert [given[1:] for given in applied] == [
        ("breakpoint 2", reason),
        ("somebody", reason),
        ("somebody", reason),
    ]


def test_that_a_program_that_does_not_follow_the_protocol_is_left() -> None:
    def handle(_program: object, news: object) -> None:
        handled.append(news)
        raise WireError(0, "it makes no sense")

    handled: list[object] = []
    ended: list[object] = []

    class Link:
        end = staticmethod(ended.append)

    of: Any = Link()
    program = SimpleNamespace(is_attached=True, link=of)
    session: Any = SimpleNamespace(
        _by_link={of: program},
        _handle=handle,
        _detach=lambda *given: ended.append(given),
        now_ns=5,
        _unable=[],
    )
    news, other = Batch(of, b"", 1), Batch(Link(), b"", 1)  # type: ignore[arg-type]
    AttachedSession._dispatch(session, other)
    AttachedSession._dispatch(session, news)
    told = "it does not follow the protocol: it makes no sense"
    assert ended == [(program, told, 5), "it makes no sense"]
    program.is_attached = False
    AttachedSession._dispatch(session, news)
    assert handled == [news]
    unable = Unable(6, "old.py", "it is old")
    AttachedSession._dispatch(session, unable)
    assert session._unable == [unable]


def test_that_events_missed_by_the_sorter_are_asked_for_again() -> None:
    def program(*, is_attached: bool) -> SimpleNamespace:
        asks = lambda *given: asked.append(given)  # noqa: E731
        return SimpleNamespace(is_attached=is_attached, link=SimpleNamespace(request=asks))

    asked: list[tuple[object, ...]] = []
    chosen: list[int] = []
    sorter = SimpleNamespace(
        release=lambda until_ns: until_ns + 1,
        resyncs={0, 1, 2},
        loops=SimpleNamespace(wanted=0),
    )
    session: Any = SimpleNamespace(
        _sorter=sorter,
        programs={0: program(is_attached=True), 1: program(is_attached=False)},
        choose_loop=chosen.append,
        _update_transport=lambda: asked.append(("transport",)),
        _act_on_breakpoints=lambda: asked.append(("breakpoints",)),
    )
    assert AttachedSession._settle(session, 5) == 6
    assert asked == [("Events.keyframe", {}), ("transport",), ("breakpoints",)]
    assert (sorter.resyncs, chosen) == (set(), [])
    sorter.loops.wanted = 7
    AttachedSession._settle(session, 5)
    assert chosen == [7]
