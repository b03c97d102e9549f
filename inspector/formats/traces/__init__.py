"""A session as a trace, which trace viewers open."""
