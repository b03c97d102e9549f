"""The arguments of each command."""
