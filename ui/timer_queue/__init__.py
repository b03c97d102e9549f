"""The timer queue."""
