"""Sessions for other programs: what the window does, as requests of JSON-RPC 2.0."""
