"""Sessions attached to programs that run in other processes."""
