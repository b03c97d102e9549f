"""The bars that run, hold and step, and that look back."""
