"""Actions on a selection: its commands, menus, previews and undo."""
