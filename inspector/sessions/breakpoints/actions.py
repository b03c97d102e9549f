"""What the hits of breakpoints bring about in a life of a scene."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.commands.breakpoints import BreakAction
from inspector.commands.clocks import PauseClock
from inspector.sessions.replay.journal import HIT_ENTRY, Place
from inspector.vocabulary import BREAKPOINT_HIT

if TYPE_CHECKING:
    from inspector.sessions.breakpoints.breakpoints import BreakpointHit
    from inspector.sessions.commands.desk import CommandDesk
    from inspector.sessions.hosting import Hosting


def act_on_hits(desk: CommandDesk, *, after_frame: bool) -> None:
    """Do what the breakpoints want that were hit in this frame, or since.

    What a hit brings about is looked at by the breakpoints that were not hit themselves,
    so that none goes on hitting what it has done.

    Args:
        desk: That of the life they look at, which is live.
        after_frame: Whether a frame has just run; else it was a command while held.
    """
    life = desk.life
    hosting = life.hosting
    if hosting is None:
        return
    done: set[int] = set()
    last_frame = life.frames_run - after_frame
    while hits := life.breakpoints.look(done):
        done.update(hit.number for hit in hits)
        for hit in hits:
            # What was brought about by a hit belongs to the frame of that hit.
            _act_on(desk, replace(hit, frame=min(hit.frame, last_frame)), hosting)


def note_hit(desk: CommandDesk, hit: BreakpointHit, hosting: Hosting) -> None:
    """Note that a breakpoint was hit, and do what it wants unless that is a command.

    Args:
        desk: That of the life in which it was hit.
        hit: The hit.
        hosting: The scene of that life.
    """
    life, tree = desk.life, hosting.tree
    life.journal.note(HIT_ENTRY, life.frames_run, hit.number, hit)
    log = life.log
    log.append((tree.now_ns, BREAKPOINT_HIT, hit.number, log.intern(hit.text), hit.frame))
    match hit.action:
        case BreakAction.HOLD:
            life.broken_by = life.broken_by or hit
            tree.halt()
        case BreakAction.MARK:
            hosting.stage.mark(hit.text)
        case BreakAction.SAVE | BreakAction.START_RECORDING | BreakAction.STOP_RECORDING:
            if life.driver.is_live:
                desk.recorder.take_hit(hit, life.breakpoints.get(hit.number))
        case _:
            pass


def _act_on(desk: CommandDesk, hit: BreakpointHit, hosting: Hosting) -> None:
    note_hit(desk, hit, hosting)
    match hit.action:
        case BreakAction.PAUSE_ROOT:
            _pause_for(desk, hit, hosting.tree.root.id)
        case BreakAction.PAUSE_BRANCH:
            _pause_for(desk, hit, hit.clock_id or hosting.tree.root.id)
        case _:
            pass


def _pause_for(desk: CommandDesk, hit: BreakpointHit, clock_id: int) -> None:
    # A command like any other, so that it can be seen who did it, and undone.
    number = desk.life.command_number + 1
    desk.apply(PauseClock(clock_id), number, place=Place.BREAKPOINT, by=f"breakpoint {hit.number}")
