"""Timers and scenes under display rates, side by side."""
