"""What happens in each frame: the director, loops, schedulers and state machines."""

from inspector.frames.director import Director, FrameCallback
from inspector.frames.loop import FixedRateLoop, LoopRules, start_loop

__all__ = ["Director", "FixedRateLoop", "FrameCallback", "LoopRules", "start_loop"]
