"""Running a scene again, and comparing what it does."""
