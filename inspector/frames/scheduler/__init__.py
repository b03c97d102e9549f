"""Our own frame scheduler: updates by priority, timers for each target."""
