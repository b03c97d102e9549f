"""The refresh-rate lab on scenes, in a process of its own."""
