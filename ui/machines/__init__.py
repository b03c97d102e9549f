"""State machines."""
