"""The refresh-rate lab on scenes, in a separate process."""
