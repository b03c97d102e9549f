"""The calls within a frame and their durations."""
