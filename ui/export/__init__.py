"""Export of frame-time graphs."""
