"""What is selected, the answer to why it is as it is, and its numbers."""
