"""When a timer fires, and what a change would do to that."""
