"""The refresh-rate lab."""
