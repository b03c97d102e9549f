"""Sources of events that may accept commands: one face for the window and the CLI."""
