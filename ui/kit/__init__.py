"""Widgets, tables and texts that all features share."""
