"""What a pause, a rate or a time scale would do to when timers fire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inspector.analysis.predict.members import preview_members
from inspector.analysis.predict.preview import Preview
from inspector.clocks.rate import D
from inspector.commands.command import ClockEffect
from inspector.events.due_times import session_instants
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.commands.command import Command


def preview(timeline: Timeline, command: Command) -> Preview | None:
    """Return what a command would do now to when timers fire.

    Nothing is changed. Ten thousand timers on one clock take a millisecond or two.

    Args:
        timeline: The state now.
        command: What would be submitted.

    Returns:
        ``None`` for commands that change no rate, no time scale and no pause, for a clock or
        member that is not there, and for what would be refused.
    """
    try:
        effect = command.effect(timeline)
    except ValueError:
        return None
    match effect:
        case None:
            return None
        case ClockEffect():
            return _preview_branch(timeline, effect)
        case _:
            return preview_members(timeline, effect)


def _preview_branch(timeline: Timeline, effect: ClockEffect) -> Preview:
    """Return what would come to every timer of a clock's branch."""
    after = Timeline([""])
    after.clocks = {number: clock.copy() for number, clock in timeline.clocks.items()}
    after.root_id = timeline.root_id
    after.set_present(timeline.at_ns)
    if effect.event is not None:
        after.apply_all([effect.event])
    branch = timeline.branch(effect.clock_id)
    table = timeline.timers
    clocks = table.numpy("clock") if len(table) else np.zeros(0, np.int64)
    rows = np.flatnonzero(np.isin(clocks, np.array(branch, np.int64)))
    if not rows.size:
        empty = np.zeros(0, np.int64)
        return Preview(effect.text, empty, empty, empty)
    old_ns = _session_dues(timeline, timeline, rows)
    new_ns = _session_dues(timeline, after, rows)
    order = np.lexsort((table.numpy("order")[rows], new_ns, old_ns))
    ids = table.numpy("id")[rows][order]
    return Preview(effect.text, ids, old_ns[order], new_ns[order])


def _session_dues(
    timeline: Timeline, clocks: Timeline, rows: NDArray[np.intp]
) -> NDArray[np.int64]:
    """Return when timers fire by the clocks of a timeline; overdue ones fire now."""
    due_ns = timeline.timers.numpy("due")[rows]
    owners, owner_of_row = np.unique(timeline.timers.numpy("clock")[rows], return_inverse=True)
    found = np.full(len(rows), NEVER, np.int64)
    by_owner = np.argsort(owner_of_row, kind="stable")
    ends = np.flatnonzero(np.diff(owner_of_row[by_owner])) + 1
    for mine in np.split(by_owner, ends):
        path = clocks.path(int(owners[owner_of_row[mine[0]]]))
        if any(clock.n == 0 for clock in path):
            continue
        if all(clock.n == D for clock in path):
            found[mine] = due_ns[mine] - sum(clock.off // D for clock in path)
        else:
            found[mine] = session_instants(due_ns[mine], path)
    running = found != NEVER
    found[running] = np.maximum(found[running], timeline.at_ns)
    return found
