"""Steps of a run of a scene: frame by frame, up to an instant, to the next timer."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree
from inspector.commands.command import Action
from inspector.commands.transport import MAX_STEP_FRAMES
from inspector.display_text import counted, listed
from inspector.errors import CommandError
from inspector.frames.director import Director
from inspector.timebase import MAX_NS, format_duration, format_instant

_NAMES_LISTED: Final = 3


class SceneSteps:
    """The steps that a run of a scene can take; each action runs a frame per turn."""

    def __init__(self, tree: ClockTree, transport: Transport, director: Director) -> None:
        self._tree = tree
        self._transport = transport
        self._director = director

    def frames(self, count: int) -> Action:
        """Run frames, one frame period of session time apart."""
        return lambda: self._step_frames(count)

    def by(self, duration_ns: int) -> Action:
        """Let session time pass; raises a :class:`CommandError` for too long a step."""
        return self._up_to(self._tree.now_ns + duration_ns)

    def to(self, at_ns: int) -> Action:
        """Let session time pass up to an instant."""
        now_ns = self._tree.now_ns
        if at_ns < now_ns:
            raise CommandError(
                f"{format_instant(at_ns)} has passed (it is {format_instant(now_ns)}) "
                "and time does not run backwards. Reload the scene to start again."
            )
        return self._up_to(at_ns)

    def to_next_timer(self) -> Action:
        """Let session time pass up to the next timer."""
        due_ns = self._tree.next_wake_ns()
        if due_ns is None:
            raise CommandError(self._why_no_timer_is_next())
        return self._up_to(max(due_ns, self._tree.now_ns))

    def _up_to(self, at_ns: int) -> Action:
        if at_ns > MAX_NS:
            raise CommandError("That is beyond the 146 years that a session can last.")
        self._check_length(at_ns - self._tree.now_ns)
        return lambda: self._step_to(at_ns)

    def _why_no_timer_is_next(self) -> str:
        stopped: dict[int, str] = {}
        pending = 0
        for clock in self._tree.root.walk():
            if clock.pending_count:
                pending += clock.pending_count
                for reason in clock.pause_reasons():
                    stopped.setdefault(reason.clock.id, f"“{reason.clock.name}”")
        if not pending:
            return "No timer is pending, so there is none to step to."
        names = list(stopped.values())
        verb = "is" if len(names) == 1 else "are"
        waits = counted(pending, "timer waits", "timers wait")
        return (
            f"{waits}, but none can fire because {listed(names, _NAMES_LISTED)} {verb} paused "
            "or at rate 0. Resume a branch first."
        )

    def _check_length(self, duration_ns: int) -> None:
        period_ns = self._transport.frame_period_ns
        if period_ns is None or duration_ns <= MAX_STEP_FRAMES * period_ns:
            return
        raise CommandError(
            f"That would take {duration_ns // period_ns:,} frames. A step is at most "
            f"{MAX_STEP_FRAMES:,} frames, {format_duration(MAX_STEP_FRAMES * period_ns)} at "
            "this frame rate; lower it, or take several steps."
        )

    def _step_frames(self, count: int) -> Generator[None]:
        """Run one frame per turn, so that a rerun can pause in between."""
        for _ in range(count):
            self._transport.step_frame()
            if self._tree.is_halted:
                break
            yield

    def _step_to(self, at_ns: int) -> Generator[None]:
        transport, tree, director = self._transport, self._tree, self._director
        while (frame_ns := transport.next_frame_ns) is not None and frame_ns < at_ns:
            frames = director.frame_index
            transport.step_to_ns(max(frame_ns, tree.now_ns))
            if tree.is_halted or director.frame_index == frames:
                return
            yield
        if at_ns >= tree.now_ns:
            transport.step_to_ns(at_ns)
