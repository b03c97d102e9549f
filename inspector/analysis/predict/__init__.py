"""Predictions of when timers fire, now and after a change."""
