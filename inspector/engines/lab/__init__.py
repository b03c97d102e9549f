"""Timers and scenes at different display rates, side by side."""
