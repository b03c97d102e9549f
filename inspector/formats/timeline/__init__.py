"""The timeline of a session as a picture: its lanes below its frame times, on one axis."""
