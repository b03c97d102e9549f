"""The transport: how time passes, and what changes it."""
