"""Frame times from files, and to files."""
