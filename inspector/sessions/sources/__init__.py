"""The time that a hosted scene is given."""
