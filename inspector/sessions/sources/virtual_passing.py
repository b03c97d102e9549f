"""Lets virtual time pass for a hosted scene, in the two ways in which hosts see time pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.sessions.sources.virtual_source import VirtualTimeSource
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import Reading

if TYPE_CHECKING:
    from inspector.sessions.scene_host import SceneHost


def pass_virtual_time(host: SceneHost, at_ns: int, *, with_frame: bool) -> None:
    """Let virtual time pass; timers are called when they are due.

    Args:
        host: Whose time passes.
        at_ns: Session time to reach, if it has not passed.
        with_frame: Whether one frame runs then, instead of those of the grid.

    Raises:
        TypeError: The time source is a real one.
    """
    source = host.source
    if not isinstance(source, VirtualTimeSource | ManualTimeSource):
        message = f"only virtual time can be advanced, not {source!r}"
        raise TypeError(message)
    life = host.life
    if life.hosting is None:
        return
    # The frame counts from what was run, the source from where work has left it.
    period_ns = max(1, at_ns - life.session_ns)
    remaining_ns = max(0, period_ns - life.ahead_ns)
    life.set_period(period_ns if with_frame else period_ns + NS_PER_SECOND)
    if isinstance(source, VirtualTimeSource):
        source.pass_ns(remaining_ns)
    else:
        source.advance_ns(remaining_ns)
    # The scene may have been loaded anew meanwhile.
    life = host.life
    if not with_frame and life.session_ns + life.ahead_ns <= at_ns and life.hosting is not None:
        # Nothing that is due is left before this instant.
        life.note(Reading.SYNCED)
        life.hosting.tree.sync()


def block_virtual_time(host: SceneHost, duration_ns: int) -> None:
    """Let virtual time pass as in a host that looks at its clocks once a frame.

    One frame runs, at the end. What its callbacks work belongs to the time before
    the next one.

    Args:
        host: Whose time passes.
        duration_ns: From the frame before, if its callbacks did not work for longer.

    Raises:
        TypeError: The time source is not a :class:`VirtualTimeSource`.
    """
    source = host.source
    if not isinstance(source, VirtualTimeSource):
        message = f"only a virtual time source can be blocked, not {source!r}"
        raise TypeError(message)
    if host.life.hosting is None:
        return
    # A frame is due at once, so that whatever comes is at its end.
    host.life.set_period(1)
    source.jump_ns(max(1, duration_ns - host.life.ahead_ns))
    source.wake_if_due()
    # What a callback has asked for at this very instant is part of it, but no frame.
    host.life.set_period(duration_ns + NS_PER_SECOND)
    source.pass_ns(0)
