"""Breakpoints."""
