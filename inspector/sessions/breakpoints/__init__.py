"""The breakpoints of a session, and what happens when one is hit."""
