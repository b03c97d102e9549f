"""What the tests of recordings record: scenes with some of everything."""

from __future__ import annotations

from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

from msgspec import structs

from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.scene import AddMark
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs.virtual import run_virtual
from inspector.sessions.scene import find_scene
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import RawEvent

if TYPE_CHECKING:
    from inspector.events.recording import RecordingWriter

_STEP_NS = NS_PER_SECOND // 60


def scene_log(scene: str = "1", seconds: float = 4) -> EventLog:
    """Return the log of a built-in scene that was told a few things while it ran."""
    session = HostedSession(find_scene(scene), VirtualTimeSource(), autorun=False)
    try:
        for turn in range(4):
            duration_ns = round(seconds / 4 * NS_PER_SECOND)
            run_virtual(session, frames=None, duration_ns=duration_ns, dt_ns=_STEP_NS)
            session.refresh()
            clock = max(session.timeline.clocks)
            if turn % 2 == 0:
                session.submit(PauseClock(clock))
                session.submit(SetRate(session.timeline.root_id or 0, session.frame_rate / 120))
            else:
                session.submit(ResumeClock(clock))
            session.submit(AddMark(f"turn {turn}"))
        session.refresh()
        return session.log
    finally:
        session.close()


def folded(log: EventLog, cursor: int) -> Timeline:
    """Return the state before a cursor, folded one event after another."""
    timeline = log.base.copy()
    timeline.apply_all(log.slice(log.first, cursor))
    return timeline


def described(timeline: Timeline) -> dict[str, Any]:
    """Return all that two equal states have in common."""
    timeline = timeline.copy()
    timeline.resolve_dues()
    members = timeline.members
    table = timeline.timers
    frames = timeline.frames
    return {
        "now": (timeline.at_ns, timeline.events_folded, timeline.is_running),
        "scene": (timeline.scene_path, timeline.scene_generation, timeline.root_id),
        "clocks": [structs.astuple(clock) for clock in timeline.clocks.values()],
        "timers": {each: table.row(each) for each in sorted(table.ids())},
        "dues": {each: table.session_due[table.index(each)] for each in sorted(table.ids())},
        "members": {number: structs.astuple(member) for number, member in members.by_id.items()},
        "of_clock": {clock: [*ids] for clock, ids in members.of_clock.items()},
        "histories": {
            number: (list(each.at_ns), list(each.state), list(each.transition))
            for number, each in members.histories.items()
        },
        "lists": ([*timeline.commands], [*timeline.marks], [*timeline.failures], [*timeline.hits]),
        "holds": [*timeline.holds],
        "frames": (frames.first, frames.end, *map(list, [frames.at_ns, frames.interval_ns])),
        "frame parts": [list(each) for each in (frames.delta_ns, frames.busy_ns, frames.cut_ns)],
        "phases": [list(each) for each in (*frames.phases, *frames.shares)],
        "open frame": timeline.open_frame,
        "frames of": timeline.frames_of,
        "loops": {
            clock_id: (
                *(loop.name, loop.kind, loop.open_frame, loop.frames.first, loop.frames.end),
                *(
                    list(loop.frames.at_ns),
                    list(loop.frames.busy_ns),
                    *map(list, loop.frames.phases),
                ),
            )
            for clock_id, loop in timeline.loops.items()
        },
        "tasks": ({**timeline.tasks.by_id}, {**timeline.tasks.told_ns}),
        "turns": (timeline._last_order, members._last_turn),
    }


def record(log: EventLog, path: Path, *, portion: int = 10**9) -> Path:
    """Record what a log holds, handed over in portions."""
    from inspector.events.recording import RecordingInfo  # noqa: PLC0415
    from inspector.events.recording.writing.file import RecordingFile  # noqa: PLC0415

    file = RecordingFile(path, RecordingInfo(title="test"), log.base.copy(), log.first)
    file.add_strings(log.strings)
    for start in range(log.first, log.end, portion):
        file.add(log.slice(start, start + portion))
        file.commit()
    file.finish()
    return path


def wait_for_commit(recorder: RecordingWriter) -> None:
    """Wait until all that was handed over is in the file, or the recording has ended."""
    while recorder.committed < recorder.events and not recorder.problem:
        # The thread that writes needs the interpreter.
        sleep(0.000_2)


def events_of(log: EventLog) -> list[RawEvent]:
    """Return everything a log has kept."""
    return log.slice(log.first, log.end)
