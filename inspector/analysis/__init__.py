"""Numbers and sentences from a timeline."""
