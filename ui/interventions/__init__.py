"""What was changed in a session."""
