"""The panel *Why*: the selection, the reason for its state, and its numbers."""
