"""A loop that says by itself when a frame begins, by ``timeline_probe.frame()``."""

from __future__ import annotations

from threading import get_ident

from . import Adapter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional

    from ..clocks import Clock
    from ..program import Program
    from . import Capability


class LoopAdapter(Adapter):
    """Loops of the program, one for each thread that calls ``frame()``."""

    library = "loop"

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.state = "active"
        self._clocks: dict[int, Clock] = {}
        self._began_ns: dict[int, int] = {}

    def attached(self) -> None:
        self._began_ns.clear()

    def capabilities(self, clock: Clock) -> dict[str, Capability]:
        return {
            "rate": "A loop that calls frame() is held and stepped; its speed is its own.",
            "clear_timer": "A loop has no timers.",
        }

    def frame(self, delta_s: Optional[float]) -> None:
        """End the frame before, wait while the program is held, and begin the next."""
        program, thread = self.program, get_ident()
        clock = self._clocks.get(thread)
        if clock is None:
            clock = program.clock("loop", adapter=self)
            self._clocks[thread] = clock
        began_ns = self._began_ns.get(thread)
        if began_ns is not None:
            program.frame_ended(clock)
        program.wait_while_held(clock)
        now_ns = self._began_ns[thread] = clock.local_ns()
        if delta_s is not None:
            delta_ns = round(delta_s * 1e9)
        else:
            delta_ns = 0 if began_ns is None else now_ns - began_ns
        program.frame_began(clock, delta_ns)


def frame(program: Program, delta_s: Optional[float]) -> None:
    """Begin a frame of the calling thread's loop."""
    adapter = program.adapters.get("loop")
    if adapter is None:
        adapter = program.adapters["loop"] = LoopAdapter(program)
        program.mention_change()
    assert isinstance(adapter, LoopAdapter)
    adapter.frame(delta_s)
