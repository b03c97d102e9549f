"""When timers fire, now and after a change."""
