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
        program.frame_ended(clock)
        program.wait_while_held(clock)
        program.frame_began(clock, None if delta_s is None else round(delta_s * 1e9))


def frame(program: Program, delta_s: Optional[float]) -> None:
    """Begin a frame of the calling thread's loop."""
    adapter = program.adapters.get("loop")
    if adapter is None:
        adapter = program.adapters["loop"] = LoopAdapter(program)
        program.mention_change()
    assert isinstance(adapter, LoopAdapter)
    adapter.frame(delta_s)
