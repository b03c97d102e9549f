"""Explanations of timers that have not fired, or fired late."""
