"""A scene in the refresh-rate lab: run under the frame times of displays, without waiting.

Firings are compared with those of a run in which nothing is ever late: timers fire exactly
when they are due, and frames run at the scene's own rate. Under a display, the clocks are
read once per frame. Timers of one name on one clock are counted together.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import Struct

from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.transport import Run
from inspector.engines.lab.display import Display, steady_display
from inspector.engines.lab.refresh_lab import LabResult, compared
from inspector.engines.lab.subjects import SubjectName
from inspector.engines.lab.timer import SceneTimer
from inspector.errors import InspectorError
from inspector.events.handlers import handlers_of
from inspector.events.log import EventLog
from inspector.events.member_names import MEMBER_NAMING_KINDS, MemberNames
from inspector.events.members import CLOCK_CALLS, TIMED_CALLS, WITH_TIME
from inspector.sessions.hosted import HostedSession
from inspector.vocabulary import MemberKind

#: Stalls are never cut, as for the other subjects of the lab.
_NO_CUT_NS: Final = 10**18
#: Frames between two reads of the log, few enough that it drops no event unread.
_FRAMES_PER_LOOK: Final = 64
_OWNER_KINDS: Final = WITH_TIME | {MemberKind.CHILD_CLOCK}

#: Name of the timers, and of the clock, scheduler or ticker that they are on.
_Stream = tuple[str, str]

AS_SCENE: Final = SubjectName("scene", "The scene", "A scene file under the display's frames.")


class SceneLabRun(Struct, frozen=True):
    title: str  # What the scene calls itself
    results: tuple[LabResult, ...]  # One per timers and display
    failures: tuple[str, ...]  # What callbacks raised: the label and the error's last line


def run_scene_lab(
    path: Path, displays: Iterable[Display], on_progress: Callable[[float], None] | None = None
) -> SceneLabRun:
    """Run a scene under displays.

    The displays follow one another, each from the beginning. ``on_progress`` is called now and
    then with the share that is done, from 0 to 1.
    """
    tell = on_progress or (lambda _done: None)
    steps = begin_scene_lab(path, displays)
    progress = -1
    while True:
        try:
            done = next(steps)
        except StopIteration as end:
            run: SceneLabRun = end.value
            return run
        if int(done * 100) > progress:
            progress = int(done * 100)
            tell(done)


def begin_scene_lab(path: Path, displays: Iterable[Display]) -> Generator[float, None, SceneLabRun]:
    """Do what :func:`run_scene_lab` does a frame at a time, so that it can be stopped.

    Yields the share that is done, from 0 to 1. Closing the generator closes the scene. The
    scene shares the modules beside its file with any other scene in the same process; with
    :func:`~inspector.engines.lab.scene_process.begin_scene_process` it does not.
    """
    displays = tuple(displays)
    longest_ns = max((display.end_ns for display in displays), default=0)
    whole_ns = longest_ns + sum(display.end_ns for display in displays)
    passed_ns = 0
    plays: list[_Play] = []
    for display in (None, *displays):
        end_ns = longest_ns if display is None else display.end_ns
        for_all = passed_ns, max(whole_ns, 1)
        plays.append((yield from _begin_play(path, display, end_ns, for_all)))
        passed_ns += end_ns
    ideal, under = plays[0], plays[1:]
    streams = dict.fromkeys(stream for play in plays for stream in play.firings)
    timers = {
        stream: SceneTimer(*stream, tuple(ideal.firings.get(stream, ()))) for stream in streams
    }
    results: list[LabResult] = []
    for display, played in zip(displays, under, strict=True):
        for stream, timer in timers.items():
            results.append(compared(timer, AS_SCENE, display, played.firings.get(stream, ())))
            yield 1.0
    failures = dict.fromkeys(text for play in plays for text in play.failures)
    return SceneLabRun(ideal.title, tuple(results), tuple(failures))


class _Play(Struct):
    """The outcome of one run of the scene; firings are in ascending order."""

    title: str
    firings: dict[_Stream, list[int]]
    failures: list[str]


def _begin_play(
    path: Path, display: Display | None, end_ns: int, for_all: tuple[int, int]
) -> Generator[float, None, _Play]:
    """Run the scene under a display, or where nothing is ever late, a frame at each step.

    Yields the share of all runs that is done. ``for_all`` is the duration of the runs before
    this one and of all runs, in nanoseconds.
    """
    before_ns, whole_ns = for_all
    session = HostedSession(path, VirtualTimeSource(), autorun=False, max_delta_ns=_NO_CUT_NS)
    with closing(session):
        if session.problem is not None:
            raise session.problem
        reader = _FiringReader(session.log)
        session.submit(Run())
        steps = _ideal_frames(session, end_ns) if display is None else _frames(session, display)
        for number, at_ns in enumerate(steps, 1):
            if not session.is_running:
                break
            if number % _FRAMES_PER_LOOK == 0:
                session.refresh()
                reader.read()
            yield min((before_ns + at_ns) / whole_ns, 1.0)
        session.refresh()
        reader.read()
        if not session.is_running:
            message = f"The scene stopped before the end of the run. {session.status.message}"
            raise InspectorError(message.strip())
        failures = [
            f"“{failure.label}” failed with {failure.traceback.strip().rpartition(chr(10))[2]}"
            for failure in session.timeline.failures
        ]
        for instants in reader.firings.values():
            instants.sort()
        return _Play(session.title, reader.firings, failures)


def _ideal_frames(session: HostedSession, end_ns: int) -> Iterator[int]:
    for frame_ns in steady_display(session.frame_rate, end_ns).frames_ns:
        session.pass_to(frame_ns)
        yield frame_ns
    if session.is_running and session.session_ns < end_ns:
        session.pass_to(end_ns, with_frame=False)
        yield end_ns


def _frames(session: HostedSession, display: Display) -> Iterator[int]:
    for frame_time_ns, frame_ns in zip(display.frame_times_ns, display.frames_ns, strict=True):
        session.block_ns(frame_time_ns)
        yield frame_ns


@dataclass(slots=True)
class _FiringReader:
    """Collects when timers fired from a log, a batch at a time."""

    log: EventLog
    firings: dict[_Stream, list[int]] = field(default_factory=dict)
    _cursor: int = 0
    _clocks: dict[int, str] = field(default_factory=dict)
    _timers: dict[int, _Stream] = field(default_factory=dict)
    _members: MemberNames = field(init=False)
    # Calls by a clock since the last frame; they count as made at the instant of the next one.
    _between: list[_Stream] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._members = MemberNames(self.log.strings)

    def read(self) -> None:
        batch = self.log.read(self._cursor)
        self._cursor = batch.cursor
        if batch.lost:
            raise InspectorError(
                "The scene does more per second than the lab can handle. Use “timeline-inspector "
                "run” instead."
            )
        steps = handlers_of(self)
        for event in batch.events:
            at_ns, kind, subject, a, b = event
            if kind in steps:
                steps[kind](at_ns, subject, a, b)
            elif kind in MEMBER_NAMING_KINDS:
                self._members.note(event)

    def _on_clock_added(self, _at_ns: int, clock_id: int, _parent: int, name: int) -> None:
        self._clocks[clock_id] = self.log.strings[name]

    def _on_timer_added(self, _at_ns: int, timer_id: int, clock_id: int, name: int) -> None:
        self._timers[timer_id] = (self.log.strings[name], self._clocks.get(clock_id, ""))

    def _on_timer_fired(self, at_ns: int, timer_id: int, late_ns: int, _next_ns: int) -> None:
        if (stream := self._timers.get(timer_id)) is not None:
            self._note(stream, at_ns + late_ns)

    def _on_call_ended(self, at_ns: int, number: int, _began_ns: int, _took_ns: int) -> None:
        """Count the call of a timer that is a member at the instant of its frame."""
        member = self._members.get(number)
        if member is None or member.kind not in TIMED_CALLS:
            return
        above = self._members.get(member.parent_id)
        while above is not None and above.kind not in _OWNER_KINDS:
            above = self._members.get(above.parent_id)
        owner = "" if above is None else above.name
        if member.kind in CLOCK_CALLS:
            self._between.append((member.name, owner or self._clocks.get(member.clock_id, "")))
        else:
            self._note((member.name, owner), at_ns)

    def _on_frame_began(self, frame_ns: int, _director: int, _index: int, _delta: int) -> None:
        for stream in self._between:
            self._note(stream, frame_ns)
        self._between.clear()

    def _note(self, stream: _Stream, at_ns: int) -> None:
        self.firings.setdefault(stream, []).append(at_ns)
