"""How clocks, timers and members are told in words."""
