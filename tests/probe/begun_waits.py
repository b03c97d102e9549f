"""Virtual time of a program that the calling thread is alone in."""

from __future__ import annotations

from inspector.probe.clocks import Clock
from inspector.probe.program import Program
from inspector.probe.waits import Waits


def begun() -> tuple[Waits, Clock]:
    """Begin to let time jump, of a program with its clock alone."""
    skipped_ns = [10**15]
    program = Program("played", lambda: sum(skipped_ns))
    waits = Waits(program, skipped_ns.append)
    # It looks at nothing by itself.
    waits._watcher = -1
    program.clocks.pause(program.own_clock)
    waits.start()
    waits.is_jumping = True
    return waits, program.own_clock
