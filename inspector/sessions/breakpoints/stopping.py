"""Actions of the breakpoints that are hit in a run of a scene."""

from __future__ import annotations

from msgspec import structs

from inspector.commands.clocks import PauseClock
from inspector.events.conditions.breakpoint import BreakAction
from inspector.sessions.breakpoints.breakpoints import BreakpointHit
from inspector.sessions.replay.journal import HIT_ENTRY, CommandPlace
from inspector.sessions.scene_run import SceneRun
from inspector.vocabulary import BREAKPOINT_HIT


def act_on_hits(run: SceneRun, *, after_frame: bool) -> None:
    """Carry out the actions of breakpoints that were hit since the last check.

    The events that the actions cause are checked, too, but not by breakpoints that were already
    hit, which could otherwise be hit by their own effects forever.

    Args:
        after_frame: Whether a frame has just run; otherwise it was a command while held.
    """
    if run.loaded is None:
        return
    done: set[int] = set()
    last_frame = run.frames_run - after_frame
    while hits := run.breakpoints.check(done):
        done.update(hit.number for hit in hits)
        for hit in hits:
            # An event that was caused by a hit belongs to the frame of that hit.
            _act_on(run, structs.replace(hit, frame=min(hit.frame, last_frame)))


def note_hit(run: SceneRun, hit: BreakpointHit) -> None:
    """Record that a breakpoint was hit, and carry out its action unless that is a command."""
    run.journal.note(HIT_ENTRY, run.frames_run, hit.number, hit)
    log = run.log
    log.append((run.session_ns, BREAKPOINT_HIT, hit.number, log.intern(hit.text), hit.frame))
    match hit.action:
        case BreakAction.HOLD:
            run.broken_by = run.broken_by or hit
            run.tree.halt()
        case BreakAction.MARK:
            run.stage.mark(hit.text)
        case BreakAction.SAVE | BreakAction.START_RECORDING | BreakAction.STOP_RECORDING:
            if run.recorder is not None:
                run.recorder.record_hit(hit, run.breakpoints.get(hit.number))
        case _:
            pass


def _act_on(run: SceneRun, hit: BreakpointHit) -> None:
    note_hit(run, hit)
    match hit.action:
        case BreakAction.PAUSE_ROOT:
            _pause_for(run, hit, run.tree.root.id)
        case BreakAction.PAUSE_BRANCH:
            _pause_for(run, hit, hit.clock_id or run.tree.root.id)
        case _:
            pass


def _pause_for(run: SceneRun, hit: BreakpointHit, clock_id: int) -> None:
    # A regular command, so that its origin is shown and it can be undone.
    number = run.command_number + 1
    run.apply(
        PauseClock(clock_id), number, place=CommandPlace.BREAKPOINT, by=f"breakpoint {hit.number}"
    )
