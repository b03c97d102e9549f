"""Frame times as a picture."""
