"""Calls, whatever schedules them: clock timers, updates, frame timers and loops."""
