"""The clock tree."""
