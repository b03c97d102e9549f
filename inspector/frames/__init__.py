"""What happens each frame: the director and the fixed-rate loop."""

from inspector.frames.director import Director, FrameCallback
from inspector.frames.loop import FixedRateLoop, LoopRules, start_loop

__all__ = ["Director", "FixedRateLoop", "FrameCallback", "LoopRules", "start_loop"]
