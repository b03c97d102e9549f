"""The sources of time for hosted scenes."""
