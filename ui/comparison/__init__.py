"""Captures, recordings and sessions compared, side by side."""
