"""Details of what is selected, and why it does what it does."""
