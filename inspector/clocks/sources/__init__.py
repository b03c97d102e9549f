"""Sources of real and virtual time."""
