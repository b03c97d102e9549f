"""Changes to the shape of the clock tree: a branch hung elsewhere, or taken out for good.

A branch is a clock and all that is below it. What is done here concerns several clocks
at once; what a clock does by itself is in :mod:`inspector.clocks.clock`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.clocks.mistakes import checked_clock
from inspector.clocks.node import NOTHING_IS_EARLIER
from inspector.clocks.queue import TimerQueue
from inspector.clocks.rate import D, moved
from inspector.vocabulary import CLOCK_MOVED, CLOCK_REMOVED

if TYPE_CHECKING:
    from inspector.clocks.clock import Clock


def move_branch(branch: Clock, parent: Clock) -> None:
    """Hang a branch under another clock; local time and timers are kept.

    Raises:
        ValueError: The root, a clock of another tree, or one inside the branch.
        RuntimeError: Either clock was removed.
    """
    checked_clock("move_to(parent)", parent)
    branch._check_alive()
    parent._check_alive()
    old = branch._above
    if old is None or old._above is None:
        message = "the root clock cannot be moved"
        raise ValueError(message)
    if parent._tree is not branch._tree:
        message = f"{parent.name!r} belongs to another tree"
        raise ValueError(message)
    if parent is branch or branch in parent.ancestors():
        message = f"{branch.name!r} cannot hang under {parent.name!r}, which is inside it"
        raise ValueError(message)
    if parent is old:
        return
    tree = branch._tree
    tree.sync()
    if tree.record is not None:
        tree.record((tree.now_ns, CLOCK_MOVED, branch.id, parent.id, 0))
    branch._off = moved(branch._off, branch._n, old.time_ns, parent.time_ns)
    branch._shift_ns = branch._off // D if branch._n == D else None
    branch._disarm()
    old.children.remove(branch)
    branch._above = parent
    parent.children.append(branch)
    branch._floor_ns = parent.time_ns
    parent.raise_floors()
    tree.mapping_changed()
    branch._reorder()


def remove_branch(branch: Clock) -> None:
    """Take a branch out of its tree for good; its timers will not be called.

    Raises:
        ValueError: The root clock cannot be removed.
    """
    if branch.is_removed:
        return
    above = branch._above
    if above is None or above._above is None:
        message = "the root clock cannot be removed"
        raise ValueError(message)
    tree = branch._tree
    tree.sync()
    if tree.record is not None:
        tree.record((tree.now_ns, CLOCK_REMOVED, branch.id, 0, 0))
    branch._disarm()
    above.children.remove(branch)
    for clock in branch.walk():
        tree.members.clock_removed(clock.id)
        clock.is_removed = True
        clock._armed_ns = NOTHING_IS_EARLIER
        clock.queue = TimerQueue()
