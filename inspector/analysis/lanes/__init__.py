"""What clocks and timers did, as lanes over time."""
