"""What an action of the window is, the menus, and the list of panels."""
