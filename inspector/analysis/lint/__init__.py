"""What looks wrong in a session."""
