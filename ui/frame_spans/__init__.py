"""What took how long within a frame."""
