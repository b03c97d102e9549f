"""Numbers about frame times."""
