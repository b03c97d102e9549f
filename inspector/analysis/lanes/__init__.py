"""The past of clocks, timers and machines, as lanes over time."""
