"""What looks wrong."""
