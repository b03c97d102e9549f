"""What is called, whatever schedules it: clock timers, updates, frame timers and loops."""
