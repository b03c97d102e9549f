"""The kit of all tables."""
