"""The history of changes to a session, each of which can be undone."""
