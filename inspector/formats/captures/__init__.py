"""Frame times and traces that other tools have captured."""
