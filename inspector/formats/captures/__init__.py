"""Importing and exporting frame times."""
