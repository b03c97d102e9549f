"""The effects of the actions of the window."""
