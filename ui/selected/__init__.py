"""What is done to a selection: its commands, menus about it, previews, and what undo takes back."""
