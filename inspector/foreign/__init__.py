"""What people and files give: numbers, paths and files, each read in one place."""
