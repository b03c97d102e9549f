"""Lint: problems in a session, with evidence."""
