"""Sentences about clocks, timers and members."""
