"""Breakpoints: what they wait for, and what happens when one is hit."""
