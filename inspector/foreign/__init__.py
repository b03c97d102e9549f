"""Input from users and files: numbers, paths and files, each read in one place."""
