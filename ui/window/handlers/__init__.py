"""What actions of the window do."""
