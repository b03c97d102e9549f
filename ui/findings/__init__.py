"""Findings: problems in the timers and frames of a session."""
