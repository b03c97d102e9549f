"""Our own frame scheduler: updates by priority, timers per target."""
