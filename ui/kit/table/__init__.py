"""What all tables and trees share."""
