"""Reusable widgets that know no session."""
