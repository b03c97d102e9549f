"""The session that the window shows, and what all panels share of it."""
