"""Sources of events that may accept commands, with one interface for the window and the CLI."""
