"""What each command does to a hosted scene, and why it may be refused."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from inspector.clocks.rate import rate_numerator
from inspector.errors import CommandError
from inspector.sessions.commands.commands import (
    MAX_STEP_FRAMES,
    AddMark,
    ClearTimer,
    Command,
    FireTimer,
    Hold,
    MemberCommand,
    PauseClock,
    ResumeClock,
    RewindTo,
    Run,
    SetFrameRate,
    SetRate,
    StepBack,
    StepBy,
    StepFrames,
    StepTo,
    StepToNextTimer,
    clock_text,
    command_text,
)
from inspector.sessions.commands.member_actions import prepared_member_action
from inspector.sessions.stage import checked_frame_rate
from inspector.timebase import MAX_NS, format_duration, format_instant

if TYPE_CHECKING:
    from inspector.clocks.clock import Clock
    from inspector.clocks.timer import Timer
    from inspector.events.timeline import Timeline
    from inspector.sessions.hosting import Hosting

_T = TypeVar("_T")

#: Carries out a command; what returns a generator is done when that is exhausted.
Action = Callable[[], object]


def prepared_action(  # noqa: C901, PLR0911 - one case per command
    command: Command, number: int, hosting: Hosting, timeline: Timeline
) -> Action:
    """Return what carries out a command; nothing has happened when it is refused.

    Args:
        command: What was asked for.
        number: Number of the command, the cause in the events that follow from it.
        hosting: The scene.
        timeline: Its state, for what timers and clocks are called.

    Raises:
        CommandError: It cannot be carried out; the message says why.
    """
    if isinstance(command, MemberCommand):
        return prepared_member_action(command, number, hosting, timeline)
    match command:
        case Run():
            return hosting.transport.run
        case Hold():
            return hosting.transport.hold
        case StepFrames() | StepBy() | StepTo() | StepToNextTimer():
            return _prepared_step(command, hosting)
        case PauseClock(clock_id):
            clock = _clock(clock_id, hosting, timeline)
            return lambda: clock.pause(cause=number)
        case ResumeClock(clock_id):
            clock = _clock(clock_id, hosting, timeline)
            return lambda: clock.resume(cause=number)
        case SetRate(clock_id, rate):
            clock = _clock(clock_id, hosting, timeline)
            _checked(rate_numerator, rate)
            return lambda: clock.set_rate(rate, cause=number)
        case ClearTimer(timer_id):
            timer = _timer(timer_id, hosting, timeline)
            return lambda: timer.clock.clear(timer, cause=number)
        case FireTimer(timer_id):
            timer = _timer(timer_id, hosting, timeline)
            return lambda: timer.clock.fire_now(timer)
        case SetFrameRate(rate):
            exact = _checked(checked_frame_rate, rate)
            return lambda: setattr(hosting.stage, "frame_rate", exact)
        case AddMark(text):
            return lambda: hosting.stage.mark(text.strip() or "mark")
        case _:
            message = f"A hosted scene cannot {command_text(command, timeline)}."
            raise CommandError(message)


def _prepared_step(  # noqa: C901 - one case per kind of step
    command: StepFrames | StepBy | StepTo | StepToNextTimer, hosting: Hosting
) -> Action:
    transport, now_ns = hosting.transport, hosting.tree.now_ns
    if transport.is_running:
        message = "The scene is running. Hold it first."
        raise CommandError(message)
    match command:
        case StepFrames(count):
            if not 1 <= count <= MAX_STEP_FRAMES:
                message = f"A step is 1 to {MAX_STEP_FRAMES:,} frames, not {count:,}."
                raise CommandError(message)
            return lambda: _step_frames(hosting, count)
        case StepBy(duration_ns):
            if duration_ns <= 0:
                message = f"A step goes forward, not by {format_duration(duration_ns)}."
                raise CommandError(message)
            target_ns = now_ns + duration_ns
        case StepTo(at_ns):
            if at_ns < now_ns:
                message = (
                    f"{format_instant(at_ns)} has passed (it is {format_instant(now_ns)}) "
                    "and time does not run backwards. Reload the scene to start again."
                )
                raise CommandError(message)
            target_ns = at_ns
        case StepToNextTimer():
            due_ns = hosting.tree.next_wake_ns()
            if due_ns is None:
                raise CommandError(hosting.why_no_timer_is_next())
            target_ns = max(due_ns, now_ns)
    if target_ns > MAX_NS:
        message = "That is beyond the 146 years that a session can last."
        raise CommandError(message)
    _check_length(target_ns - now_ns, hosting)
    return lambda: _step_to(hosting, target_ns)


def frame_to_go_back_to(command: StepBack | RewindTo, timeline: Timeline, frames: int) -> int:
    """Return after how many frames a scene stands that has gone back.

    Args:
        command: How far back.
        timeline: The state of the scene.
        frames: How many frames have begun.

    Raises:
        CommandError: There is nothing to go back to; the message says why.
    """
    if isinstance(command, StepBack):
        if command.frames < 1:
            message = f"A step back is 1 frame or more, not {command.frames:,}."
            raise CommandError(message)
        if command.frames > frames:
            ran = "none has run" if not frames else f"only {frames:,} have run"
            if frames == 1:
                ran = "only 1 has run"
            message = f"There are no {command.frames:,} frames to go back: {ran}."
            if command.frames == 1:
                message = "There is no frame to go back: none has run."
            raise CommandError(message)
        return frames - command.frames
    history = timeline.frames
    if command.at_ns < 0 or command.at_ns > timeline.at_ns:
        # Without the present: that was measured, and is another one when all is run again.
        why = "the session begins at 0" if command.at_ns < 0 else "it has not come yet"
        message = f"{format_instant(command.at_ns)} is no instant to go back to: {why}."
        raise CommandError(message)
    return history.first + bisect_right(history.at_ns, command.at_ns)


def _check_length(duration_ns: int, hosting: Hosting) -> None:
    """Refuse what would take more frames than anybody waits for.

    Raises:
        CommandError: It would.
    """
    period_ns = hosting.transport.frame_period_ns
    if period_ns is None or duration_ns <= MAX_STEP_FRAMES * period_ns:
        return
    message = (
        f"That would take {duration_ns // period_ns:,} frames. A step is at most "
        f"{MAX_STEP_FRAMES:,} frames, {format_duration(MAX_STEP_FRAMES * period_ns)} at "
        "this frame rate; lower it, or take several steps."
    )
    raise CommandError(message)


def _step_frames(hosting: Hosting, count: int) -> Generator[None]:
    """Run frames, one at each turn: what runs them again can make a pause in between."""
    for _ in range(count):
        hosting.transport.step_frame()
        if hosting.tree.is_halted:
            break
        yield


def _step_to(hosting: Hosting, target_ns: int) -> Generator[None]:
    """Go to an instant, a frame at each turn."""
    transport, tree, director = hosting.transport, hosting.tree, hosting.director
    while (frame_ns := transport.next_frame_ns) is not None and frame_ns < target_ns:
        frames = director.frame_index
        transport.step_to_ns(max(frame_ns, tree.now_ns))
        if tree.is_halted or director.frame_index == frames:
            return
        yield
    if target_ns >= tree.now_ns:
        transport.step_to_ns(target_ns)


def _clock(clock_id: int, hosting: Hosting, timeline: Timeline) -> Clock:
    clock = hosting.clock(clock_id)
    if clock is None:
        message = f"There is no {clock_text(clock_id, timeline)} any more."
        raise CommandError(message)
    return clock


def _timer(timer_id: int, hosting: Hosting, timeline: Timeline) -> Timer:
    table = timeline.timers
    timer = None
    if timer_id in table:
        row = table.row(timer_id)
        timer = hosting.timer(row.clock_id, timer_id, row.due_ns)
    if timer is None:
        message = f"Timer {timer_id} is gone: it has fired or was cleared."
        raise CommandError(message)
    return timer


def _checked(check: Callable[[Fraction], _T], value: Fraction) -> _T:
    try:
        return check(value)
    except ValueError as error:
        text = str(error)
        message = f"{text[:1].upper()}{text[1:]}."
        raise CommandError(message) from None
