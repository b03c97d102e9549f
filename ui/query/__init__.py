"""SQL on the frames of what is open and of files."""
