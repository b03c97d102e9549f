"""Writing recordings while a session runs."""
