"""What can be done in the window: actions, menus and the list of panels."""
