"""The timeline: lanes of clocks, timers and machines."""
